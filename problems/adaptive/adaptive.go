// Package adaptive selects the weight of the adaptive lasso, the lasso whose penalty on a coefficient is the smaller
// the larger that is in a pilot.
//
// # Formulation
//
// With losses L on validation and l on training rows as in package regression, and the coefficients p of a pilot on the
// training rows, the bilevel program is
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : sum_j w_j |b_j| <= r },   w_j = (max_i |p_i| / |p_j|)^gamma,
//
// the decoupled form of choosing lambda in min l(b) + lambda sum_j w_j |b_j| (H. Zou, The adaptive lasso and its oracle
// properties, JASA 101, 2006). Only ratios of the weights matter, and the largest feature of the pilot has the
// weight 1. A feature that the pilot leaves out, as a lasso does, or whose weight would be more than 1e6, stays out.
// The multiplier of the radius is lambda.
//
// # Pilot
//
// The pilot is ridge regression or the lasso, of each fold fitted to its training rows and in the final training to all
// rows, with one weight, that of the least validation error. It is the rung below on a ladder, see
// [regression.NewAdaptive].
package adaptive

import (
	"context"
	"fmt"
	"math"

	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/problems/dataset"
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

// Options are [regression.Options].
type Options = regression.Options

// Model is the adaptive lasso with its data.
type Model = regression.Model

// New checks the rows, split or in folds, the pilot, where none means [Ridge], the exponent gamma of the weights, where
// 0 means 1, and the options, and fits the pilots. It keeps a reference to the data, which must not change.
func New(s dataset.Division, from Pilot, gamma float64, o Options) (*Model, error) {
	if gamma == 0 {
		gamma = 1
	}
	net := regression.Net{
		Name: "adaptive-lasso", Kind: regression.Kind{Weighing: true}, Penalties: regression.Norm1Alone,
		Fit: regression.Making(fits.Lasso),
	}
	pilot := net
	switch {
	case !(gamma > 0) || math.IsInf(gamma, 1):
		return nil, fmt.Errorf("adaptive: gamma is %v, expected a positive number", gamma)
	case from == "" || from == Ridge:
		pilot.Penalties, pilot.Fit = regression.SquaresAlone, regression.Making(fits.Ridge)
	case from != Lasso:
		return nil, fmt.Errorf("adaptive: unknown pilot %q, expected one of %v", from, Pilots())
	}
	return regression.NewAdaptive(context.Background(), s, o, net, pilot, gamma)
}
