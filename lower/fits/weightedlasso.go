package fits

import (
	"context"
	"fmt"
	"math"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/sparse"
)

// WeightedLasso is a lasso with a hyperparameter for each feature,
//
//	min over b, b0 of  1/(2n) |y - X b - b0|^2 + sum_j lambda_j |b_j|.
//
// The validation loss is half the mean squared error. Its points have the coefficients, and with an intercept b0. It
// also solves both programs of an iteration of VF-iDCA.
type WeightedLasso struct {
	separated
	train     *sparse.Regression
	trainX    *design.Matrix
	val       Rows
	intercept bool
}

// NewWeightedLasso takes rows without weights.
func NewWeightedLasso(train, val Rows, intercept bool) (*WeightedLasso, error) {
	g, err := newTraining("weighted lasso", train, val, intercept)
	if err != nil {
		return nil, err
	}
	s, err := newSeparated("weighted lasso", train, val, nil, false, intercept)
	if err != nil {
		return nil, err
	}
	return &WeightedLasso{s, g, train.X, val, intercept}, nil
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
		pt.X = append(pt.X, s.B0)
	}
	pt.Gap, pt.Solved = g.Relative(s.Gap), s.Status == lower.Optimal || s.Status == lower.Exhausted
	return gradient
}

// Dim is the number of features.
func (m *WeightedLasso) Dim() int { return m.trainX.Columns() }

// LambdaMax is the least common weight at which all coefficients are zero.
func (m *WeightedLasso) LambdaMax() float64 { return m.train.LambdaMax() }

// Bounds implements [lower.Bounded].
func (m *WeightedLasso) Bounds() (low, high []float64) {
	return ridgeBounds(m.LambdaMax(), curvature(m.trainX), m.Dim(), nil)
}

// Path goes down with a common value.
func (m *WeightedLasso) Path() [][]float64 { return commonPath(m.Dim(), m.LambdaMax()) }

// weightedState is the solution behind a point.
type weightedState struct {
	*sparse.Solution
	gradient []float64 // of L in the coefficients of the support
}

// Solve implements [lower.Differentiable].
func (m *WeightedLasso) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	if len(lambda) != m.Dim() {
		return nil, fmt.Errorf("fits: %d hyperparameters, expected %d", len(lambda), m.Dim())
	}
	pt := &lower.Point{Lambda: append([]float64(nil), lambda...)}
	o := sparse.Options{Tol: tol}
	if start != nil {
		o.Start = start.State.(*weightedState).Solution
	}
	s, err := m.train.Solve(ctx, sparse.Weights{L1: pt.Lambda}, o)
	if err != nil {
		return nil, err
	}
	pt.State = &weightedState{s, fill(pt, m.train, m.val, s, m.intercept)}
	return pt, nil
}

// Gradient implements [lower.Differentiable]. On the support S of the solution H = X_S'X_S / n, and
//
//	dL/dlambda_j = -v_j sign(b_j)   with   H v = grad_S L.
//
// Where H is singular, v is the solution with a ridge of rounding size. The forward mode solves the same system, which
// has one column.
func (m *WeightedLasso) Gradient(ctx context.Context, at *lower.Point, o lower.GradientOptions) ([]float64, error) {
	s := at.State.(*weightedState)
	out := make([]float64, m.Dim())
	if len(s.Support) == 0 {
		return out, nil
	}
	h, err := newSystem(ctx, m.train, s.Support, nil, o)
	if err != nil {
		return nil, err
	}
	v := h.solve(ctx, s.gradient)
	for k, j := range s.Support {
		out[j] = -v[k] * sign(s.B[j])
	}
	return out, nil
}

func sign(v float64) float64 { return math.Copysign(1, v) }
