package regression_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// Where the rows of each fold tell the labels apart, the selected weights are small, but not below eight decades of the
// largest of interest, |X'y|_max / (2n), rows that the model has not seen have small errors, and smaller ones than with
// the weights within four decades of it. Iterations are made where they are asked for.
func TestSeparableFolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	rows := func(n int) *dataset.Data {
		x, y := mat.NewDense(n, 4, nil), make([]float64, n)
		for i := range y {
			y[i] = float64(2*(i%2) - 1)
			x.SetRow(i, []float64{y[i] + rng.NormFloat64()/4, rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
		}
		return &dataset.Data{X: x, Y: y, Features: []string{"a", "b", "c", "d"}}
	}
	table := rows(60)
	cv := must.Of(dataset.CrossValidate(table, 5, 1, nil))(t)
	cv.Test = rows(2000)
	m := must.Of(regression.Logistic(cv, options{Intercept: true}))(t)
	r := must.Of(tune.Run(context.Background(), m, tune.Config{}))(t)
	require.False(t, r.Trace[0].Iterates())
	top := 0.0
	for j := range 4 {
		top = math.Max(top, math.Abs(floats.Dot(mat.Col(nil, j, table.X), table.Y))/120)
	}
	require.Greater(t, math.Max(r.Lambda[0], r.Lambda[1]), 1e-8*top)
	require.Less(t, *r.Refit.Test, 0.005)
	native := must.Of(backends.Open("native"))(t)
	for e := 0.0; e >= -4; e-- {
		l := top * math.Pow(10, e)
		_, test, err := m.Advice().RetrainWeighted(context.Background(), problems.Solver{Backend: native, Fits: true},
			[]float64{l, l})
		require.NoError(t, err)
		require.Greater(t, *test, *r.Refit.Test, "lambda %g", l)
	}
	iterated := must.Of(tune.Run(context.Background(), m, tune.Config{MaxIter: 1}))(t)
	require.True(t, iterated.Trace[0].Iterates())
}

// Where labels are drawn with the probabilities of a model, and no features tell them apart, the weights are not next
// to nothing, and no pair of weights of a grid over six decades has an error of the folds that is smaller by more than
// a thousandth.
func TestFarDownOnNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 4))
	x, y := mat.NewDense(60, 6, nil), make([]float64, 60)
	for i := range y {
		for j := range 6 {
			x.Set(i, j, rng.NormFloat64())
		}
		y[i] = -1
		if rng.Float64() < 1/(1+math.Exp(-x.At(i, 0))) {
			y[i] = 1
		}
	}
	cv, err := dataset.CrossValidate(&dataset.Data{X: x, Y: y, Features: []string{"a", "b", "c", "d", "e", "f"}}, 5, 1,
		nil)
	require.NoError(t, err)
	m := must.Of(regression.Logistic(cv, options{Intercept: true}))(t)
	r := must.Of(tune.Run(context.Background(), m, tune.Config{}))(t)
	grid := must.Of(tune.Run(context.Background(), m, tune.Config{Method: tune.MethodGrid, Engine: tune.EngineConic,
		Evaluations: 16, Ranges: []tune.Range{{Low: 1e-6, High: 1}}}))(t)
	require.Less(t, r.Refit.Validation, grid.Refit.Validation*(1+1e-3))
	require.Greater(t, r.Lambda[0]+r.Lambda[1], 1e-3)
}

// The ranges of searches go down as far as the errors of folds fall: where features tell the labels apart, to weights
// below those of the path, with smaller errors of further rows than there.
func TestSeparableRanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	x, y := mat.NewDense(60, 4, nil), make([]float64, 60)
	for i := range y {
		y[i] = float64(2*(i%2) - 1)
		x.SetRow(i, []float64{y[i] + rng.NormFloat64()/4, rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
	}
	table := &dataset.Data{X: x, Y: y, Features: []string{"a", "b", "c", "d"}}
	cv := must.Of(dataset.CrossValidate(table, 5, 1, nil))(t)
	m := must.Of(regression.Logistic(cv, options{Intercept: true}))(t)
	least := math.Inf(1)
	for _, lambda := range m.Program().Path {
		least = min(least, floats.Max(lambda))
	}
	for _, method := range []string{tune.MethodGrid, tune.MethodTPE} {
		r := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method, Evaluations: 16, Seed: 1}))(t)
		require.Less(t, floats.Max(r.Lambda), least/5, method)
		within := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method, Evaluations: 16, Seed: 1,
			Ranges: []tune.Range{{Low: least, High: 1}}}))(t)
		require.Less(t, r.Refit.Validation, within.Refit.Validation/2, method)
	}
}
