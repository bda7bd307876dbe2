package regression_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/problems/adaptive"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/huber"
	lassomodel "github.com/conetune/conetune/problems/lasso"
	"github.com/conetune/conetune/problems/logistic"
	"github.com/conetune/conetune/problems/multinomial"
	"github.com/conetune/conetune/problems/poisson"
	"github.com/conetune/conetune/problems/quantile"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/ridge"
	"github.com/conetune/conetune/problems/sgl"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/problems/wlasso"
	"github.com/conetune/conetune/table/split"
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
		repeated.Folds = append(repeated.Folds, split.Fold{Train: again(f.Train), Val: again(f.Val)})
	}
	return weighted, repeated
}

// Rows with integer weights give what the rows give that are there as often: units, choice, errors and the final fit, by fits and by conic programs,
// in folds and split, with an intercept and without.
func TestWeightsAreRepeatedRows(t *testing.T) {
	weighted, repeated := counted(t)
	sample := func(cv *dataset.CrossValidation) *dataset.Split {
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
			for _, pair := range [][2]dataset.Division{{weighted, repeated}, {sample(weighted), sample(repeated)}} {
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

// classified has two labels, or three, in the place of the targets.
func classified(d dataset.Division, classes int) *dataset.CrossValidation {
	return d.Map(func(y float64) float64 {
		k := 0.0
		if y > 0 {
			k++
		}
		if classes > 2 && y > 2 {
			k++
		}
		return k
	}).(*dataset.CrossValidation)
}

// The same for losses that are weighed row by row, and for sparse tables with an intercept.
func TestWeightsOfOtherLosses(t *testing.T) {
	weighted, repeated := counted(t)
	count := func(d dataset.Division) dataset.Division {
		return d.Map(func(y float64) float64 { return math.Floor(math.Exp(math.Min(2, y/3))) })
	}
	compressed := func(d dataset.Division) dataset.Division {
		cv := d.(*dataset.CrossValidation)
		return &dataset.CrossValidation{Data: cv.Data.Compress(), Folds: cv.Folds, Test: cv.Test.Compress()}
	}
	g, err := groups.Equal(6, 3)
	require.NoError(t, err)
	for name, build := range map[string]func(dataset.Division) (tune.Model, error){
		"logistic": func(d dataset.Division) (tune.Model, error) {
			return logistic.New(classified(d, 2), logistic.Options{Standardize: true, Intercept: true})
		},
		"logistic, terms": func(d dataset.Division) (tune.Model, error) {
			return logistic.New(classified(d, 2), logistic.Options{Intercept: true, Terms: regression.Terms{Factors: []float64{0, 1, 1, 2, 1, 1}}})
		},
		"multinomial": func(d dataset.Division) (tune.Model, error) {
			return multinomial.New(classified(d, 3), multinomial.Options{Standardize: true, Intercept: true})
		},
		"poisson": func(d dataset.Division) (tune.Model, error) {
			return poisson.New(count(d), poisson.Options{Standardize: true, Intercept: true})
		},
		"huber": func(d dataset.Division) (tune.Model, error) {
			return huber.New(d, 0, huber.Options{Standardize: true, Intercept: true})
		},
		"quantile": func(d dataset.Division) (tune.Model, error) {
			return quantile.New(d, 0.3, quantile.Options{Intercept: true})
		},
		"svm": func(d dataset.Division) (tune.Model, error) {
			return svm.New(classified(d, 2), svm.Options{Standardize: true, Balanced: true})
		},
		"sparse elastic-net": func(d dataset.Division) (tune.Model, error) {
			return elasticnet.New(compressed(d), elasticnet.Options{Standardize: true, Intercept: true})
		},
		"sparse lasso": func(d dataset.Division) (tune.Model, error) {
			return lassomodel.New(compressed(d), lassomodel.Options{Intercept: true})
		},
		"sparse ridge": func(d dataset.Division) (tune.Model, error) {
			return ridge.New(compressed(d), ridge.Options{Intercept: true})
		},
		"sparse logistic": func(d dataset.Division) (tune.Model, error) {
			return logistic.New(classified(compressed(d), 2), logistic.Options{Intercept: true})
		},
		"sparse weighted-lasso": func(d dataset.Division) (tune.Model, error) {
			return wlasso.New(compressed(d), wlasso.Options{Intercept: true})
		},
		"sparse groups": func(d dataset.Division) (tune.Model, error) {
			return sgl.New(compressed(d), g, sgl.Options{Intercept: true})
		},
	} {
		configs := []tune.Config{{Method: tune.MethodGrid, Evaluations: 4}, {Method: tune.MethodVFiDCA, MaxIter: 2}}
		if name == "svm" || name == "sparse weighted-lasso" {
			configs[0] = tune.Config{Method: tune.MethodRandom, Evaluations: 6}
		}
		if name != "svm" && name[0] != 's' {
			configs = append(configs, tune.Config{Method: tune.MethodGrid, Evaluations: 4, Engine: tune.EngineConic})
		}
		for _, config := range configs {
			if config.Method != tune.MethodVFiDCA && name != "svm" {
				config.Ranges = []tune.Range{{Low: 1e-3, High: 0.3}}
			}
			var results []*tune.Result
			for _, rows := range []dataset.Division{weighted, repeated} {
				m, err := build(rows)
				require.NoError(t, err, name)
				r, err := tune.Run(context.Background(), m, config)
				require.NoError(t, err, name)
				results = append(results, r)
			}
			a, b := results[0], results[1]
			tol := 1e-4
			if config.Method == tune.MethodVFiDCA {
				tol = 1e-2
			}
			where := name + " " + config.Method
			require.InEpsilon(t, b.Refit.Validation, a.Refit.Validation, tol, where)
			require.InDelta(t, *b.Refit.Test, *a.Refit.Test, tol*(1+*b.Refit.Test), where)
			require.InDeltaSlice(t, b.RefitFit.Coefficients, a.RefitFit.Coefficients, 10*tol, where)
			require.InDelta(t, b.RefitFit.Intercept, a.RefitFit.Intercept, 10*tol, where)
		}
	}
}

// Weights of the adaptive lasso have no unit.
func TestWeightsOfAdaptive(t *testing.T) {
	weighted, _ := counted(t)
	fit := func(of func(cv *dataset.CrossValidation) *dataset.CrossValidation, scale float64) tune.Fit {
		cv := of(&dataset.CrossValidation{Data: weighted.Data.Rows(indices.Range(0, len(weighted.Data.Y))), Folds: weighted.Folds})
		for i := range cv.Data.Weights {
			cv.Data.Weights[i] = 1
			if scale != 1 {
				cv.Data.Weights[i] = scale
			}
		}
		if scale == 0 {
			cv.Data.Weights = nil
		}
		m, err := adaptive.New(cv, "", 0, adaptive.Options{Intercept: true})
		require.NoError(t, err)
		r, err := tune.Run(context.Background(), m, tune.Config{Method: tune.MethodGrid, Evaluations: 9, Ranges: []tune.Range{{Low: 1e-3, High: 0.3}}})
		require.NoError(t, err)
		return r.RefitFit
	}
	dense := func(cv *dataset.CrossValidation) *dataset.CrossValidation { return cv }
	compressed := func(cv *dataset.CrossValidation) *dataset.CrossValidation {
		return &dataset.CrossValidation{Data: cv.Data.Compress(), Folds: cv.Folds}
	}
	want := fit(dense, 0)
	for _, of := range []func(*dataset.CrossValidation) *dataset.CrossValidation{dense, compressed} {
		for _, scale := range []float64{1, 3.5} {
			got := fit(of, scale)
			require.InDeltaSlice(t, want.Coefficients, got.Coefficients, 1e-5)
			require.InDelta(t, want.Intercept, got.Intercept, 1e-5)
		}
	}
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
}
