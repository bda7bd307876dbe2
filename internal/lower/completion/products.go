package completion

import (
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
)

// gram is A'B, k x l by rows, of matrices with as many rows.
func gram(a []float64, k int, b []float64, l int) []float64 {
	out := make([]float64, k*l)
	if k == 0 || l == 0 {
		return out
	}
	if rows := len(a) / k; l == 1 {
		dense.GemvN(k, rows, a, k, b, out) // -A'b
	} else {
		dense.GemmNT(l, k, rows, b, l, a, k, out, l) // by columns it is -B'A
	}
	floats.Scale(-1, out)
	return out
}

// addProduct adds c A M to a matrix by rows, with A of k columns and M k x l.
func addProduct(to []float64, c float64, a []float64, k int, m []float64, l int) {
	if k == 0 || l == 0 {
		return
	}
	rows := len(a) / k
	minus := make([]float64, k*l)
	floats.AddScaled(minus, -c, m[:k*l])
	if l == 1 {
		dense.GemvT(k, rows, a, k, minus, to)
		return
	}
	turned := make([]float64, len(a))
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
