package regression_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

func boundedSplit() *dataset.Split {
	return modeltest.Split(6, 50, 40, 30, []float64{3, -2, 0.1, 0, 1, -0.1, 0, 0}, 1)
}

// Bounds are in the user's units, whatever the model works in, and hold for the iterate too.
func TestBoundedUnits(t *testing.T) {
	s := boundedSplit()
	for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
		n, _ := d.Dims()
		for i := range n {
			d.Dense().Set(i, 0, 1000*d.X.At(i, 0)+3)
		}
	}
	terms := regression.Terms{Lower: []float64{-1}, Upper: []float64{0.002, 1, 1, 1, 0.5, 1, 1, 1}}
	m := must.Of(regression.BoundedElasticNet(s, options{Intercept: true, Standardize: true, Terms: terms}))(t)
	res := modeltest.Solve(t, m, m.DefaultSettings())
	require.Equal(t, outcome.Converged, res.Status, res.Message)
	for _, x := range [][][]float64{res.X, res.Refit} {
		c := m.Fit(x).Coefficients
		require.InDelta(t, 0.002, c[0], 1e-6) // 0.003 without the bound
		require.InDelta(t, -1, c[1], 1e-4)
		require.LessOrEqual(t, c[4], 0.5+1e-6)
		require.Greater(t, c[4], 0.4) // 1 without the bound
	}
}
