package fits

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/completion"
	"github.com/conetune/conetune/lower/separable"
)

// smallCompletion is the fit of small matrices, which solves the lower level by an interior-point method, the subproblem by Newton's method on its dual
// function.
type smallCompletion struct {
	completionFit
	both  *separable.Regression
	parts []int
}

func newSmallCompletion(of completionFit, train Entries, parts []int) (*smallCompletion, error) {
	val, m, n := of.val, of.m, of.n
	places := func(e Entries) (at []int) {
		for k, i := range e.Row {
			at = append(at, i*n+e.Col[k])
		}
		return at
	}
	both, err := separable.NewCompletion(separable.Rows{X: train.X, Y: train.Y}, separable.Rows{X: val.X, Y: val.Y}, places(train), places(val), m, n, of.groups, of.intercept)
	if err != nil {
		return nil, fmt.Errorf("fits: matrix completion: %w", err)
	}
	return &smallCompletion{of, both, parts}, nil
}

// Traits implements [lower.Fit].
func (c *smallCompletion) Traits() lower.Traits {
	return lower.Traits{Path: c.Path, Gradient: c.Gradient, Parts: []lower.Bilevel{c}}
}

// divide puts the coefficients, which come first, into their variables; join is the way back.
func (c *smallCompletion) divide(x [][]float64) [][]float64 {
	var out [][]float64
	b := x[0]
	for _, n := range c.parts {
		out = append(out, b[:n:n])
		b = b[n:]
	}
	return append(out, x[1:]...)
}

func (c *smallCompletion) join(x [][]float64) [][]float64 {
	k := len(c.parts)
	return append([][]float64{slices.Concat(x[:k]...)}, x[k:]...)
}

// The nuclear norm is the first penalty here, and the last one of both; the groups are in order.
func toLast(v []float64) []float64 { return append(slices.Clone(v[1:]), v[0]) }

func toFirst(v []float64) []float64 {
	last := len(v) - 1
	return append([]float64{v[last]}, v[:last]...)
}

// Shape implements [lower.Bilevel].
func (c *smallCompletion) Shape() []int {
	return append(slices.Clone(c.parts), c.both.Shape()[1:]...)
}

// Values implements [lower.Bilevel].
func (c *smallCompletion) Values(x [][]float64) lower.Values {
	v := c.both.Values(c.join(x))
	v.Penalties = toFirst(v.Penalties)
	return v
}

// Solve implements [lower.Fit].
func (c *smallCompletion) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	pt, s, err := c.solve(ctx, lambda, tol, start)
	if err != nil {
		return nil, err
	}
	pt.X = c.values(s)
	return pt, nil
}

// values are the values of the variables.
func (c *smallCompletion) values(s *completion.Solution) [][]float64 {
	gamma := mat.NewDense(c.m, c.n, nil)
	if s.Left != nil {
		gamma.Mul(s.Left, s.Right.T())
	}
	x := [][]float64{s.B, gamma.RawMatrix().Data}
	if c.intercept {
		x = append(x, []float64{s.B0})
	}
	return c.divide(x)
}

// Within implements [lower.Bilevel].
func (c *smallCompletion) Within() lower.WithinSolver { return smallWithin{c} }

type smallWithin struct{ *smallCompletion }

// Begin implements [lower.WithinSolver]; the method has no use for a start in penalty form.
func (s smallWithin) Begin(context.Context, []float64, [][]float64) error { return nil }

// Solve implements [lower.WithinSolver].
func (s smallWithin) Solve(ctx context.Context, radii []float64, tol float64) (*lower.Within, error) {
	c := s.smallCompletion
	if len(radii) != c.Dim() {
		return nil, fmt.Errorf("fits: %d radii, expected %d", len(radii), c.Dim())
	}
	bounds := completion.Bounds{Nuclear: radii[0], Norm: radii[1:]}
	at, w, err := c.completion.Within(ctx, bounds, completion.Options{Tol: c.completion.Relative(tol)})
	if err != nil {
		return nil, err
	}
	return &lower.Within{
		X: c.values(at), Lambda: append([]float64{w.Nuclear}, w.Norm...), Loss: at.Objective, Gap: at.Gap, Solved: at.Status == lower.Optimal,
	}, nil
}

// Subproblem implements [lower.Bilevel].
func (c *smallCompletion) Subproblem(parts []lower.Bilevel, workers int) lower.Subproblem {
	data := make([]*separable.Regression, len(parts))
	for t, p := range parts {
		data[t] = p.(*smallCompletion).both
	}
	return (&smallSubproblem{c, separable.NewSubproblem(data, workers)}).solve
}

type smallSubproblem struct {
	of     *smallCompletion
	solver *separable.Subproblem
}

// solve is a [lower.Subproblem].
func (s *smallSubproblem) solve(ctx context.Context, c *lower.Centre) (*lower.Subsolution, error) {
	other := *c
	other.X = make([][][]float64, len(c.X))
	for t, x := range c.X {
		other.X[t] = s.of.join(x)
	}
	other.R, other.Gamma, other.Low, other.High = toLast(c.R), toLast(c.Gamma), toLast(c.Low), toLast(c.High)
	out, err := s.solver.Solve(ctx, &other)
	if err != nil || out.X == nil {
		return out, err
	}
	out.R = toFirst(out.R)
	for t := range out.X {
		out.X[t], out.M[t] = s.of.divide(out.X[t]), toFirst(out.M[t])
	}
	return out, nil
}

var _ lower.Bilevel = (*smallCompletion)(nil)
