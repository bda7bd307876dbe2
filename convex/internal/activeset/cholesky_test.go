package activeset

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rows come and go; L L' stays the matrix of products of the vectors that are there.
func TestCholesky(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 12
	var c cholesky
	var have [][]float64
	var b []float64
	dot := func(a, b []float64) (s float64) {
		for i := range a {
			s += a[i] * b[i]
		}
		return s
	}
	for range 300 {
		if len(have) > 0 && (len(have) == n || rng.IntN(3) == 0) {
			k := rng.IntN(len(have))
			have, b = append(have[:k:k], have[k+1:]...), append(b[:k:k], b[k+1:]...)
			c.remove(k)
		} else {
			v := make([]float64, n)
			for i := range v {
				v[i] = rng.NormFloat64()
			}
			products := make([]float64, len(have))
			for i := range have {
				products[i] = dot(have[i], v)
			}
			right := rng.NormFloat64()
			require.True(t, c.append(products, dot(v, v), right))
			have, b = append(have, v), append(b, right)
		}
		require.Equal(t, len(have), c.n)
		for i := range have {
			for j := range i + 1 {
				require.InDelta(t, dot(have[i], have[j]), dot(c.row(i)[:j+1], c.row(j)[:j+1]), 1e-9)
			}
		}
		if rng.IntN(5) == 0 {
			for i := range b {
				b[i] = rng.NormFloat64()
			}
			c.right(b)
		}
		x := c.solve(nil)
		for i := range have {
			sum := 0.0
			for j := range have {
				sum += dot(have[i], have[j]) * x[j]
			}
			require.InDelta(t, b[i], sum, 1e-6)
		}
	}
	for c.n > 3 {
		c.remove(1)
		have = append(have[:1:1], have[2:]...)
	}
	twice := make([]float64, 3)
	for i := range twice {
		twice[i] = 2 * dot(have[i], have[2])
	}
	require.False(t, c.append(twice, 4*dot(have[2], have[2]), 1))
	require.Equal(t, 3, c.n)
}
