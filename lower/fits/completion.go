package fits

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/completion"
)

// MatrixCompletion has a hyperparameter for the nuclear norm of an m x n matrix G, followed by one for each of M groups of
// features:
//
//	min over b, G, b0 of  1/(2N) |y - X b - G_known - b0|^2 + lambda_1 |G|_* + sum_g lambda_{g+1} |b^(g)|_2.
//
// The validation loss is half the mean squared error over other entries. Its points have the coefficients, G by
// rows and with an intercept b0. It has the adjoint mode only.
//
// Near almost all hyperparameters the rank of G stays as it is, and G = A B' moves on the matrices of that rank, where the
// nuclear norm is smooth (Feng and Simon differentiate the same through the singular vectors in use).
type MatrixCompletion struct {
	completion *completion.Problem
	val        Entries
	m, n       int
	groups     [][]int
	intercept  bool
}

// NewMatrixCompletion takes the known entries of an m x n matrix. Designs without features have no columns, and groups then is nil;
// else each feature is in one group.
func NewMatrixCompletion(train, val Entries, m, n int, groups [][]int, intercept bool) (*MatrixCompletion, error) {
	const name = "matrix completion"
	data := completion.Data{M: m, N: n, Row: train.Row, Col: train.Col, Y: train.Y, X: train.X, Groups: groups}
	c, err := completion.New(data, intercept)
	if err != nil {
		return nil, fmt.Errorf("fits: training entries of the %s: %w", name, err)
	}
	if err := check(name, train.Rows, val.Rows); err != nil {
		return nil, err
	}
	if len(val.Row) != len(val.Y) || len(val.Col) != len(val.Y) {
		return nil, fmt.Errorf("fits: %d row and %d column indices for %d validation entries of the %s", len(val.Row), len(val.Col), len(val.Y), name)
	}
	for k := range val.Row {
		if val.Row[k] < 0 || val.Row[k] >= m || val.Col[k] < 0 || val.Col[k] >= n {
			return nil, fmt.Errorf("fits: validation entry %d of the %s is (%d, %d), outside of a matrix of %d x %d", k, name, val.Row[k], val.Col[k], m, n)
		}
	}
	return &MatrixCompletion{completion: c, val: val, m: m, n: n, groups: groups, intercept: intercept}, nil
}

// Dim is the number of groups plus one.
func (m *MatrixCompletion) Dim() int { return len(m.groups) + 1 }

// LambdaMax is the least common value at which b and G are zero.
func (m *MatrixCompletion) LambdaMax() float64 { return m.completion.LambdaMax() }

// Path goes down with a common value, in steps twice as long as elsewhere and as far as the matrix is not yet of
// full rank in general: a lower level costs more here.
func (m *MatrixCompletion) Path() [][]float64 {
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
	weights  completion.Weights
	residual []float64 // predictions less values over the validation entries
}

// Solve implements [lower.Differentiable].
func (m *MatrixCompletion) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	pt, s, err := m.solve(ctx, lambda, tol, start)
	if err != nil {
		return nil, err
	}
	var r []float64
	pt.X, r = m.values(s)
	m.score(pt, s, r)
	return pt, nil
}

// solve returns the solution, and a point with its weights.
func (m *MatrixCompletion) solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, *completion.Solution, error) {
	if len(lambda) != m.Dim() {
		return nil, nil, fmt.Errorf("fits: %d hyperparameters, expected %d", len(lambda), m.Dim())
	}
	pt := &lower.Point{Lambda: append([]float64(nil), lambda...)}
	o := completion.Options{Tol: tol}
	if start != nil {
		o.Start = start.State.(*completionState).Solution
	}
	s, err := m.completion.Solve(ctx, weightsOf(pt), o)
	return pt, s, err
}

// weightsOf are the weights of a point.
func weightsOf(pt *lower.Point) completion.Weights {
	return completion.Weights{Nuclear: pt.Lambda[0], Norm: pt.Lambda[1:]}
}

// score fills in the point of a solution with the residual r of the validation entries.
func (m *MatrixCompletion) score(pt *lower.Point, s *completion.Solution, r []float64) {
	pt.Validation = floats.Dot(r, r) / (2 * float64(len(r)))
	pt.Gap, pt.Solved = m.completion.Relative(s.Gap), s.Status == lower.Optimal || s.Status == lower.Exhausted
	pt.State = &completionState{s, weightsOf(pt), r}
}

// values are the coefficients, G by rows and with an intercept b0, and the residual of the validation entries.
func (m *MatrixCompletion) values(s *completion.Solution) (x [][]float64, r []float64) {
	gamma := mat.NewDense(m.m, m.n, nil)
	if s.Left != nil {
		gamma.Mul(s.Left, s.Right.T())
	}
	r = make([]float64, len(m.val.Y))
	m.val.X.Mul(r, s.B)
	for k, y := range m.val.Y {
		r[k] += s.B0 + gamma.At(m.val.Row[k], m.val.Col[k]) - y
	}
	x = [][]float64{s.B, gamma.RawMatrix().Data}
	if m.intercept {
		x = append(x, []float64{s.B0})
	}
	return x, r
}

// within solves the constrained form at the radii of |G|_* and of each group, for completions that are small.
func (m *MatrixCompletion) within(ctx context.Context, radii []float64, o completion.Options) (*lower.Within, *completion.Solution, error) {
	if len(radii) != m.Dim() {
		return nil, nil, fmt.Errorf("fits: %d radii, expected %d", len(radii), m.Dim())
	}
	s, w, err := m.completion.Within(ctx, completion.Bounds{Nuclear: radii[0], Norm: radii[1:]}, o)
	if err != nil {
		return nil, nil, err
	}
	x, _ := m.values(s)
	return &lower.Within{
		X: x, Lambda: append([]float64{w.Nuclear}, w.Norm...), Loss: s.Objective, Gap: m.completion.Relative(s.Gap), Solved: s.Status == lower.Optimal,
	}, s, nil
}

// Gradient implements [lower.Differentiable].
func (m *MatrixCompletion) Gradient(_ context.Context, at *lower.Point, o lower.GradientOptions) ([]float64, error) {
	if o.Mode == lower.Forward {
		return nil, fmt.Errorf("fits: matrix completion has no forward mode, only %s", lower.Adjoint)
	}
	s := at.State.(*completionState)
	v := append([]float64(nil), s.residual...)
	floats.Scale(1/float64(len(v)), v)
	nuclear, groups, err := m.completion.Derivative(s.weights, s.Solution, v, m.val.X, m.val.Row, m.val.Col, o.Accuracy())
	if err != nil {
		return nil, err
	}
	return append([]float64{nuclear}, groups...), nil
}
