package design

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// Products and Gram matrices of listed columns, with a column of ones and weights, are those that gonum multiplies; in
// either storage, and on any number of threads.
func TestProducts(t *testing.T) {
	const n, p = 70, 200
	rng := rand.New(rand.NewPCG(4, 5))
	x, cells := mat.NewDense(n, p, nil), sparse.NewDOK(n, p)
	for i := range n {
		for j := range p {
			if rng.IntN(8) == 0 {
				v := rng.NormFloat64()
				x.Set(i, j, v)
				cells.Set(i, j, v)
			}
		}
	}
	w := make([]float64, n)
	for i := range w {
		w[i] = rng.Float64()
	}
	a, b := []int{7, Ones, 3, 199}, []int{Ones}
	for j := 150; j >= 0; j-- {
		b = append(b, j)
	}
	column := func(j int) *mat.VecDense {
		v := mat.NewVecDense(n, nil)
		for i := range n {
			v.SetVec(i, 1)
			if j != Ones {
				v.SetVec(i, x.At(i, j))
			}
		}
		return v
	}
	product := func(j, k int, weights []float64) float64 {
		left := column(j)
		if weights != nil {
			left.MulElemVec(left, mat.NewVecDense(n, weights))
		}
		return mat.Dot(left, column(k))
	}
	for name, d := range map[string]*Matrix{"dense": New(x), "sparse": New(cells.ToCSC())} {
		for _, weights := range [][]float64{nil, w} {
			got := d.Products(context.Background(), a, b, weights, 1)
			require.Equal(t, got, d.Products(context.Background(), a, b, weights, 3), name)
			gram := d.Gram(context.Background(), b, weights, 1)
			require.Equal(t, gram, d.Gram(context.Background(), b, weights, 3), name)
			for k, l := range b {
				for i, j := range a {
					require.InDelta(t, product(j, l, weights), got[i*len(b)+k], 1e-12, name)
				}
				for i, j := range b {
					require.InDelta(t, product(j, l, weights), gram[i*len(b)+k], 1e-12, name)
				}
			}
		}
	}
	ended, stop := context.WithCancel(context.Background())
	stop()
	require.Len(t, New(cells.ToCSC()).Gram(ended, b, w, 2), len(b)*len(b))
}
