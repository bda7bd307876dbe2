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
	"slices"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/fits"
	"github.com/conetune/conetune/lower/glm"
	"github.com/conetune/conetune/lower/sparse"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/split"
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
type Model = regression.Differentiable

// New checks the rows, split or in folds, the pilot, where none means [Ridge], the exponent gamma of the weights, where 0
// means 1, and the options, and fits the pilots. It keeps a reference to the data, which must not change.
func New(s dataset.Division, from Pilot, gamma float64, o Options) (*Model, error) {
	if gamma == 0 {
		gamma = 1
	}
	if from == "" {
		from = Ridge
	}
	switch {
	case !(gamma > 0) || math.IsInf(gamma, 1):
		return nil, fmt.Errorf("adaptive: gamma is %v, expected a positive number", gamma)
	case from != Ridge && from != Lasso:
		return nil, fmt.Errorf("adaptive: unknown pilot %q, expected one of %v", from, Pilots())
	}
	return regression.NewNet(s, o, regression.Net{
		Name: "adaptive-lasso", Penalties: regression.Norm1Alone, Fit: regression.Making(fits.Lasso),
		Kind: regression.Kind{Weighing: true, Multipliers: func(train *dataset.Data, intercept bool) ([]float64, error) {
			return multipliers(train, intercept, from, gamma)
		}},
	})
}

// multipliers are 1/w_j.
func multipliers(train *dataset.Data, intercept bool, from Pilot, gamma float64) ([]float64, error) {
	b, err := pilot(context.Background(), train, intercept, from)
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
			out[j] = math.Pow(math.Abs(v)/top, gamma)
		}
	}
	return out, nil
}

const (
	// pilotFolds and pilotSeed deal the training rows out. pilotTol is the gap of the pilot, searchTol that of the fits by
	// which its weight is chosen, which is one of few.
	pilotFolds, pilotSeed, pilotTol, searchTol = 5, 1, 1e-8, 1e-4
	// The weights tried fall from pilotTop times LambdaMax to pilotBottom times it, in so many points at most: until pilotRisen of them are above the least error so far.
	pilotTop, pilotBottom, pilotPoints, pilotRisen = 100, 1e-4, 25, 3
)

// pilotFit fits a pilot to rows but those of each fold, which may leave out none, by its weight: of dense tables the folds together.
func pilotFit(ctx context.Context, rows *dataset.Data, folds []split.Fold, kind Pilot, intercept bool) (lower.Fit, error) {
	n, p := rows.Dims()
	if !rows.Sparse() && glm.Fits(n, p, len(folds)) {
		t := &glm.Table{X: rows.X, Y: [][]float64{rows.Y}, Weights: rows.Weights, Intercept: intercept}
		for _, f := range folds {
			t.Folds = append(t.Folds, f.Val)
		}
		return regression.Either(fits.NewTogether(ctx, t, 1, func(lambda []float64) *glm.Weights {
			if kind == Lasso {
				return &glm.Weights{Norm: slices.Repeat(lambda, p)}
			}
			return &glm.Weights{Norm: make([]float64, p), L2: slices.Repeat(lambda, p)}
		}))
	}
	fit := fits.Ridge
	if kind == Lasso {
		fit = fits.Lasso
	}
	fitRows := func(list []int) fits.Rows {
		d := rows.Rows(list)
		out := fits.NewRows(d.X, d.Y)
		out.Weights = d.Weights
		return out
	}
	return lower.OverFolds(len(folds), func(t int) (lower.Fit, error) {
		train, val := fitRows(folds[t].Train), fitRows(folds[t].Train)
		if len(folds[t].Val) > 0 {
			val = fitRows(folds[t].Val)
		}
		return regression.Either(fit(train, val, intercept, sparse.Terms{}))
	})
}

// pilot returns the coefficients of the pilot at the weight with the least validation error over folds.
func pilot(ctx context.Context, train *dataset.Data, intercept bool, kind Pilot) ([]float64, error) {
	n, p := train.Dims()
	whole, err := pilotFit(ctx, train, []split.Fold{{Train: all(n)}}, kind, intercept)
	if err != nil {
		return nil, err
	}
	top := whole.LambdaMax()
	if !(top > 0) || p == 0 {
		return make([]float64, p), nil
	}
	best := pilotPoints - 1 // of rows that are too few
	if n >= 2*pilotFolds {
		cv, err := dataset.CrossValidate(train, pilotFolds, pilotSeed, nil)
		if err != nil {
			return nil, err
		}
		fit, err := pilotFit(ctx, train, cv.Folds, kind, intercept)
		if err != nil {
			return nil, err
		}
		least := math.Inf(1)
		chain := lower.NewChain(fit, searchTol)
		for k, risen := 0, 0; k < pilotPoints && risen < pilotRisen; k++ {
			pt, err := chain.Solve(ctx, []float64{weight(top, k)})
			if err != nil {
				return nil, err
			}
			switch v := pt.Validation; {
			case v < least:
				best, least, risen = k, v, 0
			case v > least:
				risen++
			}
		}
	}
	pt, err := lower.NewChain(whole, pilotTol).Solve(ctx, []float64{weight(top, best)})
	if err != nil {
		return nil, err
	}
	return pt.X[0], nil
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
