package tune_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

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
