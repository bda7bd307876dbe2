package fits

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/completion"
	"github.com/conetune/conetune/lower/multipliers"
)

// factoredCompletion is the fit of large matrices, whose points have factors in the place of G.
type factoredCompletion struct {
	completionFit
	both *completion.Joint
}

// Traits implements [lower.Fit].
func (c *factoredCompletion) Traits() lower.Traits {
	return lower.Traits{Path: c.Path, Gradient: c.Gradient, Parts: []lower.Bilevel{c}, Squared: c.both.Squared, Anchored: c.both.Anchored}
}

// Shape implements [lower.Bilevel].
func (c *factoredCompletion) Shape() []int { return c.both.Shape() }

// Values implements [lower.Bilevel].
func (c *factoredCompletion) Values(x [][]float64) lower.Values { return c.both.Values(x) }

// Joint implements [lower.Joint].
func (c *factoredCompletion) Joint() lower.JointSolver { return c.both.Joint() }

// Within implements [lower.Bilevel].
func (c *factoredCompletion) Within() lower.WithinSolver {
	s := multipliers.NewLower(c)
	s.First(withinFirst * c.LambdaMax())
	return &factoredWithin{Lower: s, fit: c}
}

const (
	// withinFirst is the share of LambdaMax that the multipliers of a lower level start with: large enough for few columns.
	withinFirst = 0.5
	// withinStep is the ratio of weights on the way to a radius, of withinPoints at most, and withinGap the relative gap there.
	withinStep, withinPoints, withinGap = 0.6, 24, 1e-2
)

// factoredWithin goes down a path of weights to the first radius: from larger weights the rank only grows, and so costs no more than it has to.
type factoredWithin struct {
	*multipliers.Lower
	fit   *factoredCompletion
	begun bool
}

// Begin implements [lower.WithinSolver].
func (s *factoredWithin) Begin(ctx context.Context, lambda []float64, x [][]float64) error {
	s.begun = true
	return s.Lower.Begin(ctx, lambda, x)
}

// Solve implements [lower.WithinSolver].
func (s *factoredWithin) Solve(ctx context.Context, radii []float64, tol float64) (*lower.Within, error) {
	if !s.begun {
		if err := s.approach(ctx, radii[0]); err != nil {
			return nil, err
		}
	}
	s.begun = true
	return s.Lower.Solve(ctx, radii, tol)
}

// approach begins at the weights, all of the same share of those that make everything zero, at which the nuclear norm is about its radius, between the first
// point of the path with a larger norm and the one before.
func (s *factoredWithin) approach(ctx context.Context, radius float64) error {
	top := slices.Repeat([]float64{0}, s.fit.Dim())
	var groups float64
	top[0], groups = s.fit.both.Largest()
	for i := range top[1:] {
		top[1+i] = groups
	}
	at := func(share float64) []float64 {
		weights := slices.Clone(top)
		floats.Scale(share, weights)
		return weights
	}
	if !(floats.Min(top) > 0) {
		return nil // without a start
	}
	share := 1.0
	var last *lower.Point
	before := 0.0 // the norm
	for range withinPoints {
		next, err := s.fit.Solve(ctx, at(withinStep*share), withinGap, last)
		if err != nil || !next.Solved {
			return err
		}
		norm := s.fit.Values(next.X).Penalties[0]
		if norm >= radius {
			return s.Begin(ctx, at(share*math.Pow(withinStep, (radius-before)/(norm-before))), next.X)
		}
		share, last, before = withinStep*share, next, norm
	}
	if before > 0 {
		return s.Begin(ctx, at(share), last.X)
	}
	return nil
}

// Subproblem implements [lower.Bilevel].
func (c *factoredCompletion) Subproblem(parts []lower.Bilevel, workers int) lower.Subproblem {
	return joint(parts, workers)
}

var _ lower.Joint = (*factoredCompletion)(nil)
