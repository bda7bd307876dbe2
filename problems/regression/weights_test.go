package regression_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// counted gives the rows of a cross-validation weights of 1 to 4, and returns it with each row as often as its weight
// says, too.
func counted(t *testing.T) (weighted, repeated *dataset.CrossValidation) {
	t.Helper()
	weighted = crossValidation(t)
	random := rand.New(rand.NewPCG(4, 4))
	give := func(d *dataset.Data) (index []int, first []int) {
		d.Weights = make([]float64, len(d.Y))
		for i := range d.Weights {
			times := 1 + random.IntN(4)
			d.Weights[i] = float64(times)
			first = append(first, len(index))
			index = append(index, slices.Repeat([]int{i}, times)...)
		}
		return index, first
	}
	index, first := give(weighted.Data)
	tests, _ := give(weighted.Test)
	repeated = &dataset.CrossValidation{Data: weighted.Data.Rows(index), Test: weighted.Test.Rows(tests)}
	repeated.Data.Weights, repeated.Test.Weights = nil, nil
	again := func(rows []int) (list []int) {
		for _, i := range rows {
			for k := range int(weighted.Data.Weights[i]) {
				list = append(list, first[i]+k)
			}
		}
		return list
	}
	for _, f := range weighted.Folds {
		repeated.Folds = append(repeated.Folds, split.Fold{Train: again(f.Train), Val: again(f.Val)})
	}
	return weighted, repeated
}

// sameTuned tunes models of two tables that say the same, and compares choice, errors and the final fit.
func sameTuned(t *testing.T, where string, config tune.Config, tol float64, models ...func() (problems.Model, error)) {
	t.Helper()
	var results []*tune.Result
	for _, build := range models {
		m, err := build()
		require.NoError(t, err, where)
		r, err := tune.Run(context.Background(), m, config)
		require.NoError(t, err, where)
		results = append(results, r)
	}
	a, b := results[0], results[1]
	require.InEpsilon(t, b.Refit.Validation, a.Refit.Validation, tol, where)
	require.InEpsilon(t, *b.Refit.Test, *a.Refit.Test, tol, where)
	require.InDeltaSlice(t, b.RefitFit.Coefficients, a.RefitFit.Coefficients, 10*tol, where)
	require.InDelta(t, b.RefitFit.Intercept, a.RefitFit.Intercept, 10*tol, where)
}

// Rows with integer weights give what the rows give that are there as often: units, choice, errors and the final fit,
// by fits and by conic programs, in folds and split, with an intercept and without.
func TestWeightsAreRepeatedRows(t *testing.T) {
	weighted, repeated := counted(t)
	sample := func(cv *dataset.CrossValidation) *dataset.Split {
		f := cv.Folds[0]
		return &dataset.Split{Train: cv.Data.Rows(f.Train), Val: cv.Data.Rows(f.Val), Test: cv.Test}
	}
	ranges := []tune.Range{{Low: 1e-3, High: 0.3}}
	grid := tune.Config{Method: tune.MethodGrid, Evaluations: 4, Ranges: ranges}
	conic := tune.Config{Method: tune.MethodGrid, Evaluations: 4, Engine: tune.EngineConic, Ranges: ranges}
	for name, build := range some(t, "elastic-net", "lasso", "ridge", "weighted-lasso", "sparse-group-lasso") {
		for _, o := range []options{{Standardize: true, Intercept: true}, {}, {Intercept: true}, {Standardize: true}} {
			if o.Standardize != o.Intercept && name != "lasso" {
				continue
			}
			for _, pair := range [][2]dataset.Division{{weighted, repeated}, {sample(weighted), sample(repeated)}} {
				of := func(k int) func() (problems.Model, error) {
					return func() (problems.Model, error) { return build(pair[k], o) }
				}
				nine := grid
				nine.Evaluations = 9
				sameTuned(t, name, nine, 1e-5, of(0), of(1)) // fits are exact to 1e-8 of their objectives
				sameTuned(t, name, conic, 1e-5, of(0), of(1))
				sameTuned(t, name, tune.Config{MaxIter: 3}, 1e-3, of(0), of(1)) // steps end where they are small
			}
		}
	}
	// Losses that are weighed row by row, and sparse tables with an intercept.
	o := options{Standardize: true, Intercept: true}
	for name, build := range some(t, "logistic", "multinomial", "poisson", "huber", "quantile", "weighted-logistic",
		"weighted-poisson") {
		of := func(d dataset.Division) func() (problems.Model, error) {
			return func() (problems.Model, error) { return build(d, o) }
		}
		sameTuned(t, name, grid, 1e-4, of(weighted), of(repeated))
		sameTuned(t, name, conic, 1e-4, of(weighted), of(repeated))
		sameTuned(t, name, tune.Config{MaxIter: 2}, 1e-2, of(weighted), of(repeated))
	}
	o = options{Intercept: true}
	for name, build := range some(t, "elastic-net", "lasso", "ridge", "logistic", "weighted-lasso", "sparse-group-lasso") {
		of := func(d dataset.Division) func() (problems.Model, error) {
			return func() (problems.Model, error) { return build(compressed(d), o) }
		}
		search := grid
		if name == "weighted-lasso" {
			search = tune.Config{Method: tune.MethodRandom, Evaluations: 6, Ranges: ranges}
		}
		sameTuned(t, "sparse "+name, search, 1e-4, of(weighted), of(repeated))
		sameTuned(t, "sparse "+name, tune.Config{MaxIter: 2}, 1e-2, of(weighted), of(repeated))
	}
	o.Terms.Factors = []float64{0, 1, 1, 2, 1, 1}
	termed := func(d dataset.Division) func() (problems.Model, error) {
		return func() (problems.Model, error) { return regression.Logistic(classified(d, 2), o) }
	}
	sameTuned(t, "logistic, terms", grid, 1e-4, termed(weighted), termed(repeated))
	sameTuned(t, "logistic, terms", conic, 1e-4, termed(weighted), termed(repeated))
	sameTuned(t, "logistic, terms", tune.Config{MaxIter: 2}, 1e-2, termed(weighted), termed(repeated))
	machine := func(d dataset.Division) func() (problems.Model, error) {
		return func() (problems.Model, error) {
			return svm.New(classified(d, 2).(*dataset.CrossValidation), svm.Options{Standardize: true,
				ClassWeights: classified(d, 2).Table().Balanced([]float64{0, 1})})
		}
	}
	sameTuned(t, "svm", tune.Config{Method: tune.MethodRandom, Evaluations: 6}, 1e-4, machine(weighted), machine(repeated))
	sameTuned(t, "svm", tune.Config{MaxIter: 2}, 1e-2, machine(weighted), machine(repeated))
}

// Weights of the adaptive lasso have no unit.
func TestWeightsOfAdaptive(t *testing.T) {
	weighted, _ := counted(t)
	fit := func(of func(dataset.Division) dataset.Division, scale float64) problems.Fit {
		cv := of(&dataset.CrossValidation{Data: weighted.Data.Rows(indices.Range(0, len(weighted.Data.Y))),
			Test: weighted.Test, Folds: weighted.Folds}).(*dataset.CrossValidation)
		for i := range cv.Data.Weights {
			cv.Data.Weights[i] = 1
			if scale != 1 {
				cv.Data.Weights[i] = scale
			}
		}
		if scale == 0 {
			cv.Data.Weights = nil
		}
		m := must.Of(regression.AdaptiveLasso(cv, options{Intercept: true}))(t)
		r := must.Of(tune.Run(context.Background(), m, tune.Config{Method: tune.MethodGrid, Evaluations: 9,
			Ranges: []tune.Range{{Low: 1e-3, High: 0.3}}}))(t)
		return r.RefitFit
	}
	dense := func(d dataset.Division) dataset.Division { return d }
	want := fit(dense, 0)
	for _, of := range []func(dataset.Division) dataset.Division{dense, compressed} {
		for _, scale := range []float64{1, 3.5} {
			got := fit(of, scale)
			require.InDeltaSlice(t, want.Coefficients, got.Coefficients, 1e-5)
			require.InDelta(t, want.Intercept, got.Intercept, 1e-5)
		}
	}
}
