package fits

import (
	"context"
	"fmt"
	"math"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/multipliers"
	"github.com/conetune/conetune/lower/sparse"
)

// ClassRows have a class from 0 on for each row of the design, and weights, nil for equal ones.
type ClassRows struct {
	X       *design.Matrix
	Class   []int
	Weights []float64
}

// Multinomial is a multinomial logistic regression with the hyperparameters of an elastic net. The validation loss is the mean of minus the
// logarithm of the probability of the class. Its points have the coefficients of a [sparse.MultinomialSolution], and with intercepts these.
type Multinomial struct {
	train     *sparse.Multinomial
	both      *sparse.HessianJoint
	intercept bool
}

// NewMultinomial takes rows of so many classes, each of which has one for training, and terms of features.
func NewMultinomial(train, val ClassRows, classes int, intercept bool, t sparse.Terms) (*Multinomial, error) {
	g, err := sparse.MultinomialOf(sparse.Classed(train), classes, intercept, t)
	if err != nil {
		return nil, fmt.Errorf("fits: training rows of the multinomial regression: %w", err)
	}
	if err := check("multinomial regression", Rows{X: train.X}, Rows{X: val.X, Y: make([]float64, len(val.Class))}); err != nil {
		return nil, err
	}
	for i, k := range val.Class {
		if k < 0 || k >= classes {
			return nil, fmt.Errorf("fits: class of validation row %d of the multinomial regression is %d, expected 0 to %d", i, k, classes-1)
		}
	}
	both, err := g.Joint(sparse.Classed(val))
	if err != nil {
		return nil, fmt.Errorf("fits: %w", err)
	}
	return &Multinomial{g, both, intercept}, nil
}

// Shape implements [lower.Valued].
func (m *Multinomial) Shape() []int { return m.both.Shape() }

// Values implements [lower.Valued].
func (m *Multinomial) Values(x [][]float64) lower.Values { return m.both.Values(x) }

// Joint implements [lower.Joint].
func (m *Multinomial) Joint() lower.JointSolver { return m.both.Joint() }

// Within implements [lower.Bilevel].
func (m *Multinomial) Within() lower.WithinSolver { return multipliers.NewLower(m) }

// Subproblem implements [lower.Bilevel].
func (m *Multinomial) Subproblem(parts []lower.Bilevel, workers int) lower.SubproblemSolver {
	return subproblem(parts, workers)
}

var _ lower.Bilevel = (*Multinomial)(nil)

// Dim is 2.
func (m *Multinomial) Dim() int { return 2 }

// LambdaMax is the least lambda_1 at which all coefficients are zero.
func (m *Multinomial) LambdaMax() float64 { return m.train.LambdaMax() }

// Start implements [lower.Starter]: the point with the least objective.
func (m *Multinomial) Start(lambda []float64, points []*lower.Point) *lower.Point {
	best, least := points[0], math.Inf(1)
	for _, pt := range points {
		if v := m.train.At(pt.State.(*sparse.MultinomialSolution), lambda[0], lambda[1]); v <= least {
			best, least = pt, v
		}
	}
	return best
}

var _ lower.Starter = (*Multinomial)(nil)

// Solve implements [lower.Penalised].
func (m *Multinomial) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	if len(lambda) != 2 {
		return nil, fmt.Errorf("fits: %d hyperparameters, expected 2", len(lambda))
	}
	var from *sparse.MultinomialSolution
	if start != nil {
		from = start.State.(*sparse.MultinomialSolution)
	}
	s, err := m.train.Solve(ctx, lambda[0], lambda[1], tol, from)
	if err != nil {
		return nil, err
	}
	pt := &lower.Point{Lambda: append([]float64(nil), lambda...), X: [][]float64{s.B}, Gap: m.train.Relative(s.Gap), State: s}
	if m.intercept {
		pt.X = append(pt.X, s.B0)
	}
	pt.Solved = s.Status == lower.Optimal || s.Status == lower.Exhausted
	pt.Validation = math.Max(0, m.both.Validation(pt.X))
	return pt, nil
}
