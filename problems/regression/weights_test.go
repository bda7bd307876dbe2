package regression_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/problems/groups"
	lassomodel "github.com/conetune/conetune/problems/lasso"
	"github.com/conetune/conetune/problems/logistic"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/ridge"
	"github.com/conetune/conetune/problems/sgl"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/problems/wlasso"
	"github.com/conetune/conetune/tune"
)

// counted gives the rows of a cross-validation weights of 1 to 4, and returns it with each row as often as its weight says, too.
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
		repeated.Folds = append(repeated.Folds, dataset.Fold{Train: again(f.Train), Val: again(f.Val)})
	}
	return weighted, repeated
}

// Rows with integer weights give what the rows give that are there as often: units, choice, errors and the final fit, by fits and by conic programs,
// in folds and split, with an intercept and without.
func TestWeightsAreRepeatedRows(t *testing.T) {
	weighted, repeated := counted(t)
	split := func(cv *dataset.CrossValidation) *dataset.Split {
		f := cv.Folds[0]
		return &dataset.Split{Train: cv.Data.Rows(f.Train), Val: cv.Data.Rows(f.Val), Test: cv.Test}
	}
	g, err := groups.Equal(6, 3)
	require.NoError(t, err)
	for _, intercept := range []bool{true, false} {
		for name, build := range map[string]func(dataset.Division) (tune.Model, error){
			"elastic-net": func(d dataset.Division) (tune.Model, error) {
				return elasticnet.New(d, elasticnet.Options{Standardize: true, Intercept: intercept})
			},
			"lasso": func(d dataset.Division) (tune.Model, error) {
				return lassomodel.New(d, lassomodel.Options{Intercept: intercept})
			},
			"ridge": func(d dataset.Division) (tune.Model, error) {
				return ridge.New(d, ridge.Options{Standardize: true, Intercept: intercept})
			},
			"weighted-lasso": func(d dataset.Division) (tune.Model, error) {
				return wlasso.New(d, wlasso.Options{Standardize: true, Intercept: intercept})
			},
			"sparse-group-lasso": func(d dataset.Division) (tune.Model, error) {
				return sgl.New(d, g, sgl.Options{Standardize: true, Intercept: intercept})
			},
		} {
			for _, pair := range [][2]dataset.Division{{weighted, repeated}, {split(weighted), split(repeated)}} {
				for _, config := range []tune.Config{{Method: tune.MethodGrid, Evaluations: 9}, {Method: tune.MethodVFiDCA}, {Method: tune.MethodGrid, Evaluations: 4, Engine: tune.EngineConic}} {
					var results []*tune.Result
					for _, rows := range pair {
						m, err := build(rows)
						require.NoError(t, err)
						config.Ranges = []tune.Range{{Low: 1e-3, High: 0.3}}
						if config.Method == tune.MethodVFiDCA {
							config.Ranges, config.MaxIter = nil, 3
						}
						r, err := tune.Run(context.Background(), m, config)
						require.NoError(t, err)
						results = append(results, r)
					}
					a, b := results[0], results[1]
					tol := 1e-5                             // fits are exact to 1e-8 of their objectives
					if config.Method == tune.MethodVFiDCA { // steps end where they are small
						tol = 1e-3
					}
					require.InEpsilon(t, b.Refit.Validation, a.Refit.Validation, tol, name)
					require.InEpsilon(t, *b.Refit.Test, *a.Refit.Test, tol, name)
					require.InDeltaSlice(t, b.RefitFit.Coefficients, a.RefitFit.Coefficients, 10*tol, name)
					require.InDelta(t, b.RefitFit.Intercept, a.RefitFit.Intercept, 10*tol, name)
				}
			}
		}
	}
}

// What cannot carry weights says so.
func TestWeightsRefused(t *testing.T) {
	weighted, _ := counted(t)
	_, err := elasticnet.New(&dataset.CrossValidation{Data: weighted.Data.Compress(), Folds: weighted.Folds}, elasticnet.Options{Intercept: true})
	require.ErrorContains(t, err, "a sparse table with weights of rows goes without an intercept")
	_, err = elasticnet.New(&dataset.CrossValidation{Data: weighted.Data.Compress(), Folds: weighted.Folds}, elasticnet.Options{})
	require.NoError(t, err)
	labels := weighted.Map(func(y float64) float64 { return map[bool]float64{true: 1}[y > 0] }).(*dataset.CrossValidation)
	_, err = logistic.New(labels, logistic.Options{Intercept: true})
	require.ErrorContains(t, err, "rows with weights go with squared losses")
	_, err = svm.New(labels, svm.Options{})
	require.ErrorContains(t, err, "rows with weights")
}

// Rows that are held back are scored by their weights, and the others choose by theirs.
func TestWeightsHeldBack(t *testing.T) {
	weighted, _ := counted(t)
	f := weighted.Folds[0]
	val := weighted.Data.Rows(f.Val)
	m, err := lassomodel.New(&dataset.Split{Train: weighted.Data.Rows(f.Train), Val: val}, lassomodel.Options{Intercept: true})
	require.NoError(t, err)
	b, b0 := []float64{1, 0.5, -1, 0, 2, 0}, 0.3
	mean := func(keep func(i int) bool) float64 {
		sum, total := 0.0, 0.0
		for i, y := range val.Y {
			if keep(i) {
				r := y - b0
				for j, c := range b {
					r -= c * val.X.At(i, j)
				}
				sum, total = sum+val.Weights[i]*r*r/2, total+val.Weights[i]
			}
		}
		return sum / total
	}
	x := [][]float64{b, {b0}}
	require.InEpsilon(t, mean(func(int) bool { return true }), m.Evaluate(x).Validation, 1e-12)
	for k, held := range m.HoldBack(2) {
		require.InEpsilon(t, mean(func(i int) bool { return i%2 == k }), held.Error(x), 1e-9)
		less := held.Model().(*regression.Model)
		_, rows, _ := less.Data().Rows()
		sum := 0.0
		for i, y := range rows.Y {
			r := y - b0
			for j, c := range b {
				r -= c * rows.X.At(i, j)
			}
			sum += r * r / 2 / float64(len(rows.Y))
		}
		require.InEpsilon(t, mean(func(i int) bool { return i%2 != k }), sum, 1e-9)
	}
}
