package fits

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/sparse"
)

// smooth is a sparse regression with a smooth loss l and two hyperparameters,
//
//	min over b, b0 of  1/n sum_i l(y_i, f_i) + lambda_1 |b|_1 + lambda_2 / 2 |b|^2,   f = X b + b0,
//
// with the means by the weights of the rows and f plus their offsets where there are any, and the penalties weighted by factors and the coefficients within bounds where there are [sparse.Terms].
// The validation loss is the mean of l. Its points have the coefficients, and with an intercept b0.
type smooth struct {
	joint
	train     smoothTraining
	val       Rows
	intercept bool
	trainX    *design.Matrix
	bend      float64 // a size of the second derivative of the loss of a row
}

// newSmooth puts the two sets of rows together.
func newSmooth(g smoothTraining, train, val Rows, intercept bool) (smooth, error) {
	j, err := g.Joint(sparse.Sample(val))
	if err != nil {
		return smooth{}, fmt.Errorf("fits: %w", err)
	}
	return smooth{joint{j}, g, val, intercept, train.X, 1}, nil
}

// smoothTraining is a regression of package sparse with a smooth loss.
type smoothTraining interface {
	Solve(ctx context.Context, w sparse.Weights, o sparse.Options) (*sparse.Solution, error)
	Local(s *sparse.Solution) (*sparse.Regression, error)
	LambdaMax() float64
	Relative(gap float64) float64
	Joint(val sparse.Sample) (*sparse.Joint, error)
	Free(s *sparse.Solution) []int
	Factor(j int) float64
}

// Logistic is a sparse logistic regression with targets -1 and 1, l(y, f) = log(1 + exp(-y f)), and the hyperparameters of an elastic net.
type Logistic struct{ smooth }

// NewLogistic takes targets of -1 and 1.
func NewLogistic(train, val Rows, intercept bool) (*Logistic, error) {
	return LogisticTerms(train, val, intercept, sparse.Terms{})
}

// LogisticTerms is [NewLogistic] with terms.
func LogisticTerms(train, val Rows, intercept bool, t sparse.Terms) (*Logistic, error) {
	g, err := sparse.LogisticOf(sparse.Sample(train), intercept)
	if err == nil && !t.Plain() {
		g, err = g.With(t)
	}
	if err != nil {
		return nil, fmt.Errorf("fits: training rows of the logistic regression: %w", err)
	}
	if err := cmp.Or(check("logistic regression", train, val), checkLabels("logistic regression", val)); err != nil {
		return nil, err
	}
	m, err := newSmooth(g, train, val, intercept)
	if err != nil {
		return nil, err
	}
	return &Logistic{m}, nil
}

// Poisson is a sparse Poisson regression, l(y, f) half the deviance of the target y >= 0 from exp(f), with the hyperparameters of an
// elastic net.
type Poisson struct{ smooth }

// NewPoisson takes targets that are not negative.
func NewPoisson(train, val Rows, intercept bool) (*Poisson, error) {
	return PoissonTerms(train, val, intercept, sparse.Terms{})
}

// PoissonTerms is [NewPoisson] with terms.
func PoissonTerms(train, val Rows, intercept bool, t sparse.Terms) (*Poisson, error) {
	g, err := sparse.PoissonOf(sparse.Sample(train), intercept)
	if err == nil && !t.Plain() {
		g, err = g.With(t)
	}
	if err != nil {
		return nil, fmt.Errorf("fits: training rows of the Poisson regression: %w", err)
	}
	if err := check("Poisson regression", train, val); err != nil {
		return nil, err
	}
	for i, y := range val.Y {
		if !(y >= 0) {
			return nil, fmt.Errorf("fits: target of validation row %d of the Poisson regression is %g, expected a number that is not negative", i, y)
		}
	}
	m, err := newSmooth(g, train, val, intercept)
	if err != nil {
		return nil, err
	}
	m.bend += floats.Sum(train.Y) / float64(len(train.Y)) // exp(f) at the mean
	return &Poisson{m}, nil
}

// Squares is an elastic net whose features have terms, l(y, f) = (y - f)^2 / 2.
type Squares struct{ smooth }

// NewSquares takes terms, which may be none.
func NewSquares(train, val Rows, intercept bool, t sparse.Terms) (*Squares, error) {
	g, err := sparse.SquaresOf(sparse.Sample(train), intercept, t)
	if err != nil {
		return nil, fmt.Errorf("fits: training rows of the elastic net: %w", err)
	}
	if err := check("elastic net", train, val); err != nil {
		return nil, err
	}
	m, err := newSmooth(g, train, val, intercept)
	if err != nil {
		return nil, err
	}
	return &Squares{m}, nil
}

// Dim is 2.
func (m *smooth) Dim() int { return 2 }

// LambdaMax is the least lambda_1 at which all coefficients are zero.
func (m *smooth) LambdaMax() float64 { return m.train.LambdaMax() }

// Bounds implements [lower.Bounded].
func (m *smooth) Bounds() (low, high []float64) {
	return ridgeBounds(m.LambdaMax(), m.bend*curvature(m.trainX), 2, []int{1})
}

// Path is that of the elastic net.
func (m *smooth) Path() [][]float64 { return elasticPath(m.LambdaMax()) }

// smoothState is the solution behind a point.
type smoothState struct {
	*sparse.Solution
	w2       float64
	free     []int     // coefficients that move with the weights
	factor   []float64 // of these
	gradient []float64 // of L in these, and in the intercept
}

// Solve implements [lower.Differentiable].
func (m *smooth) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	if len(lambda) != 2 {
		return nil, fmt.Errorf("fits: %d hyperparameters, expected 2", len(lambda))
	}
	o := sparse.Options{Tol: tol}
	if start != nil {
		o.Start = start.State.(*smoothState).Solution
	}
	s, err := m.train.Solve(ctx, sparse.Weights{L1: lambda[:1], L2: lambda[1:]}, o)
	if err != nil {
		return nil, err
	}
	x := [][]float64{s.B}
	if m.intercept {
		x = append(x, []float64{s.B0})
	}
	value, u := m.both.Validation(x)
	all := make([]float64, len(s.B))
	m.val.X.MulTrans(all, u)
	state := &smoothState{Solution: s, w2: lambda[1], free: m.train.Free(s)}
	for _, j := range state.free {
		state.gradient, state.factor = append(state.gradient, all[j]), append(state.factor, m.train.Factor(j))
	}
	pt := &lower.Point{Lambda: append([]float64(nil), lambda...), X: x, Validation: value, Gap: m.train.Relative(s.Gap)}
	if m.intercept {
		state.gradient = append(state.gradient, floats.Sum(u))
	}
	pt.Solved = s.Status == lower.Optimal || s.Status == lower.Exhausted
	pt.State = state
	return pt, nil
}

// system is that of the regression to second order at a solution, on the support and the intercept.
func (m *smooth) system(ctx context.Context, s *smoothState, o lower.GradientOptions) (*system, error) {
	g, err := m.train.Local(s.Solution)
	if err != nil {
		return nil, err
	}
	set := append([]int(nil), s.free...)
	w2 := make([]float64, len(s.B)+1)
	for j := range s.B {
		w2[j] = m.train.Factor(j) * s.w2
	}
	if m.intercept {
		set = append(set, len(s.B))
	}
	return newSystem(ctx, g, set, w2, o)
}

// Gradient implements [lower.Differentiable]: dL/dlambda_1 = -v' sign(b_S), dL/dlambda_2 = -v' b_S with H v = grad L, with factors times these.
func (m *smooth) Gradient(ctx context.Context, at *lower.Point, o lower.GradientOptions) ([]float64, error) {
	s := at.State.(*smoothState)
	out := make([]float64, 2)
	if len(s.free) == 0 {
		return out, nil
	}
	h, err := m.system(ctx, s, o)
	if err != nil {
		return nil, err
	}
	if o.Mode == lower.Forward {
		for i := range out {
			out[i] = floats.Dot(h.solve(ctx, s.right(h, i)), s.gradient)
		}
		return out, nil
	}
	v := h.solve(ctx, s.gradient)
	for k, j := range s.free {
		out[0] -= s.factor[k] * v[k] * sign(s.B[j])
		out[1] -= s.factor[k] * v[k] * s.B[j]
	}
	return out, nil
}

// Jacobian returns the derivatives of the coefficients that are free and the intercept in both hyperparameters, by implicit forward
// differentiation as [Regression.Jacobian] does.
func (m *smooth) Jacobian(ctx context.Context, at *lower.Point, tol float64) ([][]float64, error) {
	s := at.State.(*smoothState)
	h, err := m.system(ctx, s, lower.GradientOptions{Mode: lower.Forward, Tol: tol})
	if err != nil {
		return nil, err
	}
	return [][]float64{h.solve(ctx, s.right(h, 0)), h.solve(ctx, s.right(h, 1))}, nil
}

// right is H times the derivatives in hyperparameter i: -sign(b_S) or -b_S, and 0 for the intercept.
func (s *smoothState) right(h *system, i int) []float64 {
	q := make([]float64, len(h.set))
	for k, j := range s.free {
		q[k] = -s.factor[k] * sign(s.B[j])
		if i == 1 {
			q[k] = -s.factor[k] * s.B[j]
		}
	}
	return q
}
