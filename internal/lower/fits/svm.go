package fits

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/machine"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
)

// SVM is a linear support vector machine in a box, with a bound for each feature,
//
//	min over w, c of  sum_i u_i max(0, 1 - y_i (x_i'w - c)) + lambda/2 |w|^2   subject to |w_j| <= wbar_j,
//
// over training rows of weights u_i of sum 1. Its hyperparameters are lambda and the wbar_j, in this order, and its
// points have w and c. The validation loss is the same mean of hinges over other rows; where a row is at its kink it
// has the derivative of the side where there is no loss. Derivatives are those of the dual problem on its support
// (Bertrand, Klopfenstein, Massias, Blondel, Vaiter, Gramfort, Salmon, JMLR 2022, section 3), with the box: rows at
// their kinks and features inside the box stay so. Their equations are solved by a factor.
type SVM struct {
	train *machine.Problem
	rows  Rows // of training, their weights of sum 1
	val   Rows
	low   float64
	high  float64
	bound []float64 // of the features, nil where they are hyperparameters
}

// NewSVM takes labels of -1 and 1, of which the training rows have both. The wbar_j stay from low to high in a search.
func NewSVM(train, val Rows, low, high float64) (*SVM, error) {
	g, err := machine.New(train.X, train.Y, train.Weights)
	if err != nil {
		return nil, fmt.Errorf("fits: training rows of the support vector machine: %w", err)
	}
	if !(low > 0) || !(low <= high) || math.IsInf(high, 1) {
		return nil, fmt.Errorf("fits: bounds of the support vector machine from %g to %g, expected positive numbers in order",
			low, high)
	}
	if err := check("support vector machine", train, val); err != nil {
		return nil, err
	}
	if err := val.Check(glm.Logistic{}); err != nil {
		return nil, fmt.Errorf("fits: validation rows of the support vector machine: %w", err)
	}
	train.Weights, val.Weights = weightsOf(train), slices.Clone(weightsOf(val))
	floats.Scale(1/floats.Sum(val.Weights), val.Weights)
	return &SVM{train: g, rows: train, val: val, low: low, high: high}, nil
}

// Squared is the machine trained with the squared hinge, max(0, 1 - y_i (x_i'w - c))^2, and the same validation loss.
// It has no programs of VF-iDCA.
func (m *SVM) Squared() *SVM {
	out := *m
	out.train = m.train.Squared()
	return &out
}

// Bounded is the machine with these bounds, whose only hyperparameter is lambda. It has what searches need.
func (m *SVM) Bounded(bound []float64) *SVM {
	out := *m
	out.bound = bound
	return &out
}

// Dim is one more than the number of features, or 1 if the machine is [SVM.Bounded].
func (m *SVM) Dim() int { return 1 + m.val.X.Columns() - len(m.bound) }

// LambdaMax is a lambda above which no decision value of a training row is further than 1 from -c.
func (m *SVM) LambdaMax() float64 { return m.train.LambdaMax() }

// The path of a support vector machine: lambda falls from LambdaMax by pathStep to pathLeast of it without a box, and
// then the box comes in, by the same steps, to boxLeast.
const (
	pathStep  = 0.4
	pathLeast = 1e-4
	boxLeast  = 1e-3
)

// Path goes down with lambda, and then with a common wbar.
func (m *SVM) Path() [][]float64 {
	var path [][]float64
	add := func(lambda, wbar float64) {
		h := slices.Repeat([]float64{wbar}, m.Dim())
		h[0] = lambda
		path = append(path, h)
	}
	lambda, wbar := m.LambdaMax(), m.high
	for ; lambda > pathLeast*m.LambdaMax(); lambda *= pathStep {
		add(lambda, wbar)
	}
	for wbar *= pathStep; wbar > math.Max(m.low, boxLeast); wbar *= pathStep {
		add(lambda, wbar)
	}
	return path
}

// Bounds is that of [lower.Traits].
func (m *SVM) Bounds() (low, high []float64) {
	low, high = slices.Repeat([]float64{m.low}, m.Dim()), slices.Repeat([]float64{m.high}, m.Dim())
	low[0], high[0] = lower.LeastShare*m.LambdaMax(), lower.MostShare*m.LambdaMax()
	return low, high
}

// Start is that of [lower.Traits]: the point whose multipliers give the largest lower bound at lambda.
func (m *SVM) Start(lambda []float64, points []*lower.Point) *lower.Point {
	best, most, h := points[0], math.Inf(-1), slices.Concat(lambda, m.bound)
	for _, pt := range points {
		if v := m.train.Bound(pt.State.(*svmState).Solution, h[0], h[1:]); v >= most {
			best, most = pt, v
		}
	}
	return best
}

// Traits implements [lower.Fit].
func (m *SVM) Traits() lower.Traits {
	t := lower.Traits{Start: m.Start}
	if m.train.Wide() {
		t.Coarse = coarseGap
	}
	if m.bound != nil {
		return t
	}
	if t.Bounds, t.Path, t.Gradient = m.Bounds, m.Path, m.Gradient; m.train.Quick() {
		t.Parts = []lower.Fit{m}
	}
	return t
}

// svmState is the solution behind a point.
type svmState struct {
	*machine.Solution
	gradient []float64 // of the validation loss in w
	slope    float64   // and in c
}

// Solve implements [lower.Fit].
func (m *SVM) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	if len(lambda) != m.Dim() {
		return nil, fmt.Errorf("fits: %d hyperparameters of the support vector machine, expected lambda and %d bounds",
			len(lambda), m.Dim()-1)
	}
	var from *machine.Solution
	h := slices.Concat(lambda, m.bound)
	if start != nil {
		from = start.State.(*svmState).Solution
	}
	s, err := m.train.Solve(ctx, h[0], h[1:], tol, from)
	if err != nil {
		return nil, err
	}
	pt := &lower.Point{Lambda: slices.Clone(lambda), X: [][]float64{s.W, {s.C}}, Gap: m.train.Relative(s.Gap)}
	// whose gap is in the point
	pt.Solved = s.Status == outcome.Converged || s.Status == numerics.Exhausted || s.Status == outcome.IterationLimit
	state := &svmState{Solution: s, gradient: make([]float64, len(s.W))}
	loss, rate := m.validation(s.W, s.C)
	pt.Validation, state.slope = loss, -floats.Sum(rate)
	m.val.X.MulTrans(state.gradient, rate)
	pt.State = state
	return pt, nil
}

// Gradient is that of [lower.Traits], in all modes by the adjoint equations.
func (m *SVM) Gradient(_ context.Context, at *lower.Point, _ lower.Mode, _ float64) ([]float64, error) {
	s := at.State.(*svmState)
	lambda, bound := m.train.Adjoint(s.Solution, s.gradient, s.slope)
	return append([]float64{lambda}, bound...), nil
}
