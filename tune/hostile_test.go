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
	"pgregory.net/rapid"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/proptest"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/tune"
)

// hostileTable draws few rows and columns of all that tables should not be: constant, zero, equal, huge and tiny ones.
func hostileTable(t *rapid.T, n, p int, labels bool) *dataset.Data {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 8))
	d := &dataset.Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Target: "y"}
	scales := []float64{1, 1, 1, 1e-300, 1e-30, 1e8, 1e69} // of shifted ones the last is refused
	fill := func(name string, put func(i int, v float64)) {
		kind := rapid.SampledFrom([]string{"normal", "normal", "normal", "integer", "constant", "zero", "one",
			"shifted"}).Draw(t, name)
		scale := rapid.SampledFrom(scales).Draw(t, name+" scale")
		odd := rng.IntN(n)
		for i := range n {
			v := rng.NormFloat64()
			switch kind {
			case "integer":
				v = float64(rng.IntN(3) - 1)
			case "constant":
				v = 3
			case "zero":
				v = 0
			case "one": // row is another one
				v = 0
				if i == odd {
					v = 1
				}
			case "shifted":
				v += 1e6
			}
			put(i, scale*v)
		}
	}
	for j := range p {
		d.Features = append(d.Features, fmt.Sprintf("f%d", j))
		if j > 0 && rapid.Bool().Draw(t, "copy") {
			for i := range n {
				d.Dense().Set(i, j, d.X.At(i, 0))
			}
			continue
		}
		fill(fmt.Sprintf("column %d", j), func(i int, v float64) { d.Dense().Set(i, j, v) })
	}
	if labels {
		for i := range n {
			d.Y[i] = float64(rng.IntN(2))
		}
		if rapid.Bool().Draw(t, "one of a class") {
			for i := range n {
				d.Y[i] = 0
			}
			d.Y[rng.IntN(n)] = 1
		}
		return d
	}
	if rapid.Bool().Draw(t, "target is a feature") {
		for i := range n {
			d.Y[i] = d.X.At(i, 0)
		}
		return d
	}
	fill("target", func(i int, v float64) { d.Y[i] = v })
	return d
}

// hostileModel draws a model of such a table, and the mean loss of a predictor on rows, from its definition.
func hostileModel(t *rapid.T) (problems.Model, func(rows *dataset.Data, f problems.Fit) float64, dataset.Division,
	error) {
	name := rapid.SampledFrom([]string{"elastic-net", "weighted-lasso", "sparse-group-lasso", "group-lasso", "fused-lasso",
		"bounded", "huber", "quantile", "logistic", "svm"}).Draw(t, "model")
	labels := name == "logistic" || name == "svm"
	n, p := rapid.IntRange(1, 14).Draw(t, "rows"), rapid.IntRange(1, 4).Draw(t, "features")
	d := hostileTable(t, n, p, labels)
	if rapid.IntRange(0, 3).Draw(t, "sparse") == 0 {
		d = d.Compress()
	}
	var division dataset.Division
	if cv := name == "svm" || rapid.IntRange(0, 3).Draw(t, "folds") == 0; cv {
		folds, err := dataset.CrossValidate(d, rapid.IntRange(2, 4).Draw(t, "T"), 1, nil)
		if err != nil {
			return nil, nil, nil, err
		}
		division = folds
	} else {
		part := func(name string) *dataset.Data {
			index := rapid.SliceOfN(rapid.IntRange(0, n-1), 1, n).Draw(t, name)
			return d.Rows(index)
		}
		division = &dataset.Split{Train: part("train"), Val: part("val"), Test: part("test")}
	}
	o := regression.Options{Intercept: rapid.Bool().Draw(t, "intercept"), Standardize: rapid.Bool().Draw(t, "standardize")}
	build := map[string]func(dataset.Division, regression.Options) (*regression.Model, error){
		"elastic-net": regression.ElasticNet, "weighted-lasso": regression.WeightedLasso,
		"sparse-group-lasso": regression.SparseGroupLasso, "group-lasso": regression.GroupLasso,
		"fused-lasso": regression.FusedLasso, "bounded": regression.BoundedElasticNet, "huber": regression.Huber,
		"quantile": regression.Quantile, "logistic": regression.Logistic,
	}[name]
	loss := func(f, y float64) float64 { return (f - y) * (f - y) / 2 }
	switch name {
	case "sparse-group-lasso", "group-lasso":
		o.Groups, _ = groups.Equal(p, 1)
	case "huber":
		squares := loss
		o.Threshold = 2
		loss = func(f, y float64) float64 {
			if r := math.Abs(f - y); r > 2 {
				return 2*r - 2
			}
			return squares(f, y)
		}
	case "quantile":
		o.Level = 0.3
		loss = func(f, y float64) float64 { return math.Max(0.3*(y-f), 0.7*(f-y)) }
	case "logistic":
		loss = func(f, y float64) float64 {
			v := -(2*y - 1) * f
			return math.Max(0, v) + math.Log1p(math.Exp(-math.Abs(v)))
		}
	case "svm":
		loss = func(f, y float64) float64 { return math.Max(0, 1-(2*y-1)*f) }
	}
	mean := func(rows *dataset.Data, f problems.Fit) float64 {
		sum := 0.0
		for i, y := range rows.Y {
			sum += loss(f.Value(rows.Dense().RawRowView(i)), y) / float64(len(rows.Y))
		}
		return sum
	}
	if name == "svm" {
		m, err := svm.New(division.(*dataset.CrossValidation), svm.Options{Standardize: o.Standardize})
		return m, mean, division, err
	}
	m, err := build(division, o)
	require.NotContains(t, fmt.Sprint(err), "the model takes no")
	return m, mean, division, err
}

// Whatever the table, a model and a method give one error, or a result whose numbers are finite, and which is called
// converged only with a validation error that its coefficients have.
func TestHostileTables(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		m, mean, division, err := hostileModel(t)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		c := tune.Config{
			Method: rapid.SampledFrom([]string{"vf-idca", "vf-idca-t", "grid", "random", "tpe", "cma-es", "igjo", "ifdm",
				"hoag"}).Draw(t, "method"),
			Preset:      rapid.SampledFrom([]string{"", "paper"}).Draw(t, "preset"),
			Final:       rapid.SampledFrom([]string{"", tune.FinalTrain}).Draw(t, "final"),
			Evaluations: 5, Seed: 1, Workers: 1, MaxIter: rapid.SampledFrom([]int{0, 3, 3, 3}).Draw(t, "max-iter"),
		}
		r, err := tune.Run(context.Background(), m, c)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		text := fmt.Sprintf("%s by %s: %s %s", r.Model, r.Method, r.Status, r.Message)
		requireFinite(t, r, text)
		if r.Refit == nil {
			require.NotEqual(t, outcome.Converged, r.Status, text)
			return
		}
		// Of a split, the predictor of the training rows has the validation error; of folds, the mean over the folds.
		parts := division.Parts()
		x := r.Selection.X
		want, scale := 0.0, 0.0
		each := len(x) / len(parts)
		for k, part := range parts {
			fit := m.Fit(x)
			if len(parts) > 1 { // the fit of one fold is the mean of folds that are all the same
				fit = m.Fit(slices.Repeat(x[k*each:(k+1)*each], len(parts)))
			}
			want += mean(part.Val, fit) / float64(len(parts))
			scale = math.Max(scale, mean(part.Val, problems.Fit{Coefficients: make([]float64, len(fit.Coefficients))}))
			for i := range part.Val.Y { // what rounding of large products may do
				for j, v := range part.Val.Dense().RawRowView(i) {
					scale = math.Max(scale, math.Abs(v*fit.Coefficients[j]))
					scale = math.Max(scale, v*fit.Coefficients[j]*v*fit.Coefficients[j])
				}
			}
			scale = math.Max(scale, fit.Intercept*fit.Intercept)
		}
		require.InDelta(t, want, r.Refit.Validation, 1e-9*math.Max(want, scale)+1e-300, text)
	})
}

// requireFinite checks that all numbers of a result that has a model are finite, and that it can be written.
func requireFinite(t *rapid.T, r *tune.Result, text string) {
	if _, err := r.MarshalJSON(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, e := range r.Trace {
		if _, err := e.MarshalJSON(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if r.Refit == nil {
		return
	}
	require.False(t, math.IsNaN(r.Refit.Validation) || math.IsInf(r.Refit.Validation, 0), text)
	require.True(t, r.RefitFit.Finite(), text)
	for _, v := range slices.Concat(r.Radii, r.Lambda) {
		require.False(t, math.IsNaN(v) || math.IsInf(v, 0), text)
	}
	if r.Status == outcome.Converged {
		require.True(t, r.Errors.Finite() && r.Refit.Finite() && r.Iterate.Finite(), text)
	}
}

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
