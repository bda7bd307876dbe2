// Package adaptive selects the weight of the adaptive lasso, the lasso whose penalty on a coefficient is the smaller the larger that is in a pilot.
//
// # Formulation
//
// With losses L on validation and l on training rows as in package regression, and the coefficients p of a pilot on the training rows, the bilevel program is
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : sum_j w_j |b_j| <= r },   w_j = (max_i |p_i| / |p_j|)^gamma,
//
// the decoupled form of choosing lambda in min l(b) + lambda sum_j w_j |b_j| (H. Zou, The adaptive lasso and its oracle properties, JASA 101, 2006). It is solved as a
// lasso on features divided by w_j; a feature that the pilot leaves out, as a lasso does, stays out. Only ratios of the weights matter, and the largest feature of the
// pilot has the weight 1. The multiplier of the radius is lambda.
//
// # Pilot
//
// The pilot is ridge regression or the lasso, whose weight is chosen by the validation error over folds of the training rows alone: each fold of a
// cross-validation has a pilot of its own, and the final training one on all rows.
package adaptive

import (
	"context"
	"fmt"
	"math"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/fits"
	"github.com/conetune/conetune/lower/sparse"
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
		Multipliers: func(train *dataset.Data, intercept bool) ([]float64, error) { return multipliers(train, intercept, o) },
	})
	if err != nil {
		return nil, fmt.Errorf("adaptive: %w", err)
	}
	data, fit, err := regression.Fitted(data, fits.LassoFit, fits.LassoTerms)
	if err != nil {
		return nil, fmt.Errorf("adaptive: %w", err)
	}
	spec, err := elasticnet.Single("adaptive-lasso", data, o.R0, 10, data.Path(pathPoints), data.Norm1)
	if err != nil {
		return nil, fmt.Errorf("adaptive: %w", err)
	}
	spec.Fit = fit
	return &Model{regression.NewModel(data, spec)}, nil
}

// Modes are those of [fits.LassoFit].
func (*Model) Modes() []lower.Mode {
	return []lower.Mode{lower.Adjoint, lower.Forward, lower.Truncated}
}

// pathPoints is the length of the path for the data-driven start.
const pathPoints = 20

// multipliers are 1/w_j.
func multipliers(train *dataset.Data, intercept bool, o Options) ([]float64, error) {
	b, err := pilot(context.Background(), train, intercept, o.Pilot)
	if err != nil {
		return nil, err
	}
	top := 0.0
	for _, v := range b {
		top = math.Max(top, math.Abs(v))
	}
	out := make([]float64, len(b))
	for j, v := range b {
		if out[j] = 1; top > 0 {
			out[j] = math.Pow(math.Abs(v)/top, o.Gamma)
		}
	}
	return out, nil
}

const (
	// pilotFolds and pilotSeed deal the training rows out, pilotTol is the gap of fits.
	pilotFolds, pilotSeed, pilotTol = 5, 1, 1e-8
	// The weights tried fall from pilotTop times LambdaMax to pilotBottom times it, in so many points.
	pilotTop, pilotBottom, pilotPoints = 100, 1e-4, 25
)

// pilotFit fits a pilot to some rows by their weights, with the error on others.
func pilotFit(kind Pilot, intercept bool) func(train, val *dataset.Data) (lower.Penalised, error) {
	plain, weighed := fits.RidgeFit, fits.RidgeTerms
	if kind == Lasso {
		plain, weighed = fits.LassoFit, fits.LassoTerms
	}
	rows := func(d *dataset.Data) fits.Rows {
		out := fits.NewRows(d.X, d.Y)
		out.Weights = d.Weights
		return out
	}
	return func(train, val *dataset.Data) (lower.Penalised, error) {
		if train.Weights != nil {
			return regression.Either(weighed(rows(train), rows(val), intercept, sparse.Terms{}))
		}
		return regression.Either(plain(rows(train), rows(val), intercept))
	}
}

// pilot returns the coefficients of the pilot at the weight with the least validation error over folds.
func pilot(ctx context.Context, train *dataset.Data, intercept bool, kind Pilot) ([]float64, error) {
	of := pilotFit(kind, intercept)
	whole, err := of(train, train)
	if err != nil {
		return nil, err
	}
	_, p := train.Dims()
	top := whole.LambdaMax()
	if !(top > 0) || p == 0 {
		return make([]float64, p), nil
	}
	parts := &dataset.CrossValidation{Data: train, Folds: []dataset.Fold{{Train: all(len(train.Y)), Val: all(len(train.Y))}}}
	if len(train.Y) >= 2*pilotFolds {
		if parts, err = dataset.CrossValidate(train, pilotFolds, pilotSeed, nil); err != nil {
			return nil, err
		}
	}
	errors := make([]float64, pilotPoints)
	for _, part := range parts.Parts() {
		fit, err := of(part.Train, part.Val)
		if err != nil {
			return nil, err
		}
		chain := lower.NewChain(fit, pilotTol)
		for k := range errors {
			pt, err := chain.Solve(ctx, []float64{weight(top, k)})
			if err != nil {
				return nil, err
			}
			errors[k] += pt.Validation
		}
	}
	best := 0
	for k, e := range errors {
		if e < errors[best] {
			best = k
		}
	}
	chain := lower.NewChain(whole, pilotTol)
	for k := range best + 1 {
		pt, err := chain.Solve(ctx, []float64{weight(top, k)})
		if err != nil {
			return nil, err
		}
		if k == best {
			return pt.X[0], nil
		}
	}
	return nil, nil // not reached: best is an index of the errors
}

// weight is point k of the path.
func weight(top float64, k int) float64 {
	return top * pilotTop * math.Pow(pilotBottom/pilotTop, float64(k)/(pilotPoints-1))
}

func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
