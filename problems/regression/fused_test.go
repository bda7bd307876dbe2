package regression_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// steps are normal data with piecewise constant coefficients.
func steps(train int) *dataset.Split {
	b := make([]float64, 30)
	for j := 8; j < 14; j++ {
		b[j] = 2
	}
	for j := 20; j < 30; j++ {
		b[j] = -1
	}
	return modeltest.Split(7, train, 40, 100, b, 2)
}

// differ is D b by its definition.
func differ(b []float64, order int) []float64 {
	for range order {
		next := make([]float64, len(b)-1)
		for j := range next {
			next[j] = b[j+1] - b[j]
		}
		b = next
	}
	return b
}

// On piecewise constant coefficients the model beats what it is without fusion.
func TestFusedSelection(t *testing.T) {
	s := steps(25)
	m := must.Of(regression.FusedLasso(s, options{}))(t)
	res := modeltest.Solve(t, m, m.DefaultSettings())
	require.Equal(t, outcome.Converged, res.Status, res.Message)
	require.Greater(t, res.Lambda[1], 0.01)
	require.Less(t, *m.Evaluate(res.Refit).Test, 6.0) // 2 is the noise, 19 the variance of the signal by half
	free := m.Program()
	free.Hi = []float64{math.Inf(1), 1e4}
	free.Lo = []float64{0, 1e4}
	free.H0 = []float64{10, 1e4}
	lasso := modeltest.Solve(t, tune.Custom{Bilevel: free}, m.PaperSettings())
	require.Greater(t, *m.Evaluate(lasso.Refit).Test, 1.5**m.Evaluate(res.Refit).Test)
}
