package fits

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/sparse"
)

// Lasso is the lasso, w1_j = lambda_0.
func Lasso(train, val Rows, intercept bool, t sparse.Terms) (*JointNet, error) {
	g, err := sparse.Squares(sparse.Sample(train), intercept, t)
	return newJoint("lasso", g, err, train, val, intercept, first)
}

// Ridge is ridge regression, w2_j = lambda_0.
func Ridge(train, val Rows, intercept bool, t sparse.Terms) (*JointNet, error) {
	g, err := sparse.Squares(sparse.Sample(train), intercept, t)
	return newJoint("ridge regression", g, err, train, val, intercept, second)
}

// ElasticNetFit is an elastic net, w1_j = lambda_0 and w2_j = lambda_1.
type ElasticNetFit struct {
	*JointNet
	plain bool
}

// ElasticNet has half the mean squared error as its losses.
func ElasticNet(train, val Rows, intercept bool, t sparse.Terms) (*ElasticNetFit, error) {
	g, err := sparse.Squares(sparse.Sample(train), intercept, t)
	m, err := newJoint("elastic net", g, err, train, val, intercept, both)
	return &ElasticNetFit{m, t.Plain() && plainRows("elastic net", train) == nil}, err
}

// Traits implements [lower.Fit].
func (m *ElasticNetFit) Traits() lower.Traits {
	t := m.JointNet.Traits()
	t.Parts, t.LeastNorm = []lower.Bilevel{m}, m.LeastNorm
	return t
}

// roundedSquare is how much of its radius 1/2 |b|^2 may be above it by rounding.
const roundedSquare = 1e-8

// LeastNorm is that of [lower.Traits], of fits without terms and weights. The radius of 1/2 |b|^2 holds nothing
// back: the shortest b is within it, or none is.
func (m *ElasticNetFit) LeastNorm(ctx context.Context, radii []float64, loss float64) ([][]float64, error) {
	if len(radii) != m.Dim() {
		return nil, fmt.Errorf("fits: %d radii, expected %d", len(radii), m.Dim())
	}
	if !m.plain {
		return nil, nil
	}
	s, err := newSeparated("elastic net", m.train, m.train, nil, true, m.intercept)
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

// Logistic has the loss log(1 + exp(-y f)) of targets -1 and 1.
func Logistic(train, val Rows, intercept bool, t sparse.Terms) (*JointNet, error) {
	if err := checkLabels("logistic regression", val); err != nil {
		return nil, err
	}
	g, err := sparse.Logistic(sparse.Sample(train), intercept, t)
	return newJoint("logistic regression", g, err, train, val, intercept, both)
}

// Poisson has half the deviance of targets that are not negative from exp(f).
func Poisson(train, val Rows, intercept bool, t sparse.Terms) (*JointNet, error) {
	for i, y := range val.Y {
		if !(y >= 0) {
			return nil, fmt.Errorf("fits: target of validation row %d of the Poisson regression is %g, expected a number that is not negative", i, y)
		}
	}
	g, err := sparse.Poisson(sparse.Sample(train), intercept, t)
	m, err := newJoint("Poisson regression", g, err, train, val, intercept, both)
	if err != nil {
		return nil, err
	}
	m.bend += floats.Sum(train.Y) / float64(len(train.Y)) // exp(f) at the mean
	return m, nil
}
