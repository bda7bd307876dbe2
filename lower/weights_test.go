package lower_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/lower"
)

// A weight that has grown without bound raises no other one.
func TestPositive(t *testing.T) {
	for _, c := range []struct{ weights, want []float64 }{
		{[]float64{3e12, 1, 1e-12}, []float64{3e12, 1, 1e-12}},
		{[]float64{0, 3e12, 2}, []float64{2e-10, 3e12, 2}},
		{[]float64{0, 0}, []float64{math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64}},
		{[]float64{0, math.SmallestNonzeroFloat64}, []float64{math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64}},
	} {
		require.InEpsilonSlice(t, c.want, lower.Positive(c.weights), 1e-14, "%v", c.weights)
	}
}
