package tune

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimplest(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		losses [][]float64 // and standard errors
		want   int
	}{{[][]float64{{1, 1}, {0, 0}}, 0}, {[][]float64{{1.1, 1}, {0, 0}}, 1}, {[][]float64{{3, 1}, {0.5, 1}, {0, 0}}, 1},
		{[][]float64{{nan, nan}, {0, 0}}, 0}} { // one validation row tells nothing
		got := simplest(make([]Rung, len(c.losses)), c.losses, func(a, b []float64) (mean, se float64) {
			return a[0] - b[0], a[1]
		})
		require.Equal(t, c.want, got)
	}
}
