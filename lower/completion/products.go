package completion

import (
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
)

// gram is A'B, k x l by rows, of matrices with as many rows.
func gram(a []float64, k int, b []float64, l int) []float64 {
	out := make([]float64, k*l)
	if k > 0 && l > 0 {
		dense.GemmNT(l, k, len(a)/k, b, l, a, k, out, l) // by columns it is -B'A
		floats.Scale(-1, out)
	}
	return out
}

// addProduct adds c A M to a matrix by rows, with A of k columns and M k x l.
func addProduct(to []float64, c float64, a []float64, k int, m []float64, l int) {
	if k == 0 || l == 0 {
		return
	}
	rows := len(a) / k
	minus, turned := make([]float64, k*l), make([]float64, len(a))
	floats.AddScaled(minus, -c, m[:k*l])
	transpose(turned, a, k, rows)
	dense.GemmNT(l, rows, k, minus, l, turned, rows, to, l) // by columns
}

// kernelLength is the length from which on the kernels of internal/dense pay for their calls.
const kernelLength = 8

func inner(a, b []float64) float64 {
	if len(a) >= kernelLength {
		return dense.Dot(a, b)
	}
	sum := 0.0
	for l, v := range a {
		sum += v * b[l]
	}
	return sum
}

func addScaled(to []float64, c float64, a []float64) {
	if len(a) >= kernelLength {
		dense.Axpy(c, a, to)
		return
	}
	for l, v := range a {
		to[l] += c * v
	}
}
