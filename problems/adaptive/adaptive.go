// Package adaptive selects the weight of the adaptive lasso, the lasso whose penalty on a coefficient is the smaller the larger that is in a pilot.
//
// # Formulation
//
// With losses L on validation and l on training rows as in package regression, and the coefficients p of a pilot on the training rows, the bilevel program is
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : sum_j w_j |b_j| <= r },   w_j = (max_i |p_i| / |p_j|)^gamma,
//
// the decoupled form of choosing lambda in min l(b) + lambda sum_j w_j |b_j| (H. Zou, The adaptive lasso and its oracle
// properties, JASA 101, 2006). Only ratios of the weights matter, and the largest feature of the pilot has the weight 1.
// A feature that the pilot leaves out, as a lasso does, or whose weight would be more than 1e6, stays out. The
// multiplier of the radius is lambda.
//
// # Pilot
//
// The pilot is ridge regression or the lasso, of each fold fitted to its training rows and in the final training to all
// rows, with one weight, that of the least validation error. It is the rung below on a ladder, see
// [regression.Adaptive].
package adaptive

import (
	"context"
	"fmt"
	"math"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/fits"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/problems/regression"
)

// Pilot is the regression that the weights come from.
type Pilot string

// The pilots.
const (
	Ridge Pilot = "ridge"
	Lasso Pilot = "lasso"
)

// Pilots are those there are.
func Pilots() []string { return []string{string(Ridge), string(Lasso)} }

// Options of the model.
type Options struct {
	// Intercept adds a free constant that is not penalised.
	Intercept bool
	// Standardize works on features and targets of standard deviation 1, and undoes it in the result.
	Standardize bool
	// Scaling is what Standardize brings features to; empty means by the table, see [dataset.Scaling].
	Scaling dataset.Scaling
	// R0 is the start value of the radius, in the unit of the model. 0 means 10.
	R0 float64
	// Gamma is the exponent of the weights, positive; 0 means 1.
	Gamma float64
	// Pilot is where the weights come from; empty means [Ridge].
	Pilot Pilot
}

// Model is the adaptive lasso with its data.
type Model struct{ *regression.Model }

// New checks the rows, split or in folds, and the options, and fits the pilots. It keeps a reference to the data, which
// must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	if o.Gamma == 0 {
		o.Gamma = 1
	}
	if o.Pilot == "" {
		o.Pilot = Ridge
	}
	switch {
	case !(o.Gamma > 0) || math.IsInf(o.Gamma, 1):
		return nil, fmt.Errorf("adaptive: gamma is %v, expected a positive number", o.Gamma)
	case o.Pilot != Ridge && o.Pilot != Lasso:
		return nil, fmt.Errorf("adaptive: unknown pilot %q, expected one of %v", o.Pilot, Pilots())
	}
	data, err := regression.New(s, regression.Options{
		Intercept: o.Intercept, Weighing: true, Standardize: o.Standardize, Scaling: o.Scaling,
	})
	if err != nil {
		return nil, fmt.Errorf("adaptive: %w", err)
	}
	data, fit, err := regression.Fitted(data, fits.Lasso)
	if err != nil {
		return nil, fmt.Errorf("adaptive: %w", err)
	}
	spec, err := elasticnet.Single("adaptive-lasso", data, o.R0, 10, data.Path(pathPoints), data.Norm1)
	if err != nil {
		return nil, fmt.Errorf("adaptive: %w", err)
	}
	spec.Fit, spec.Weights = fit, data.SharedWeights(0, -1)
	pilot := spec
	if o.Pilot == Ridge {
		if _, pilot.Fit, err = regression.Fitted(data, fits.Ridge); err != nil {
			return nil, fmt.Errorf("adaptive: %w", err)
		}
		pilot.Weights = data.SharedWeights(-1, 0)
		pilot.Penalties = func(b, r convex.Affine) []convex.Convex {
			return []convex.Convex{data.HalfSquares(b).MinusAffine(r)}
		}
	}
	m, err := regression.Adaptive(context.Background(), data, spec, pilot, o.Gamma)
	if err != nil {
		return nil, fmt.Errorf("adaptive: %w", err)
	}
	return &Model{m}, nil
}

// Modes are those of [fits.JointNet].
func (*Model) Modes() []lower.Mode {
	return []lower.Mode{lower.Adjoint, lower.Forward, lower.Truncated}
}

// pathPoints is the length of the path for the data-driven start.
const pathPoints = 20
