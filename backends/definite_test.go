package backends

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// reflected returns the svec of Q diag(values) Q with the reflection Q = I - 2 vv', |v| = 1.
func reflected(values []float64, rng *rand.Rand) []float64 {
	n := len(values)
	v := normals(rng, n, 1)
	norm := norm2(v)
	weighted := 0.0 // v'Dv
	for i := range v {
		v[i] /= norm
		weighted += v[i] * v[i] * values[i]
	}
	var out []float64
	for j := range n {
		for i := j; i < n; i++ {
			a := v[i] * v[j] * (4*weighted - 2*values[i] - 2*values[j])
			if i == j {
				a += values[i]
			} else {
				a *= math.Sqrt2
			}
			out = append(out, a)
		}
	}
	return out
}

// TestDistanceOfLargeMatrices has matrices with eigenvalues that are known.
func TestDistanceOfLargeMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 2 * definiteFrom
	for _, lowest := range []float64{1, 1e-9, 0, -1e-9, -1e-3, -5} {
		values := make([]float64, n)
		for i := range values {
			values[i] = 1 + 100*rng.Float64()
		}
		values[n/3] = lowest
		s := reflected(values, rng)
		d := PSD(n).Distance(s)
		assert.InDelta(t, max(0, -lowest), d, 1e-12*100*n, "%g", lowest)
		if lowest > 1e-10 {
			assert.Zero(t, d, "%g", lowest)
			assert.True(t, definite(s), "%g", lowest)
		}
		if lowest < -1e-10 {
			assert.False(t, definite(s), "%g", lowest)
		}
	}
	s := reflected(make([]float64, n), rng)
	s[5] = math.NaN()
	assert.False(t, definite(s))
	assert.True(t, math.IsNaN(PSD(n).Distance(s)))
}
