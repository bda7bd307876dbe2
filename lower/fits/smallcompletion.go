package fits

import (
	"context"
	"fmt"
	"slices"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/completion"
	"github.com/conetune/conetune/lower/separable"
)

// SmallCompletion is a [MatrixCompletion] of a small matrix, which also solves both programs of an iteration of VF-iDCA: the lower level by an interior-point
// method, the subproblem by Newton's method on its dual function.
type SmallCompletion struct {
	*MatrixCompletion
	both  *separable.Regression
	parts []int
}

const (
	// smallEntries bounds the training and validation entries of a [SmallCompletion], and smallOrder its dimensions: a step factors a matrix of the order of
	// the one, and decomposes one of the size of the other.
	smallEntries, smallOrder = 4000, 120
)

// FewEntries says whether so many training and validation entries of an m x n matrix are few enough for a [SmallCompletion].
func FewEntries(train, val, m, n int) bool {
	return train+val <= smallEntries && max(m, n) <= smallOrder && completion.Small(train, m, n)
}

// NewSmallCompletion is [NewMatrixCompletion] with the coefficients divided into variables of the lengths parts.
func NewSmallCompletion(train, val Entries, m, n int, groups [][]int, parts []int, intercept bool) (*SmallCompletion, error) {
	of, err := NewMatrixCompletion(train, val, m, n, groups, intercept)
	if err != nil {
		return nil, err
	}
	sum := 0
	for _, p := range parts {
		sum += p
	}
	if p := train.X.Columns(); sum != p {
		return nil, fmt.Errorf("fits: variables of %d coefficients for %d features", sum, p)
	}
	places := func(e Entries) (at []int) {
		for k, i := range e.Row {
			at = append(at, i*n+e.Col[k])
		}
		return at
	}
	both, err := separable.NewCompletion(separable.Rows{X: train.X, Y: train.Y}, separable.Rows{X: val.X, Y: val.Y}, places(train), places(val), m, n, groups, intercept)
	if err != nil {
		return nil, fmt.Errorf("fits: matrix completion: %w", err)
	}
	return &SmallCompletion{of, both, parts}, nil
}

// divide puts the coefficients, which come first, into their variables; join is the way back.
func (c *SmallCompletion) divide(x [][]float64) [][]float64 {
	var out [][]float64
	b := x[0]
	for _, n := range c.parts {
		out = append(out, b[:n:n])
		b = b[n:]
	}
	return append(out, x[1:]...)
}

func (c *SmallCompletion) join(x [][]float64) [][]float64 {
	k := len(c.parts)
	return append([][]float64{slices.Concat(x[:k]...)}, x[k:]...)
}

// The nuclear norm is the first penalty here, and the last one of both; the groups are in order.
func toLast(v []float64) []float64 { return append(slices.Clone(v[1:]), v[0]) }

func toFirst(v []float64) []float64 {
	last := len(v) - 1
	return append([]float64{v[last]}, v[:last]...)
}

// Shape implements [lower.Valued].
func (c *SmallCompletion) Shape() []int {
	return append(slices.Clone(c.parts), c.both.Shape()[1:]...)
}

// Values implements [lower.Valued].
func (c *SmallCompletion) Values(x [][]float64) lower.Values {
	v := c.both.Values(c.join(x))
	v.Penalties = toFirst(v.Penalties)
	return v
}

// Solve implements [lower.Penalised].
func (c *SmallCompletion) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	pt, err := c.MatrixCompletion.Solve(ctx, lambda, tol, start)
	if err != nil {
		return nil, err
	}
	pt.X = c.divide(pt.X)
	return pt, nil
}

// Within implements [lower.Bilevel].
func (c *SmallCompletion) Within() lower.WithinSolver { return &smallWithin{of: c} }

// smallWithin starts each solve where the one before came by.
type smallWithin struct {
	of   *SmallCompletion
	last *completion.Solution
}

// Begin implements [lower.WithinSolver]; the method has no use for a start in penalty form.
func (s *smallWithin) Begin(context.Context, []float64, [][]float64) error { return nil }

// Solve implements [lower.WithinSolver].
func (s *smallWithin) Solve(ctx context.Context, radii []float64, tol float64) (*lower.Within, error) {
	w, last, err := s.of.within(ctx, radii, completion.Options{Tol: s.of.completion.Relative(tol), Start: s.last})
	if err != nil {
		return nil, err
	}
	s.last = last
	w.X, w.Gap = s.of.divide(w.X), w.Gap*tol/s.of.completion.Relative(tol)
	return w, nil
}

// Subproblem implements [lower.Bilevel].
func (c *SmallCompletion) Subproblem(parts []lower.Bilevel, workers int) lower.SubproblemSolver {
	data := make([]*separable.Regression, len(parts))
	for t, p := range parts {
		data[t] = p.(*SmallCompletion).both
	}
	return &smallSubproblem{c, separable.NewSubproblem(data, workers)}
}

type smallSubproblem struct {
	of     *SmallCompletion
	solver *separable.Subproblem
}

// Solve implements [lower.SubproblemSolver].
func (s *smallSubproblem) Solve(ctx context.Context, c *lower.Centre) (*lower.Subsolution, error) {
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

var (
	_ lower.Differentiable = (*SmallCompletion)(nil)
	_ lower.Bilevel        = (*SmallCompletion)(nil)
)
