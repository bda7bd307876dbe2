package fits

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/completion"
	"github.com/conetune/conetune/lower/multipliers"
)

// FactoredCompletion is [MatrixCompletion] for large matrices: in the place of G its points have factors A and B with G = A B', both by rows, one after the
// other in one slice, of as many columns as the length says. It is a [lower.Bilevel].
type FactoredCompletion struct {
	of   *MatrixCompletion
	both *completion.Joint
}

// NewFactoredCompletion is [NewMatrixCompletion] with the coefficients divided into variables of the lengths parts.
func NewFactoredCompletion(train, val Entries, m, n int, groups [][]int, parts []int, intercept bool) (*FactoredCompletion, error) {
	of, err := NewMatrixCompletion(train, val, m, n, groups, intercept)
	if err != nil {
		return nil, err
	}
	data := func(e Entries) completion.Data {
		return completion.Data{M: m, N: n, Row: e.Row, Col: e.Col, Y: e.Y, X: e.X, Groups: groups}
	}
	joint, err := completion.NewJoint(data(train), data(val), parts, intercept)
	if err != nil {
		return nil, fmt.Errorf("fits: matrix completion: %w", err)
	}
	return &FactoredCompletion{of: of, both: joint}, nil
}

// Dim is the number of groups plus one.
func (c *FactoredCompletion) Dim() int { return c.of.Dim() }

// LambdaMax is the least common value at which b and G are zero.
func (c *FactoredCompletion) LambdaMax() float64 { return c.of.LambdaMax() }

// Path is that of [MatrixCompletion.Path].
func (c *FactoredCompletion) Path() [][]float64 { return c.of.Path() }

// Solve implements [lower.Penalised].
func (c *FactoredCompletion) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	pt, s, err := c.of.solve(ctx, lambda, tol, start)
	if err != nil {
		return nil, err
	}
	val := c.of.val
	r := make([]float64, len(val.Y))
	val.X.Mul(r, s.B)
	for k, y := range val.Y {
		r[k] += s.B0 - y
		if s.Left != nil {
			r[k] += floats.Dot(s.Left.RawRowView(val.Row[k]), s.Right.RawRowView(val.Col[k]))
		}
	}
	pt.X = c.both.Point(s)
	c.of.score(pt, s, r)
	return pt, nil
}

// Gradient implements [lower.Differentiable].
func (c *FactoredCompletion) Gradient(ctx context.Context, at *lower.Point, o lower.GradientOptions) ([]float64, error) {
	return c.of.Gradient(ctx, at, o)
}

// Shape implements [lower.Valued].
func (c *FactoredCompletion) Shape() []int { return c.both.Shape() }

// Values implements [lower.Valued].
func (c *FactoredCompletion) Values(x [][]float64) lower.Values { return c.both.Values(x) }

// Squared implements [lower.Compact].
func (c *FactoredCompletion) Squared(x, y [][]float64) float64 { return c.both.Squared(x, y) }

// Anchored implements [lower.Anchored].
func (c *FactoredCompletion) Anchored(rho float64, x [][]float64) float64 {
	return c.both.Anchored(rho, x)
}

// Joint implements [lower.Joint].
func (c *FactoredCompletion) Joint() lower.JointSolver { return c.both.Joint() }

// Within implements [lower.Bilevel].
func (c *FactoredCompletion) Within() lower.WithinSolver {
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
	fit   *FactoredCompletion
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
func (c *FactoredCompletion) Subproblem(parts []lower.Bilevel, workers int) lower.SubproblemSolver {
	return subproblem(parts, workers)
}

var (
	_ lower.Differentiable = (*FactoredCompletion)(nil)
	_ lower.Bilevel        = (*FactoredCompletion)(nil)
	_ lower.Joint          = (*FactoredCompletion)(nil)
	_ lower.Compact        = (*FactoredCompletion)(nil)
	_ lower.Anchored       = (*FactoredCompletion)(nil)
)
