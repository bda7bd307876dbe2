package hypergradient

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/sparse"
)

// Rows are the data of a regression: a target for each row of the design.
type Rows struct {
	X *design.Matrix
	Y []float64
}

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
}

// Lasso has one hyperparameter, w1_j = lambda_0.
func Lasso(train, val Rows, intercept bool) (*Regression, error) {
	return newRegression("lasso", train, val, intercept, func(m *Regression, p int) {
		m.dim, m.first = 1, make([]int, p)
	})
}

// ElasticNet has two hyperparameters, w1_j = lambda_0 and w2_j = lambda_1.
func ElasticNet(train, val Rows, intercept bool) (*Regression, error) {
	return newRegression("elastic net", train, val, intercept, func(m *Regression, p int) {
		m.dim, m.first, m.second = 2, make([]int, p), make([]int, p)
		for j := range m.second {
			m.second[j] = 1
		}
	})
}

// WeightedLasso has a hyperparameter for each feature, w1_j = lambda_j.
func WeightedLasso(train, val Rows, intercept bool) (*Regression, error) {
	return newRegression("weighted lasso", train, val, intercept, func(m *Regression, p int) {
		m.dim, m.first = p, make([]int, p)
		for j := range m.first {
			m.first[j] = j
		}
	})
}

func newRegression(name string, train, val Rows, intercept bool, weights func(*Regression, int)) (*Regression, error) {
	g, err := newTraining(name, train, val, intercept)
	if err != nil {
		return nil, err
	}
	g.Prepare()
	out := &Regression{train: g, val: val, intercept: intercept}
	_, p := g.Dims()
	weights(out, p)
	return out, nil
}

// newTraining checks the rows and prepares those for training.
func newTraining(name string, train, val Rows, intercept bool) (*sparse.Regression, error) {
	g, err := sparse.NewRegression(train.X, train.Y, intercept)
	if err != nil {
		return nil, fmt.Errorf("hypergradient: training rows of the %s: %w", name, err)
	}
	if err := checkValidation(name, train, val); err != nil {
		return nil, err
	}
	return g, nil
}

// checkValidation says what is wrong with the validation rows beside those for training.
func checkValidation(name string, train, val Rows) error {
	n, p := train.X.Dims()
	m, q := val.X.Dims()
	switch {
	case n == 0 || m == 0:
		return fmt.Errorf("hypergradient: %d training and %d validation rows of the %s, expected at least one of each", n, m, name)
	case p != q:
		return fmt.Errorf("hypergradient: %d features of the training rows and %d of the validation rows of the %s", p, q, name)
	case len(val.Y) != m:
		return fmt.Errorf("hypergradient: %d targets for %d validation rows of the %s", len(val.Y), m, name)
	}
	return nil
}

// fill puts a solution into the point, and returns the gradient of the validation loss on its support.
func (pt *Point) fill(g *sparse.Regression, val Rows, s *sparse.Solution, intercept bool) []float64 {
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

// Solve implements [Model].
func (m *Regression) Solve(ctx context.Context, lambda []float64, tol float64, start *Point) (*Point, error) {
	if len(lambda) != m.dim {
		return nil, fmt.Errorf("hypergradient: %d hyperparameters, expected %d", len(lambda), m.dim)
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
	pt := &Point{Lambda: append([]float64(nil), lambda...)}
	gradient := pt.fill(m.train, m.val, s, m.intercept)
	pt.State = &state{s, w, gradient}
	return pt, nil
}

// Gradient implements [Model]. On the support S of the solution H = X_S'X_S / n + diag(w2), and
//
//	dL/dw1_j = -v_j sign(b_j),   dL/dw2_j = -v_j b_j   with   H v = grad_S L.
//
// Where H is singular, v is the solution with a ridge of rounding size.
func (m *Regression) Gradient(ctx context.Context, at *Point, o GradientOptions) ([]float64, error) {
	s := at.State.(*state)
	out := make([]float64, m.dim)
	if len(s.Support) == 0 {
		return out, nil
	}
	if (o.Mode == Forward || o.Mode == Truncated) && m.dim <= forwardMost {
		jacobian, err := m.jacobian(ctx, s, o)
		if err != nil {
			return nil, err
		}
		for i := range out {
			out[i] = floats.Dot(jacobian[i], s.gradient)
		}
		return out, nil
	}
	v, err := m.adjoint(ctx, s, o)
	if err != nil {
		return nil, err
	}
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
// more, the same coordinate descent solves the adjoint system, which has one column.
const forwardMost = 10

// adjoint solves H v = grad_S L.
func (m *Regression) adjoint(ctx context.Context, s *state, o GradientOptions) ([]float64, error) {
	k := len(s.Support)
	v := make([]float64, k)
	switch {
	case o.Mode == Truncated:
		truncated(ctx, m.train.Product(s.Support, s.weights.L2), s.gradient, v, len(s.Support))
	case m.train.Invertible(s.Support, s.weights.L2):
		inverse, err := m.train.Inverse(ctx, s.Support, s.weights.L2)
		if err != nil {
			return nil, fmt.Errorf("hypergradient: lower level: %w", err)
		}
		copy(v, s.gradient)
		inverse.Solve(v)
	case o.Mode == Forward:
		m.train.GaussSeidel(ctx, s.Support, s.weights.L2, s.gradient, v, o.tol(), maxEpochs)
	default:
		m.train.ConjugateGradient(ctx, s.Support, s.weights.L2, s.gradient, v, o.tol(), 10*k)
	}
	return v, nil
}

// maxEpochs bounds the epochs of one linear system by coordinate descent.
const maxEpochs = 10000

// Jacobian returns dx_S/dlambda_i for each hyperparameter i, in the order of the support S of the coefficients, by
// implicit forward differentiation: H dx_S/dlambda_i = -sign(b_S), or -b_S, where the
// weight is lambda_i, by the factor of H, or where its order is too large by coordinate descent to the relative accuracy tol.
func (m *Regression) Jacobian(ctx context.Context, at *Point, tol float64) ([][]float64, error) {
	return m.jacobian(ctx, at.State.(*state), GradientOptions{Tol: tol})
}

func (m *Regression) jacobian(ctx context.Context, s *state, o GradientOptions) ([][]float64, error) {
	jacobian := make([][]float64, m.dim)
	var inverse *sparse.Inverse
	if o.Mode != Truncated && m.train.Invertible(s.Support, s.weights.L2) && len(s.Support) > 0 {
		var err error
		if inverse, err = m.train.Inverse(ctx, s.Support, s.weights.L2); err != nil {
			return nil, fmt.Errorf("hypergradient: lower level: %w", err)
		}
	}
	q := make([]float64, len(s.Support))
	for i := range jacobian {
		clear(q)
		jacobian[i] = make([]float64, len(q))
		for k, j := range s.Support {
			if m.first != nil && m.first[j] == i {
				q[k] -= sign(s.B[j])
			}
			if m.second != nil && m.second[j] == i {
				q[k] -= s.B[j]
			}
		}
		switch {
		case o.Mode == Truncated:
			truncated(ctx, m.train.Product(s.Support, s.weights.L2), q, jacobian[i], len(s.Support))
		case inverse != nil:
			copy(jacobian[i], q)
			inverse.Solve(jacobian[i])
		default:
			m.train.GaussSeidel(ctx, s.Support, s.weights.L2, q, jacobian[i], o.tol(), maxEpochs)
		}
	}
	return jacobian, nil
}

func sign(v float64) float64 { return math.Copysign(1, v) }
