package factor

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Root returns vectors v, as many as the rank, whose products vv' add up to a semidefinite matrix of order n, given by
// the upper triangle of its rows: a Cholesky factorisation that takes the largest diagonal entry left first, and ends
// where that is not above least.
func Root(a []float64, n int, least float64) [][]float64 {
	u, pivot := blas64.Symmetric{N: n, Stride: n, Data: slices.Clone(a), Uplo: blas.Upper}, make([]int, n)
	_, rank, _ := lapack64.Pstrf(u, pivot, least, make([]float64, 2*n))
	out := make([][]float64, rank)
	for r := range out {
		out[r] = make([]float64, n)
		for c := r; c < n; c++ {
			out[r][pivot[c]] = u.Data[r*n+c]
		}
	}
	return out
}
