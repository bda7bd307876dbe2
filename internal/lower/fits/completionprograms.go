package fits

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/completion"
	"github.com/conetune/conetune/internal/lower/multipliers"
	"github.com/conetune/conetune/internal/lower/separable"
	"github.com/conetune/conetune/lower"
)

// Shape implements [lower.Bilevel].
func (m *completionFit) Shape() []int {
	if m.small != nil {
		return m.small.Shape()
	}
	return m.both.Shape()
}

// Values implements [lower.Bilevel].
func (m *completionFit) Values(x [][]float64) lower.Values {
	if m.small == nil {
		return m.both.Values(x)
	}
	v := m.small.Values(x)
	v.Penalties = lastToFirst(v.Penalties)
	return v
}

// The nuclear norm is the first penalty here, and the last one of package separable; the groups are in order.
func firstToLast(v []float64) []float64 { return append(slices.Clone(v[1:]), v[0]) }

func lastToFirst(v []float64) []float64 {
	last := len(v) - 1
	return append([]float64{v[last]}, v[:last]...)
}

// Joint implements [lower.Joint].
func (m *completionFit) Joint() lower.JointSolver { return m.both.Joint() }

// Subproblem implements [lower.Bilevel].
func (m *completionFit) Subproblem(parts []lower.Bilevel, workers int) lower.Subproblem {
	if m.small == nil {
		return joint(parts, workers)
	}
	solver := separable.NewSubproblem(each(parts, func(p *completionFit) *separable.Regression { return p.small }), workers)
	return func(ctx context.Context, c *lower.Centre) (*lower.Subsolution, error) {
		other := *c
		other.R, other.Gamma, other.Low, other.High = firstToLast(c.R), firstToLast(c.Gamma), firstToLast(c.Low), firstToLast(c.High)
		out, err := solver.Solve(ctx, &other)
		if err != nil || out.X == nil {
			return out, err
		}
		out.R = lastToFirst(out.R)
		for t := range out.M {
			out.M[t] = lastToFirst(out.M[t])
		}
		return out, nil
	}
}

// Within implements [lower.Bilevel].
func (m *completionFit) Within() lower.WithinSolver {
	if m.small != nil {
		return interiorWithin{m}
	}
	s := multipliers.NewLower(m)
	s.First(withinFirst * m.LambdaMax())
	return &factoredWithin{Lower: s, fit: m}
}

// interiorWithin solves each lower level afresh.
type interiorWithin struct{ *completionFit }

// Begin implements [lower.WithinSolver].
func (interiorWithin) Begin(context.Context, []float64, [][]float64) error { return nil }

// Solve implements [lower.WithinSolver].
func (s interiorWithin) Solve(ctx context.Context, radii []float64, tol float64) (*lower.Within, error) {
	if len(radii) != s.Dim() {
		return nil, fmt.Errorf("fits: %d radii, expected %d", len(radii), s.Dim())
	}
	bounds := completion.Bounds{Nuclear: radii[0], Norm: radii[1:]}
	at, w, err := s.completion.Within(ctx, bounds, completion.Options{Tol: s.completion.Relative(tol)})
	if err != nil {
		return nil, err
	}
	return &lower.Within{
		X: s.point(at), Lambda: append([]float64{w.Nuclear}, w.Norm...), Loss: at.Objective, Gap: at.Gap, Solved: at.Status == lower.Optimal,
	}, nil
}

const (
	// withinFirst is the share of LambdaMax that the multipliers of a lower level start with: large enough for few
	// columns.
	withinFirst = 0.5
	// withinStep is the ratio of weights on the way to a radius, of withinPoints at most, and withinGap the relative gap
	// there.
	withinStep, withinPoints, withinGap = 0.6, 24, 1e-2
)

// factoredWithin goes down a path of weights to the first radius: from larger weights the rank only grows, and so costs
// no more than it has to.
type factoredWithin struct {
	*multipliers.Lower
	fit   *completionFit
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

// approach begins at the weights, all of the same share of those that make everything zero, at which the nuclear norm
// is about its radius, between the first point of the path with a larger norm and the one before.
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
