package fits

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/sparse"
)

// Regression is a lasso, an elastic net or a weighted lasso,
//
//	min over b, b0 of  1/(2n) |y - X b - b0|^2 + sum_j w1_j |b_j| + 1/2 sum_j w2_j b_j^2,
//
// each of whose weights is one of the hyperparameters. The validation loss is half the
// mean squared error. Its points have the coefficients, and with an intercept b0.
type Regression struct {
	train     *sparse.Regression
	val       Rows
	intercept bool
	dim       int
	// w1_j is lambda[first[j]], w2_j is lambda[second[j]]; a nil map means no such weights.
	first, second []int
	trainX        *design.Matrix
}

// Lasso has one hyperparameter, w1_j = lambda_0.
func Lasso(train, val Rows, intercept bool) (*Regression, error) {
	return newRegression("lasso", train, val, intercept, func(m *Regression, p int) {
		m.dim, m.first = 1, make([]int, p)
	})
}

// ElasticNetFit is an elastic net, which can also be solved with its validation rows in it.
type ElasticNetFit struct {
	*Regression
	joint
	rows Rows // for training
}

// ElasticNet has two hyperparameters, w1_j = lambda_0 and w2_j = lambda_1.
func ElasticNet(train, val Rows, intercept bool) (*ElasticNetFit, error) {
	m, err := newRegression("elastic net", train, val, intercept, func(m *Regression, p int) {
		m.dim, m.first, m.second = 2, make([]int, p), make([]int, p)
		for j := range m.second {
			m.second[j] = 1
		}
	})
	if err != nil {
		return nil, err
	}
	g, err := sparse.JointSquares(sparse.Sample(train), sparse.Sample(val), intercept)
	if err != nil {
		return nil, fmt.Errorf("fits: %w", err)
	}
	return &ElasticNetFit{m, joint{g}, train}, nil
}

// roundedSquare is how much of its radius 1/2 |b|^2 may be above it by rounding.
const roundedSquare = 1e-8

// LeastNorm implements [lower.Interpolating]. The radius of 1/2 |b|^2 holds nothing back: the shortest b is within it, or none is.
func (m *ElasticNetFit) LeastNorm(ctx context.Context, radii []float64, loss float64) ([][]float64, error) {
	if len(radii) != m.dim {
		return nil, fmt.Errorf("fits: %d radii, expected %d", len(radii), m.dim)
	}
	s, err := newSeparated("elastic net", m.rows, m.rows, nil, true, m.intercept)
	if err != nil {
		return nil, err
	}
	// No coefficient is above the radius of |b|_1.
	x, err := s.LeastNorm(ctx, slices.Repeat(radii[:1], s.data.Penalties()), loss)
	if x == nil || err != nil || floats.Dot(x[0], x[0])/2 > radii[1]*(1+roundedSquare) {
		return nil, err
	}
	return x, nil
}

// WeightedLassoFit is a weighted lasso, which also solves both programs of an iteration of VF-iDCA.
type WeightedLassoFit struct {
	*Regression
	separated
}

// WeightedLasso has a hyperparameter for each feature, w1_j = lambda_j.
func WeightedLasso(train, val Rows, intercept bool) (*WeightedLassoFit, error) {
	m, err := newRegression("weighted lasso", train, val, intercept, func(m *Regression, p int) {
		m.dim, m.first = p, make([]int, p)
		for j := range m.first {
			m.first[j] = j
		}
	})
	if err != nil {
		return nil, err
	}
	s, err := newSeparated("weighted lasso", train, val, nil, false, intercept)
	if err != nil {
		return nil, err
	}
	return &WeightedLassoFit{m, s}, nil
}

func newRegression(name string, train, val Rows, intercept bool, weights func(*Regression, int)) (*Regression, error) {
	g, err := newTraining(name, train, val, intercept)
	if err != nil {
		return nil, err
	}
	out := &Regression{train: g, val: val, intercept: intercept, trainX: train.X}
	_, p := g.Dims()
	weights(out, p)
	return out, nil
}

// newTraining checks the rows and prepares those for training.
func newTraining(name string, train, val Rows, intercept bool) (*sparse.Regression, error) {
	if err := plainRows(name, train, val); err != nil {
		return nil, err
	}
	g, err := sparse.NewRegression(train.X, train.Y, intercept)
	if err != nil {
		return nil, fmt.Errorf("fits: training rows of the %s: %w", name, err)
	}
	return g, check(name, train, val)
}

// fill puts a solution into the point, and returns the gradient of the validation loss on its support.
func fill(pt *lower.Point, g *sparse.Regression, val Rows, s *sparse.Solution, intercept bool) []float64 {
	value, gradient := g.ValidationGradient(val.X, val.Y, s)
	pt.X, pt.Validation = [][]float64{s.B}, value
	if intercept {
		pt.X = append(pt.X, []float64{s.B0})
	}
	pt.Gap, pt.Solved = g.Relative(s.Gap), s.Status == lower.Optimal || s.Status == lower.Exhausted
	return gradient
}

// Dim is the number of hyperparameters.
func (m *Regression) Dim() int { return m.dim }

// LambdaMax is the least common w1 at which all coefficients are zero.
func (m *Regression) LambdaMax() float64 { return m.train.LambdaMax() }

// Bounds implements [lower.Bounded].
func (m *Regression) Bounds() (low, high []float64) {
	return ridgeBounds(m.LambdaMax(), curvature(m.trainX), m.dim, m.second)
}

// Path goes down with a common value; for the elastic net every second point of it, and then up again with a hundredth of
// it for w2.
func (m *Regression) Path() [][]float64 {
	if m.second == nil {
		return commonPath(m.dim, m.LambdaMax())
	}
	return elasticPath(m.LambdaMax())
}

func elasticPath(top float64) [][]float64 {
	path := commonPath(2, top)
	var both [][]float64
	for i := 0; i < len(path); i += 2 {
		both = append(both, path[i])
	}
	for i := len(path) - 1; i >= 0; i -= 2 {
		both = append(both, []float64{path[i][0], path[i][1] / 100})
	}
	return both
}

// weights are those of the features.
func (m *Regression) weights(lambda []float64) sparse.Weights {
	pick := func(index []int) []float64 {
		if index == nil {
			return nil
		}
		w := make([]float64, len(index))
		for j, i := range index {
			w[j] = lambda[i]
		}
		return w
	}
	return sparse.Weights{L1: pick(m.first), L2: pick(m.second)}
}

// state is the solution behind a point, and its weights.
type state struct {
	*sparse.Solution
	weights  sparse.Weights
	gradient []float64 // of L in the coefficients of the support
}

// Solve implements [lower.Differentiable].
func (m *Regression) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	if len(lambda) != m.dim {
		return nil, fmt.Errorf("fits: %d hyperparameters, expected %d", len(lambda), m.dim)
	}
	w := m.weights(lambda)
	o := sparse.Options{Tol: tol}
	if start != nil {
		o.Start = start.State.(*state).Solution
	}
	s, err := m.train.Solve(ctx, w, o)
	if err != nil {
		return nil, err
	}
	pt := &lower.Point{Lambda: append([]float64(nil), lambda...)}
	gradient := fill(pt, m.train, m.val, s, m.intercept)
	pt.State = &state{s, w, gradient}
	return pt, nil
}

// Gradient implements [lower.Differentiable]. On the support S of the solution H = X_S'X_S / n + diag(w2), and
//
//	dL/dw1_j = -v_j sign(b_j),   dL/dw2_j = -v_j b_j   with   H v = grad_S L.
//
// Where H is singular, v is the solution with a ridge of rounding size.
func (m *Regression) Gradient(ctx context.Context, at *lower.Point, o lower.GradientOptions) ([]float64, error) {
	s := at.State.(*state)
	out := make([]float64, m.dim)
	if len(s.Support) == 0 {
		return out, nil
	}
	h, err := newSystem(ctx, m.train, s.Support, s.weights.L2, o)
	if err != nil {
		return nil, err
	}
	if (o.Mode == lower.Forward || o.Mode == lower.Truncated) && m.dim <= forwardMost {
		for i := range out {
			out[i] = floats.Dot(h.solve(ctx, m.right(s, i)), s.gradient)
		}
		return out, nil
	}
	v := h.solve(ctx, s.gradient)
	for k, j := range s.Support {
		if m.first != nil {
			out[m.first[j]] -= v[k] * sign(s.B[j])
		}
		if m.second != nil {
			out[m.second[j]] -= v[k] * s.B[j]
		}
	}
	return out, nil
}

// forwardMost bounds the hyperparameters for which the forward mode forms the Jacobian. With
// more, the same method solves the adjoint system, which has one column.
const forwardMost = 10

// Jacobian returns dx_S/dlambda_i for each hyperparameter i, in the order of the support S of the coefficients, by
// implicit forward differentiation, by the factor of H, or where its order is too large by conjugate gradients to the relative accuracy tol.
func (m *Regression) Jacobian(ctx context.Context, at *lower.Point, tol float64) ([][]float64, error) {
	s := at.State.(*state)
	h, err := newSystem(ctx, m.train, s.Support, s.weights.L2, lower.GradientOptions{Mode: lower.Forward, Tol: tol})
	if err != nil {
		return nil, err
	}
	jacobian := make([][]float64, m.dim)
	for i := range jacobian {
		jacobian[i] = h.solve(ctx, m.right(s, i))
	}
	return jacobian, nil
}

// right is H dx_S/dlambda_i: -sign(b_S), or -b_S, where the weight is lambda_i.
func (m *Regression) right(s *state, i int) []float64 {
	q := make([]float64, len(s.Support))
	for k, j := range s.Support {
		if m.first != nil && m.first[j] == i {
			q[k] -= sign(s.B[j])
		}
		if m.second != nil && m.second[j] == i {
			q[k] -= s.B[j]
		}
	}
	return q
}

func sign(v float64) float64 { return math.Copysign(1, v) }
