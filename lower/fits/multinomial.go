package fits

import (
	"context"
	"fmt"
	"math"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/multipliers"
	"github.com/conetune/conetune/lower/sparse"
)

// Multinomial is a multinomial logistic regression with the hyperparameters of an elastic net. The validation loss is
// the mean of minus the logarithm of the probability of the class.
type Multinomial struct {
	penalised
	joint
}

// NewMultinomial takes rows of so many classes, from 0 on, each of which has one for training, and terms of features.
func NewMultinomial(train, val Rows, classes int, intercept bool, t sparse.Terms) (*Multinomial, error) {
	g, err := sparse.Multinomial(sparse.Sample(train), classes, intercept, t)
	if err != nil {
		return nil, fmt.Errorf("fits: training rows of the multinomial regression: %w", err)
	}
	if err := check("multinomial regression", train, val); err != nil {
		return nil, err
	}
	if g, err = g.With(sparse.Sample(val), 0); err != nil {
		return nil, fmt.Errorf("fits: validation rows of the multinomial regression: %w", err)
	}
	m := &Multinomial{penalised: penalised{g, both, intercept}}
	m.joint = joint{&m.penalised}
	return m, nil
}

// Traits implements [lower.Fit].
func (m *Multinomial) Traits() lower.Traits {
	return lower.Traits{Start: m.Start, Parts: []lower.Bilevel{m}}
}

// Start is that of [lower.Traits]: the point with the least objective.
func (m *Multinomial) Start(lambda []float64, points []*lower.Point) *lower.Point {
	best, least := points[0], math.Inf(1)
	for _, pt := range points {
		if v := m.fit.At(pt.State.(*sparse.Solution), lambda[0], lambda[1]); v <= least {
			best, least = pt, v
		}
	}
	return best
}

// Solve implements [lower.Fit].
func (m *Multinomial) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	var from *sparse.Solution
	if start != nil {
		from = start.State.(*sparse.Solution)
	}
	pt, s, err := m.solve(ctx, lambda, tol, from)
	if err != nil {
		return nil, err
	}
	pt.State = s
	pt.Validation, _ = m.fit.Validation(pt.X)
	return pt, nil
}

// Within implements [lower.Bilevel].
func (m *Multinomial) Within() lower.WithinSolver { return multipliers.NewLower(m) }

var _ lower.Joint = (*Multinomial)(nil)
