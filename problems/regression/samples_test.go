package regression_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Coefficients of scikit-learn 1.9.1 with sample_weight: LogisticRegression(C=1), in which lambda2 is 1 / (C sum w), of
// two and of three classes, and PoissonRegressor(alpha=0.1), in which lambda2 is alpha.
func TestSampleWeights(t *testing.T) {
	x := mat.NewDense(8, 2, []float64{1.2, -0.5, 0.3, 0.8, -1.1, 0.4, 2.0, 1.5, -0.7, -1.2, 0.1, -0.3, 1.5, 0.2, -1.8,
		1.1})
	rows := func(y ...float64) *dataset.Split {
		d := &dataset.Data{X: x, Y: y, Weights: []float64{2, 0.5, 1, 3, 1.5, 0.25, 4, 1}, Features: []string{"a", "b"},
			Target: "y"}
		return &dataset.Split{Train: d, Val: d}
	}
	solve := func(m interface {
		Penalised() (lower.Fit, error)
	}, err error, lambda2 float64) [][]float64 {
		require.NoError(t, err)
		fit := must.Of(m.Penalised())(t)
		pt := must.Of(fit.Solve(context.Background(), []float64{0, lambda2}, 1e-14, nil))(t)
		return pt.X
	}
	two, err := regression.Logistic(rows(1, 1, 0, 1, 0, 0, 0, 1), options{Intercept: true})
	b := solve(two, err, 1/13.25)
	require.InDeltaSlice(t, []float64{0.1308279, 0.85948282}, b[0], 1e-6)
	require.InDelta(t, -0.43293163, b[1][0], 1e-6)
	counts, err := regression.Poisson(rows(3, 1, 0, 7, 1, 0, 2, 1), options{Intercept: true})
	b = solve(counts, err, 0.1)
	require.InDeltaSlice(t, []float64{0.55306904, 0.36066783}, b[0], 1e-5)
	require.InDelta(t, 0.18637829, b[1][0], 1e-5)
	three, err := regression.Multinomial(rows(2, 1, 0, 2, 0, 0, 1, 1), options{Intercept: true})
	b = solve(three, err, 1/13.25)
	require.InDeltaSlice(t, []float64{-0.83475859, 0.02376887, 0.81098973, -0.72789628, 0.29850526, 0.42939103}, b[0],
		1e-5)
	require.InDeltaSlice(t, []float64{-0.00127421, 0.56262725, -0.56135304}, b[1], 1e-5)
}
