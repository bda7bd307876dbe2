// Package matrices makes small sparse matrices for tests.
package matrices

import (
	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"
)

// Of returns the compressed columns of the entries that are not zero.
func Of(rows, cols int, at func(i, j int) float64) *sparse.CSC {
	ptr, ind, data := make([]int, cols+1), []int{}, []float64{}
	for j := range cols {
		for i := range rows {
			if v := at(i, j); v != 0 {
				ind, data = append(ind, i), append(data, v)
			}
		}
		ptr[j+1] = len(ind)
	}
	return sparse.NewCSC(rows, cols, ptr, ind, data)
}

// Compress returns those of a.
func Compress(a mat.Matrix) *sparse.CSC {
	r, c := a.Dims()
	return Of(r, c, a.At)
}

// Upper returns those of the upper triangle of a.
func Upper(a mat.Matrix) *sparse.CSC {
	r, c := a.Dims()
	return Of(r, c, func(i, j int) float64 {
		if i > j {
			return 0
		}
		return a.At(i, j)
	})
}

// Identity returns the n x n matrix v I.
func Identity(n int, v float64) *sparse.CSC {
	ptr, ind, data := make([]int, n+1), make([]int, n), make([]float64, n)
	for i := range n {
		ptr[i+1], ind[i], data[i] = i+1, i, v
	}
	return sparse.NewCSC(n, n, ptr, ind, data)
}
