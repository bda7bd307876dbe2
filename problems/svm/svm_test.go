package svm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

var _ problems.Model = (*Model)(nil)

// table has n rows of p features, of which the first tells the labels 3 and 8 apart but for a part; with share, only
// that share of the other entries is not zero.
func table(seed uint64, n, p int, share float64) *dataset.Data {
	rng := rand.New(rand.NewPCG(seed, 21))
	d := &dataset.Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Target: "kind"}
	for j := range p {
		d.Features = append(d.Features, fmt.Sprint("f", j))
	}
	for i := range n {
		d.Y[i] = []float64{3, 8}[i%2]
		for j := range p {
			if rng.Float64() < share {
				d.Dense().Set(i, j, rng.NormFloat64()*float64(1+j%3))
			}
		}
		d.Dense().Set(i, 0, float64(2*(i%2)-1)+rng.NormFloat64())
	}
	return d
}

func folded(t testing.TB, seed uint64, n, p, folds int, share float64) *dataset.CrossValidation {
	d := table(seed, n, p, share)
	classes := must.Of(dataset.ClassNumbers(d, 2))(t)
	cv := must.Of(dataset.CrossValidate(d, folds, seed, classes))(t)
	cv.Test = table(seed+100, n, p, share)
	return cv
}

func native(t testing.TB) backends.ConicBackend {
	return must.Of(backends.Open("native"))(t)
}

// meanHinge is the loss, row by row, with class weights.
func meanHinge(d *dataset.Data, rows []int, weights [2]float64, w []float64, c float64) float64 {
	return meanOf(d, rows, weights, w, c, func(z float64) float64 { return math.Max(0, 1-z) })
}

// meanScore is that of what machines are chosen by.
func meanScore(d *dataset.Data, rows []int, weights [2]float64, w []float64, c float64) float64 {
	return meanOf(d, rows, weights, w, c, func(z float64) float64 {
		switch {
		case z <= -0.5:
			return 1 + 0.2*(1-z)
		case z >= 0.5:
			return 0.2 * math.Max(0, 1-z)
		}
		return 0.5 - z + 0.2*(1-z)
	})
}

// meanOf is the weighted mean of a function of the decision values times the labels, 1 for those of 8.
func meanOf(d *dataset.Data, rows []int, weights [2]float64, w []float64, c float64, of func(float64) float64) float64 {
	sum, total := 0.0, 0.0
	for _, i := range rows {
		y, u := -1.0, weights[0]
		if d.Y[i] == 8 {
			y, u = 1, weights[1]
		}
		value := -c
		for j := range w {
			value += w[j] * d.X.At(i, j)
		}
		sum += u * of(y*value)
		total += u
	}
	return sum / total
}

// The losses of the program are means over rows and folds, with weights, dense or sparse.
func TestLosses(t *testing.T) {
	for name, c := range map[string]struct {
		share float64
		o     Options
		w     [2]float64
	}{
		"dense":   {1, Options{}, [2]float64{1, 1}},
		"sparse":  {0.05, Options{}, [2]float64{1, 1}},
		"weights": {1, Options{ClassWeights: []float64{1, 3}}, [2]float64{1, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			cv := folded(t, 1, 30, 6, 3, c.share)
			m := must.Of(New(cv, c.o))(t)
			require.Equal(t, c.share < 0.25, m.rows.Sparse())
			p := m.Program()
			require.Len(t, p.Blocks, 3)
			rng := rand.New(rand.NewPCG(3, 3))
			var x [][]float64
			val := 0.0
			for k, f := range cv.Folds {
				model := convex.NewModel()
				h := model.Parameter("h", []float64{2, 1, 1, 1, 1, 1, 1})
				l := p.Blocks[k](model, h)
				w, b := make([]float64, 6), rng.NormFloat64()
				squares := 0.0
				for j := range w {
					w[j] = rng.NormFloat64()
					squares += w[j] * w[j]
				}
				pt := convex.Point{l.X[0]: w, l.X[1]: {b}}
				mean := meanHinge(cv.Data, f.Val, c.w, w, b) / 3
				require.InDelta(t, meanHinge(cv.Data, f.Train, c.w, w, b)/3, l.Train.Eval(pt)[0], 1e-12)
				require.InDelta(t, mean, l.Validation.Eval(pt)[0], 1e-12)
				require.InDelta(t, squares/2-2, l.Constraints[0].Eval(pt)[0], 1e-12)
				require.InDelta(t, math.Abs(w[4])-1, l.Constraints[1].Eval(pt)[4], 1e-12)
				val += mean
				x = append(x, w, []float64{b})
			}
			require.InDelta(t, val, m.Evaluate(x).Validation, 1e-12)
			require.Nil(t, m.Evaluate(x).Test)
			require.Equal(t, []string{"lambda", "wbar_f0", "wbar_f1"}, m.Names()[:3])
			require.Len(t, m.Names(), len(p.H0))
		})
	}
}

// best minimises the mean hinge of w a - c over |w| <= top in one feature: convex in w, and for each w piecewise
// linear in c with kinks at w a_i - y_i.
func best(d *dataset.Data, top float64) float64 {
	rows := indices.Range(0, len(d.Y))
	inner := func(w float64) float64 {
		least := math.Inf(1)
		for i := range rows {
			for _, y := range []float64{-1, 1} {
				least = math.Min(least, meanHinge(d, rows, [2]float64{1, 1}, []float64{w}, w*d.X.At(i, 0)-y))
			}
		}
		return least
	}
	lo, hi := -top, top
	for range 200 {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if inner(a) < inner(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return inner((lo + hi) / 2)
}

// In one feature the machine trained on all rows is the one that an exhaustive search finds, whichever of the two
// bounds holds it, and its error rate is a count.
func TestRetrain(t *testing.T) {
	cv := folded(t, 2, 60, 1, 2, 1)
	for _, standardize := range []bool{false, true} {
		m := must.Of(New(cv, Options{Standardize: standardize}))(t)
		data := cv.Data
		if standardize {
			data = dataset.NewTransform(data, dataset.ByTable, true).Apply(data)
		}
		for _, h := range [][]float64{{10, 0.3}, {0.02, 10}, {10, 10}} {
			fit, test, err := m.Advice().Retrain(context.Background(), problems.Solver{Backend: native(t), Fits: true}, h)
			require.NoError(t, err)
			loss := meanHinge(cv.Data, indices.Range(0, 60), [2]float64{1, 1}, fit.Coefficients, -fit.Intercept)
			require.InDelta(t, best(data, math.Min(h[1], math.Sqrt(2*h[0]))), loss, 1e-6)
			wrong := 0.0
			for i, y := range cv.Test.Y {
				label := 3.0
				if fit.Intercept+fit.Coefficients[0]*cv.Test.X.At(i, 0) > 0 {
					label = 8
				}
				if label != y {
					wrong++
				}
			}
			require.InDelta(t, wrong/60, *test, 1e-12)
			require.Less(t, *test, 0.3)
			require.Equal(t, []float64{3, 8}, fit.Labels)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	m := must.Of(New(cv, Options{}))(t)
	_, _, err := m.Advice().Retrain(cancelled, problems.Solver{Backend: native(t), Fits: true}, []float64{1, 1})
	require.ErrorContains(t, err, "ended without a model: cancelled")
}

// A run closes the gap between iterate and refit, keeps its bounds, and finds the feature that counts.
func TestRun(t *testing.T) {
	for _, share := range []float64{1, 0.1} {
		cv := folded(t, 4, 60, 6, 3, share)
		m := must.Of(New(cv, Options{}))(t)
		res := must.Of(tune.Run(context.Background(), m, tune.Config{Preset: tune.PresetPaper}))(t)
		conic, err := tune.Run(context.Background(), m, tune.Config{Preset: tune.PresetPaper, Engine: tune.EngineConic})
		require.NoError(t, err)
		require.Equal(t, outcome.Converged, res.Status)
		require.Len(t, res.Radii, 1)
		require.Len(t, res.Hyperparameters, 7)
		require.Len(t, res.Trace, len(conic.Trace))
		for k, e := range res.Trace {
			require.Equal(t, "fit", e.SubEngine)
			require.Equal(t, "fit", e.LowerEngine)
			require.Less(t, conic.Trace[k].Residual, 1e-7)
			require.InDeltaSlice(t, conic.Trace[k].H, e.H, 1e-3)
			require.InDelta(t, conic.Trace[k].LowerValue, e.LowerValue, 1e-4)
			for j, v := range e.H[1:] {
				require.GreaterOrEqual(t, v, lowest, j)
				require.LessOrEqual(t, v, float64(highest))
			}
		}
		require.Equal(t, res.Errors.Test, res.Refit.Test)
		require.Less(t, *res.Errors.Test, 0.35)
		require.Greater(t, math.Abs(res.RefitFit.Coefficients[0]), 0.1)

		closed := must.Of(tune.Run(context.Background(), m, tune.Config{MaxIter: 200}))(t)
		require.Equal(t, outcome.Converged, closed.Status, closed.Message)
		require.LessOrEqual(t, closed.LowerGap, 1e-4)
		require.InEpsilon(t, closed.Refit.Validation, closed.Errors.Validation, 0.02)
		require.LessOrEqual(t, closed.Refit.Validation, res.Refit.Validation+1e-9)
	}
}

func TestBadData(t *testing.T) {
	with := func(change func(cv *dataset.CrossValidation)) *dataset.CrossValidation {
		cv := folded(t, 6, 24, 2, 3, 1)
		change(cv)
		return cv
	}
	for _, c := range []struct {
		name string
		cv   *dataset.CrossValidation
		o    Options
		want string
	}{
		{"one label", with(func(cv *dataset.CrossValidation) { copy(cv.Data.Y, slices.Repeat([]float64{3}, 24)) }), Options{},
			`all rows have the label 3 in "kind"`},
		{"three labels", with(func(cv *dataset.CrossValidation) { cv.Data.Y[0] = 5 }), Options{},
			`"kind" has 3 values (3, 5, 8)`},
		{"many labels", with(func(cv *dataset.CrossValidation) { copy(cv.Data.Y, []float64{1, 2, 4, 5, 6, 7}) }), Options{},
			`more than 4 values`},
		{"test label", with(func(cv *dataset.CrossValidation) { cv.Test.Y[7] = 0 }), Options{},
			"test rows: row 7 has the label 0, expected 3 or 8"},
		{"one class trains", with(func(cv *dataset.CrossValidation) {
			cv.Folds[1].Train, cv.Folds[1].Val = []int{0, 2}, []int{1, 4}
		}), Options{}, "fold 1 has no training row with the label 8"},
		{"one class trains", with(func(cv *dataset.CrossValidation) {
			cv.Folds[2].Train, cv.Folds[2].Val = []int{1, 5}, []int{0, 3}
		}), Options{}, "fold 2 has no training row with the label 3"},
		{"one fold", with(func(cv *dataset.CrossValidation) { cv.Folds = cv.Folds[:1] }), Options{},
			"1 folds, expected at least 2"},
		{"row twice", with(func(cv *dataset.CrossValidation) {
			cv.Folds[0].Val = append(cv.Folds[0].Val, cv.Folds[0].Train[0])
		}), Options{}, "twice"},
		{"not finite", with(func(cv *dataset.CrossValidation) { cv.Data.Dense().Set(3, 1, math.NaN()) }), Options{},
			`"f1" of row 3 is NaN`},
		{"nothing", nil, Options{}, "no data"},
		{"weights", folded(t, 6, 24, 2, 3, 1), Options{ClassWeights: []float64{1}}, "1 class weights, expected 2"},
		{"weight", folded(t, 6, 24, 2, 3, 1), Options{ClassWeights: []float64{1, 0}}, "the weight of label 8 is 0"},
		{"loss", folded(t, 6, 24, 2, 3, 1), Options{Loss: "square"},
			`unknown loss "square"; known are: hinge, squared-hinge`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(c.cv, c.o)
			require.ErrorContains(t, err, "svm: ")
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := dataset.ClassNumbers(table(1, 3, 1, 1), 2)
	require.ErrorContains(t, err, "one row has the label 8")
}
