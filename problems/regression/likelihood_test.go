package regression_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Equal weights are none, and rows next to without weight do not count. The likelihood of 20 normal errors of the best variance v falls like v^-10.
func TestLogLikelihood(t *testing.T) {
	s, _, err := dataset.Generate(dataset.Config{Train: 30, Val: 20, Test: 5, Features: 4, Nonzeros: 2}, 1)
	require.NoError(t, err)
	of := func(weights []float64) float64 {
		val := *s.Val
		val.Weights = weights
		data, err := regression.New(&dataset.Split{Train: s.Train, Val: &val, Test: s.Test}, regression.Options{})
		require.NoError(t, err)
		return regression.NewModel(data, regression.Spec{Name: "x"}).LogLikelihood(math.E)
	}
	equal, half := make([]float64, 20), make([]float64, 20)
	for i := range equal {
		equal[i], half[i] = 3, math.Max(float64(i%2), 1e-9)
	}
	require.InDelta(t, -10, of(nil), 1e-12)
	require.InDelta(t, -10, of(equal), 1e-12)
	require.InDelta(t, -5, of(half), 1e-6)
}
