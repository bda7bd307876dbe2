package tune_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/libsvm"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/tune"
)

// scored is the model of TestCustomBlocks with one fold, whose errors are finite for some points only.
func scored(finite func(x float64) bool, value float64) tune.Custom {
	return tune.Custom{
		Bilevel: folded("scored", []float64{3}, []float64{1}, halfSquares),
		Score: func(x [][]float64) problems.Errors {
			e := problems.Errors{Validation: math.Pow(x[0][0]-1, 2) / 2}
			if !finite(x[0][0]) {
				e.Validation = value
			}
			return e
		},
	}
}

// requireValid checks what is written about a run, and returns the result as it was read again.
func requireValid(t *testing.T, r *tune.Result) map[string]any {
	text := must.Of(json.Marshal(r))(t)
	var read map[string]any
	require.NoError(t, json.Unmarshal(text, &read))
	for _, e := range r.Trace {
		line := must.Of(json.Marshal(e))(t)
		require.True(t, json.Valid(line))
	}
	return read
}

// No method selects a point whose error is infinite or no number, and none is converged without another.
func TestErrorsThatAreNotFinite(t *testing.T) {
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, method := range []string{"vf-idca", "vf-idca-t", "grid", "random", "tpe", "tpe2", "cma-es"} {
			name := fmt.Sprintf("%v by %s", value, method)
			c := tune.Config{Method: method, Evaluations: 20, Seed: 1, Ranges: []tune.Range{{Low: 0.1, High: 10}}}

			r, err := tune.Run(context.Background(), scored(func(float64) bool { return false }, value), c)
			require.NoError(t, err, name)
			require.Equal(t, outcome.NumericalError, r.Status, name)
			require.Contains(t, r.Message, "not a finite number", name)
			require.Nil(t, r.Refit, name)
			require.Nil(t, r.Selection, name)
			read := requireValid(t, r)
			require.Equal(t, "numerical_error", read["status"])
			require.Nil(t, read["validation_error"], name)
			require.Nil(t, read["refit"], name)

			// Of the points from 1.5 on, the finite ones, the best one met is kept.
			r, err = tune.Run(context.Background(), scored(func(x float64) bool { return x > 1.5 }, value), c)
			require.NoError(t, err, name)
			requireValid(t, r)
			require.NotNil(t, r.Refit, name)
			x := r.Selection.X[0][0]
			require.Greater(t, x, 1.5, name)
			require.InDelta(t, math.Pow(x-1, 2)/2, r.Refit.Validation, 1e-12, name)
			if method == "vf-idca" || method == "vf-idca-t" {
				require.Equal(t, outcome.NumericalError, r.Status, name)
				require.Len(t, r.Trace, r.Iterations, name)
			}
			for _, e := range r.Trace {
				if e.Refit != nil {
					require.False(t, math.IsNaN(e.Refit.Validation) || math.IsInf(e.Refit.Validation, 0), name)
				}
			}
		}
	}
}

// A program whose losses overflow, though the conic solver has found its scaled numbers well.
func TestLossesThatOverflow(t *testing.T) {
	for _, big := range []float64{1e154, 1e160, 1e200, 1e300} {
		for _, method := range []string{"vf-idca", "grid", "tpe", "cma-es"} {
			model := tune.Custom{Bilevel: folded("big", []float64{3 * big}, []float64{big}, halfSquares)}
			r, err := tune.Run(context.Background(), model, tune.Config{Method: method, Evaluations: 5,
				Ranges: []tune.Range{{Low: 0.1, High: 10}}})
			if err != nil {
				continue // the data are refused
			}
			requireValid(t, r)
			require.NotEqual(t, outcome.Converged, r.Status, "%g by %s", big, method)
		}
	}
}

// Targets whose squares overflow are refused with the model.
func TestTargetsTooLarge(t *testing.T) {
	for _, at := range []string{"target", "feature"} {
		s := *sample(t)
		train := *s.Train
		if at == "target" {
			train.Y = append([]float64{-1e71}, train.Y[1:]...)
		} else {
			x := train.Rows([]int{0, 1, 2}).Dense()
			x.Set(0, 0, 1e200)
			train = dataset.Data{X: x, Y: train.Y[:3], Features: train.Features, Target: train.Target}
		}
		s.Train = &train
		_, err := regression.ElasticNet(&s, regression.Options{})
		require.ErrorContains(t, err, "of row 0 is")
		require.ErrorContains(t, err, "expected at most 1e+70")
	}
	require.Empty(t, dataset.Expected(-1e70))
}

// The settings of a run have bounds, in the configuration as in package dca.
func TestSettingsBeyondTheirBounds(t *testing.T) {
	m := model(t, regression.Options{})
	for _, c := range []struct {
		config tune.Config
		want   string
	}{
		{tune.Config{Rho: 1e300}, "rho is 1e+300, expected 1e-12 to 1e+12"},
		{tune.Config{Rho: 1e-300}, "rho is 1e-300, expected 1e-12 to 1e+12"},
		{tune.Config{Delta: 1e30}, "delta is 1e+30"},
		{tune.Config{CAlpha: 1e13}, "c-alpha is 1e+13"},
		{tune.Config{Tol: 2}, "tol is 2, expected 0 to 1"},
		{tune.Config{GapTol: 1e9}, "gap-tol is 1e+09"},
		{tune.Config{Epsilon: 1e13}, "epsilon is 1e+13"},
	} {
		require.ErrorContains(t, c.config.Validate(), c.want)
		_, err := tune.Run(context.Background(), m, c.config)
		require.ErrorContains(t, err, c.want)
	}
	require.NoError(t, tune.Config{Rho: 1e12, Delta: 1e12, CAlpha: 1e-12, Tol: 1}.Validate())
	// Within the bounds the extremes end in one way or another, with numbers.
	for _, c := range []tune.Config{{Rho: 1e12}, {Rho: 1e-12}, {CAlpha: 1e12, Delta: 1e12}, {Tol: 1e-300, GapTol: 1e-300,
		MaxIter: 40}, {Epsilon: 1e12}} {
		r := must.Of(tune.Run(context.Background(), m, c))(t)
		requireValid(t, r)
	}
}

// mostlyZeros is a table of the given rows and features of which a fifth is not zero; two columns are zero, and one is
// constant.
func mostlyZeros(seed uint64, n, p int, target func(f float64) float64) *dataset.Data {
	rng := rand.New(rand.NewPCG(seed, 12))
	x := mat.NewDense(n, p, nil)
	d := &dataset.Data{X: x, Y: make([]float64, n), Features: libsvm.Names(p), Target: "y"}
	for i := range n {
		f := 0.3 * rng.NormFloat64()
		for j := range p {
			switch {
			case j == 3:
				x.Set(i, j, 0.5)
			case j%11 == 5: // zero
			case rng.IntN(6) == 0:
				v := float64(1+j%4) * (1 + rng.NormFloat64())
				x.Set(i, j, v)
				f += v * []float64{1, 0, -0.5}[j%3] / float64(1+j%4)
			}
		}
		d.Y[i] = target(f)
	}
	return d
}

// compressed is a division of the sparse form of the same rows.
func compressed(d dataset.Division) dataset.Division {
	switch d := d.(type) {
	case *dataset.Split:
		return &dataset.Split{Train: d.Train.Compress(), Val: d.Val.Compress(), Test: d.Test.Compress()}
	case *dataset.CrossValidation:
		return &dataset.CrossValidation{Data: d.Data.Compress(), Folds: d.Folds, Test: d.Test.Compress()}
	}
	panic("no such division")
}

// Whether a table is sparse or dense, the lower-level solutions are the same in the user's units, and so are their
// errors, and the predictor that is trained on all rows, also of models without a fast fit.
func TestSparseTablesGiveTheSameFits(t *testing.T) {
	number := func(f float64) float64 { return f }
	label := func(f float64) float64 { return math.Copysign(1, f) }
	tally := func(f float64) float64 { return math.Round(math.Exp(math.Min(f, 3))) }
	type options = regression.Options
	type builder func(d dataset.Division, o options) (problems.Model, error)
	of := func(build func(dataset.Division, options) (*regression.Model, error)) builder {
		return func(d dataset.Division, o options) (problems.Model, error) { return build(d, o) }
	}
	weights := make([]float64, 30)
	for j := range weights {
		weights[j] = 0.01 * float64(1+j%4)
	}
	for name, c := range map[string]struct {
		build  builder
		target func(float64) float64
		lambda []float64
		folds  bool
	}{
		"elastic net": {of(regression.ElasticNet), number, []float64{0.03, 0.01}, false},
		"elastic net without intercept": {func(d dataset.Division, o options) (problems.Model, error) {
			o.Intercept = false
			return regression.ElasticNet(d, o)
		}, number, []float64{0.03, 0.01}, false},
		"elastic net of folds": {of(regression.ElasticNet), number, []float64{0.03, 0.01}, true},
		"bounded elastic net":  {of(regression.BoundedElasticNet), number, []float64{0.02, 0.01}, false},
		"weighted lasso":       {of(regression.WeightedLasso), number, weights, false},
		"sparse group lasso": {func(d dataset.Division, o options) (problems.Model, error) {
			o.Groups = must.Of(groups.Equal(30, 6))(t)
			return regression.SparseGroupLasso(d, o)
		}, number, []float64{0.01, 0.02, 0.03, 0.01, 0.02, 0.03, 0.01}, false},
		"logistic":          {of(regression.Logistic), label, []float64{0.01, 0.02}, false},
		"logistic of folds": {of(regression.Logistic), label, []float64{0.01, 0.02}, true},
		"poisson":           {of(regression.Poisson), tally, []float64{0.02, 0.02}, false},
		"machine of folds": {func(d dataset.Division, o options) (problems.Model, error) {
			return svm.New(d.(*dataset.CrossValidation), svm.Options{Standardize: o.Standardize, Scaling: o.Scaling})
		}, label, slices.Repeat([]float64{0.3}, 31), true},
	} {
		t.Run(name, func(t *testing.T) {
			var division dataset.Division = &dataset.Split{Train: mostlyZeros(1, 60, 30, c.target), Val: mostlyZeros(2, 40, 30,
				c.target), Test: mostlyZeros(3, 40, 30, c.target)}
			if c.folds {
				cv := must.Of(dataset.CrossValidate(mostlyZeros(1, 90, 30, c.target), 3, 1, nil))(t)
				cv.Test = mostlyZeros(3, 40, 30, c.target)
				division = cv
			}
			require.True(t, division.Table().MostlyZero())
			for _, o := range []options{ // all that do not depend on how a table is kept
				{Intercept: true, Scaling: dataset.ByTable},
				{Intercept: true, Standardize: true, Scaling: dataset.ByDeviation},
				{Intercept: true, Standardize: true, Scaling: dataset.ByLargest},
			} {
				dense := must.Of(c.build(division, o))(t)
				sparse := must.Of(c.build(compressed(division), o))(t)
				if name != "bounded elastic net" {
					a, before := solved(t, dense, c.lambda)
					b, after := solved(t, sparse, c.lambda)
					sameFit(t, a, b, 1e-8)
					require.InDelta(t, before.Validation, after.Validation, 1e-8)
					if before.Test != nil {
						require.InDelta(t, *before.Test, *after.Test, 1e-8)
					}
				}
				// On all rows: the fast fit of the sparse table against the conic program of the dense one.
				final, test := retrained(t, sparse, c.lambda)
				want, error := retrained(t, dense, c.lambda)
				require.NotEmpty(t, want.Coefficients)
				sameFit(t, want, final, 1e-4)
				require.InDelta(t, error, test, 1e-4)
			}
		})
	}
}

// solved is the lower-level solution of a model at weights, by its fast fit, in the user's units.
func solved(t *testing.T, m problems.Model, lambda []float64) (problems.Fit, problems.Errors) {
	t.Helper()
	fit := must.Of(m.Advice().Fit())(t)
	pt, err := fit.Solve(context.Background(), lambda, 1e-18, nil) // as far as rounding lets it
	require.NoError(t, err)
	require.Less(t, pt.Gap, 1e-14)
	return m.Fit(pt.X), m.Evaluate(pt.X)
}

func retrained(t *testing.T, m problems.Model, lambda []float64) (problems.Fit, float64) {
	t.Helper()
	native := must.Of(backends.Open(backends.Default))(t)
	fit, test, err := m.Advice().RetrainWeighted(context.Background(), problems.Solver{Backend: native, Fits: true},
		lambda)
	require.NoError(t, err)
	return fit, *test
}

func sameFit(t *testing.T, want, got problems.Fit, delta float64) {
	t.Helper()
	require.InDeltaSlice(t, want.Coefficients, got.Coefficients, delta)
	require.InDelta(t, want.Intercept, got.Intercept, delta)
	require.Equal(t, want.Features, got.Features)
}
