package design

import (
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// Products of columns are those of the dense matrix, and to the last bit the ones of Dot with the columns written out.
func TestDots(t *testing.T) {
	const n, p = 57, 9
	rng := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(n, p, nil)
	dok := sparse.NewDOK(n, p)
	for i := range n {
		for j := range p {
			if j != 4 && (j == 0 || rng.IntN(3) == 0) { // column 4 is empty, column 0 full
				v := rng.NormFloat64()
				x.Set(i, j, v)
				dok.Set(i, j, v)
			}
		}
	}
	d := New(dok.ToCSR())
	require.False(t, d.Dense())
	set := []int{7, 0, 4, 3, 8, 1}
	dots := d.NewDots(set)
	for i, j := range set {
		out := make([]float64, len(set)-i)
		dots.From(i, out)
		column := mat.Col(nil, j, x)
		for l, m := range set[i:] {
			require.InDelta(t, mat.Dot(x.ColView(j), x.ColView(m)), out[l], 1e-13, "%d %d", j, m)
			require.Equal(t, d.Dot(m, column), out[l], "%d %d", j, m)
		}
	}
}
