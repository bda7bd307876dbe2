package deviance

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHalfPoisson compares with the definition, and near the target with its series y (r^2/2 - r^3/3) in r = (mean -
// y)/y.
func TestHalfPoisson(t *testing.T) {
	for _, c := range [][2]float64{{1, 0.1}, {3, 5}, {2, 9}, {0.5, 40}, {7, 1e-3}} {
		y, mean := c[0], c[1]
		require.InEpsilon(t, y*math.Log(y/mean)-y+mean, HalfPoisson(y, mean, math.Log(mean)), 1e-13)
	}
	for _, r := range []float64{1e-4, -1e-4, 1e-6, -1e-7} {
		y := 1e6
		require.InEpsilon(t, y*(r*r/2-r*r*r/3), HalfPoisson(y, y*(1+r), math.Log(y*(1+r))), 1e-6)
	}
	require.Equal(t, 2.5, HalfPoisson(0, 2.5, math.Log(2.5)))
	require.Zero(t, HalfPoisson(4, 4, math.Log(4)))
}
