package fits

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/completion"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/lower/separable"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
)

// completionFit solves the penalised form by package completion, and the programs of an iteration of VF-iDCA by that
// or, of small matrices, the subproblem by package separable.
type completionFit struct {
	completion *completion.Problem
	both       *completion.Joint
	small      *separable.Regression // nil if large
	val        Entries
	groups     [][]int
}

// NewCompletion returns the fit of matrix completion, with a hyperparameter for the nuclear norm of an m x n matrix G,
// followed by one for each of M groups of features:
//
//	min over b, G, b0 of  1/(2N) |y - X b - G_known - b0|^2 + lambda_1 |G|_* + sum_g lambda_{g+1} |b^(g)|_2.
//
// The validation loss is half the mean squared error over other entries. Designs without features have no columns, and
// groups then is nil; else each feature is in one group. Points have the coefficients, then G and with an intercept b0.
// With [completion.Small] G is there by rows; else the points are compact, see [lower.Traits], and have factors A and B
// with G = A B' in its place, both by rows, one after the other in one slice, of as many columns as the length says.
// The gradient has the adjoint mode only.
//
// Near almost all hyperparameters the rank of G stays as it is, and G = A B' moves on the matrices of that rank, where
// the nuclear norm is smooth (Feng and Simon differentiate the same through the singular vectors in use).
func NewCompletion(train, val Entries, m, n int, groups [][]int, intercept bool) (bilevel.Joint, error) {
	const name = "matrix completion"
	data := func(e Entries) completion.Data {
		return completion.Data{M: m, N: n, Row: e.Row, Col: e.Col, Y: e.Y, X: e.X, Groups: groups}
	}
	c, err := completion.New(data(train), intercept)
	if err != nil {
		return nil, fmt.Errorf("fits: training entries of the %s: %w", name, err)
	}
	if err := check(name, train.Rows, val.Rows); err != nil {
		return nil, err
	}
	f := &completionFit{completion: c, val: val, groups: groups}
	if f.both, err = c.Joint(data(val)); err != nil {
		return nil, fmt.Errorf("fits: validation entries of the %s: %w", name, err)
	}
	if !completion.Small(len(train.Y), len(val.Y), m, n) {
		return f, nil
	}
	places := func(e Entries) (at []int) {
		for k, i := range e.Row {
			at = append(at, i*n+e.Col[k])
		}
		return at
	}
	f.small = separable.NewCompletion(train.Rows, val.Rows, places(train), places(val), m, n, groups, intercept)
	return f, nil
}

// Traits implements [lower.Fit].
func (m *completionFit) Traits() lower.Traits {
	t := lower.Traits{Path: m.path, Gradient: m.gradient, Parts: []lower.Fit{m}}
	if m.small == nil {
		t.Squared = m.both.Squared
	}
	return t
}

// Dim is the number of groups plus one.
func (m *completionFit) Dim() int { return len(m.groups) + 1 }

// LambdaMax is the least common value at which b and G are zero.
func (m *completionFit) LambdaMax() float64 { return m.completion.LambdaMax() }

// path goes down with a common value, in steps twice as long as elsewhere and as far as the matrix is not yet of
// full rank in general: a lower level costs more here.
func (m *completionFit) path() [][]float64 {
	common := commonPath(m.Dim(), m.LambdaMax())
	var path [][]float64
	for i := 1; i < len(common)*4/5; i += 2 {
		path = append(path, common[i])
	}
	return path
}

// completionState is the solution behind a point.
type completionState struct {
	*completion.Solution
	residual []float64 // predictions less values over the validation entries
}

// Solve implements [lower.Fit].
func (m *completionFit) Solve(
	ctx context.Context, lambda []float64, tol float64, start *lower.Point,
) (*lower.Point, error) {
	if len(lambda) != m.Dim() {
		return nil, fmt.Errorf("fits: %d hyperparameters, expected %d", len(lambda), m.Dim())
	}
	pt := &lower.Point{Lambda: slices.Clone(lambda)}
	var from *completion.Solution
	if start != nil {
		from = start.State.(*completionState).Solution
	}
	s, err := m.completion.Solve(ctx, pt.Lambda, tol, from)
	if err != nil {
		return nil, err
	}
	r := make([]float64, len(m.val.Y))
	m.val.X.Mul(r, s.B)
	for k, y := range m.val.Y {
		r[k] += s.B0 - y
		if s.Left != nil {
			r[k] += floats.Dot(s.Left.RawRowView(m.val.Row[k]), s.Right.RawRowView(m.val.Col[k]))
		}
	}
	pt.Validation = floats.Dot(r, r) / (2 * float64(len(r)))
	pt.Gap, pt.Solved = m.completion.Relative(s.Gap), s.Status == outcome.Converged || s.Status == numerics.Exhausted
	pt.X, pt.State = m.point(s), &completionState{s, r}
	return pt, nil
}

// gradient is that of [lower.Traits].
func (m *completionFit) gradient(_ context.Context, at *lower.Point, mode lower.Mode, tol float64) ([]float64, error) {
	if mode == lower.Forward {
		return nil, fmt.Errorf("fits: matrix completion has no forward mode, only %s", lower.Adjoint)
	}
	s := at.State.(*completionState)
	v := slices.Clone(s.residual)
	floats.Scale(1/float64(len(v)), v)
	return m.completion.Derivative(at.Lambda, s.Solution, v, m.val.X, m.val.Row, m.val.Col, tol), nil
}

// point has the values of a solution.
func (m *completionFit) point(s *completion.Solution) [][]float64 {
	x := m.both.Point(s)
	if m.small != nil {
		x[1] = m.completion.Dense(s)
	}
	return x
}
