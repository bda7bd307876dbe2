package fits

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/separable"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
)

// Lasso is the lasso, w1_j = lambda_0.
func Lasso(train, val Rows, intercept bool, t sparse.Terms) (*Net, error) {
	return newNet("lasso", nil, train, val, intercept, t, nil, first)
}

// Ridge is ridge regression, w2_j = lambda_0.
func Ridge(train, val Rows, intercept bool, t sparse.Terms) (*Net, error) {
	return newNet("ridge regression", nil, train, val, intercept, t, nil, second)
}

// ElasticNet has half the mean squared error as its losses, w1_j = lambda_0 and w2_j = lambda_1.
func ElasticNet(train, val Rows, intercept bool, t sparse.Terms) (*Net, error) {
	m, err := newNet("elastic net", nil, train, val, intercept, t, nil, both)
	if err == nil && t.Plain() && plainRows("elastic net", train) == nil {
		m.traits.LeastNorm = func(ctx context.Context, radii []float64, loss float64) ([][]float64, error) {
			return leastNorm(ctx, train, intercept, radii, loss)
		}
	}
	return m, err
}

// roundedSquare is how much of its radius 1/2 |b|^2 may be above it by rounding.
const roundedSquare = 1e-8

// leastNorm is that of [lower.Traits] of an elastic net. The radius of 1/2 |b|^2 holds nothing back: the shortest b is
// within it, or none is.
func leastNorm(ctx context.Context, train Rows, intercept bool, radii []float64, loss float64) ([][]float64, error) {
	if len(radii) != len(both) {
		return nil, fmt.Errorf("fits: %d radii, expected %d", len(radii), len(both))
	}
	s := separable.New(train, train, indices.Singles(train.X.Columns()), true, intercept)
	// No coefficient is above the radius of |b|_1.
	x, err := s.LeastNorm(ctx, slices.Repeat(radii[:1], s.Penalties()), loss)
	if x == nil || err != nil || floats.Dot(x[0], x[0])/2 > radii[1]*(1+roundedSquare) {
		return nil, err
	}
	return x, nil
}

// Logistic has the loss log(1 + exp(-y f)) of targets -1 and 1.
func Logistic(train, val Rows, intercept bool, t sparse.Terms) (*Net, error) {
	return newNet("logistic regression", glm.Logistic{}, train, val, intercept, t, nil, both)
}

// Poisson has half the deviance of targets that are not negative from exp(f).
func Poisson(train, val Rows, intercept bool, t sparse.Terms) (*Net, error) {
	m, err := newNet("Poisson regression", glm.Poisson{}, train, val, intercept, t, nil, both)
	if err != nil {
		return nil, err
	}
	// exp(f) at the mean
	m.traits.Bounds = m.boundsFor(curvature(train.X) * (1 + floats.Sum(train.Y)/float64(len(train.Y))))
	return m, nil
}

// NewMultinomial takes rows of so many classes, from 0 on, each of which has one for training, and terms of features.
// The validation loss, without derivatives, is the mean of minus the logarithm of the probability of the class. A path
// starts where the objective is least: any point is a better start than none, however far it is.
func NewMultinomial(train, val Rows, classes int, intercept bool, t sparse.Terms) (*Net, error) {
	m, err := newNet("multinomial regression", glm.Multinomial{Classes: classes}, train, val, intercept, t, nil, both)
	if err != nil {
		return nil, err
	}
	m.traits = lower.Traits{Start: m.start, Parts: m.traits.Parts}
	return m, nil
}

// start is that of [lower.Traits]: the point with the least objective.
func (m *Net) start(lambda []float64, points []*lower.Point) *lower.Point {
	best, least := points[0], math.Inf(1)
	for _, pt := range points {
		s := pt.State.(*netState)
		if v := s.Objective + floats.Dot(lambda, s.penalties) - floats.Dot(pt.Lambda, s.penalties); v <= least {
			best, least = pt, v
		}
	}
	return best
}

// WeightedLogistic is [Logistic] with a weight for each feature.
func WeightedLogistic(train, val Rows, intercept bool, t sparse.Terms) (*Net, error) {
	return weighted(Logistic(train, val, intercept, t))
}

// WeightedPoisson is [Poisson] with a weight for each feature.
func WeightedPoisson(train, val Rows, intercept bool, t sparse.Terms) (*Net, error) {
	return weighted(Poisson(train, val, intercept, t))
}

// weighted gives each |b_j| of a fit a hyperparameter of its own. Programs of VF-iDCA are conic ones.
func weighted(m *Net, err error) (*Net, error) {
	if err != nil {
		return nil, err
	}
	m.dim, m.kept = m.Fit.Shape()[0], nil
	m.weights = func(lambda []float64) (*glm.Weights, error) { return &glm.Weights{Norm: slices.Clone(lambda)}, nil }
	m.traits = lower.Traits{Path: m.path, Gradient: m.gradient}
	return m, nil
}
