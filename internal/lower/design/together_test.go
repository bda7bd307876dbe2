package design

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// Columns read together are read as each of them is.
func TestTogether(t *testing.T) {
	for _, n := range []int{7, 130} {
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		x, r := mat.NewDense(n, 12, nil), make([]float64, n)
		for i := range n {
			r[i] = rng.NormFloat64()
			for j := range 12 {
				x.Set(i, j, rng.NormFloat64())
			}
		}
		d := New(x)
		out := make([]float64, 5)
		d.Dots(3, r, out)
		for k, v := range out {
			require.Equal(t, d.Dot(3+k, r), v)
			want := 0.0
			for i := range n {
				want += x.At(i, 3+k) * r[i]
			}
			require.InDelta(t, want, v, 1e-12)
		}
	}
}
