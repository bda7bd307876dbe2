package leastsquares

import (
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower/design"
)

// A sparse design with too many rows for Prepare is prepared by rows, and its X'X is the one of the centred dense columns.
func TestPrepareRows(t *testing.T) {
	const n, p = 12_000, 150
	rng := rand.New(rand.NewPCG(5, 1))
	dok, x := sparse.NewDOK(n, p), mat.NewDense(n, p, nil)
	y := make([]float64, n)
	for i := range n {
		for range 3 {
			j, v := rng.IntN(p), rng.NormFloat64()
			dok.Set(i, j, v)
			x.Set(i, j, v)
		}
		y[i] = rng.NormFloat64()
	}
	g, err := New(design.New(dok.ToCSR()), y, true)
	require.NoError(t, err)
	g.Prepare()
	require.False(t, g.Prepared())
	g.PrepareRows()
	require.True(t, g.Prepared())
	for j := range p {
		mean := mat.Sum(x.ColView(j)) / n
		for i := range n {
			x.Set(i, j, x.At(i, j)-mean)
		}
	}
	var gram mat.Dense
	gram.Mul(x.T(), x)
	for j := range p {
		for k, v := range g.GramRow(j) {
			require.InDelta(t, gram.At(j, k)/n, v, 1e-12)
		}
	}
}
