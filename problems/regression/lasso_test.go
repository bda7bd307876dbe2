package regression_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// orthogonal are rows of a table with X'X = n I, whose lasso is the soft threshold of X'y / n.
func hadamard(y []float64) *dataset.Data {
	n := len(y)
	x := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n { // Hadamard's matrix
			sign := 1.0
			for k := i & j; k > 0; k &= k - 1 {
				sign = -sign
			}
			x.Set(i, j, sign)
		}
	}
	names := make([]string, n)
	for j := range names {
		names[j] = string(rune('a' + j))
	}
	return &dataset.Data{X: x, Y: y, Features: names, Target: "y"}
}

// With orthogonal features the solution is a soft threshold, and the best threshold on the validation rows is found.
func TestSoftThreshold(t *testing.T) {
	train := hadamard([]float64{7, 1, 0.5, -2, 3, 3.5, 0.2, -1})
	val := hadamard([]float64{5, 0.5, 1, -2.5, 2, 3, -0.4, -0.7})
	s := &dataset.Split{Train: train, Val: val}
	threshold := func(lambda float64) (b []float64, e float64) {
		var c mat.VecDense
		c.MulVec(train.X.T(), mat.NewVecDense(8, train.Y))
		b = make([]float64, 8)
		for j := range b {
			v := c.AtVec(j) / 8
			b[j] = math.Copysign(math.Max(math.Abs(v)-lambda, 0), v)
		}
		var f mat.VecDense
		f.MulVec(val.X, mat.NewVecDense(8, b))
		f.SubVec(&f, mat.NewVecDense(8, val.Y))
		return b, mat.Dot(&f, &f) / 16
	}
	best := math.Inf(1)
	for lambda := 1e-4; lambda < 3; lambda *= 1.001 {
		_, e := threshold(lambda)
		best = math.Min(best, e)
	}
	m, err := regression.Lasso(s, regression.Options{})
	require.NoError(t, err)
	for _, engine := range tune.Engines() {
		for _, method := range []string{tune.MethodVFiDCA, tune.MethodGrid, tune.MethodHOAG, tune.MethodIGJO} {
			r, err := tune.Run(context.Background(), m, tune.Config{Method: method, Engine: engine, Final: tune.FinalTrain})
			require.NoError(t, err)
			b, e := threshold(r.Lambda[0])
			require.InDelta(t, e, r.Refit.Validation, 2e-4*best, "%s %s", engine, method)
			for j := range b {
				require.InDelta(t, b[j], r.RefitFit.Coefficients[j], 1e-3, "%s %s", engine, method)
			}
			require.Less(t, r.Refit.Validation, 1.02*best, "%s %s", engine, method)
		}
	}
}

// The fits and the conic programs choose the same, on splits and on folds.
func TestLassoEngines(t *testing.T) {
	s, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 30, Test: 30, Features: 25, Nonzeros: 5, SNR: 1}, 4)
	require.NoError(t, err)
	cv, err := dataset.CrossValidate(s.Train, 3, 1, nil)
	require.NoError(t, err)
	cv.Test = s.Test
	for _, d := range []dataset.Division{s, cv} {
		m, err := regression.Lasso(d, regression.Options{Intercept: true, Standardize: true})
		require.NoError(t, err)
		var results []*tune.Result
		for _, engine := range tune.Engines() {
			r, err := tune.Run(context.Background(), m, tune.Config{Engine: engine})
			require.NoError(t, err)
			results = append(results, r)
		}
		require.LessOrEqual(t, results[0].BackendSetups, results[1].BackendSetups/2)
		require.InEpsilon(t, results[1].Refit.Validation, results[0].Refit.Validation, 1e-4)
		require.InEpsilon(t, *results[1].Refit.Test, *results[0].Refit.Test, 5e-3)
	}
}
