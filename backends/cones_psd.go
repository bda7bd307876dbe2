package backends

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// psdFamily has the cones of positive semidefinite matrices, which are their own duals.
var psdFamily = family{
	name: "psd", wrong: wrongPSD, own: semidefinite, dual: semidefinite, separate: separatePSD, ray: true,
	shift: func(_ Cone, s []float64, a float64) { addToDiagonal(s, a) },
}

var semidefinite = set{
	distance: func(_ Cone, s []float64) float64 {
		if definite(s) {
			return 0
		}
		return max(0, -smallestEigenvalue(s))
	},
	into: func(_ Cone, s []float64) {
		n := PSDOrder(len(s))
		margin := 4 * float64(n) * unitRoundoff * norm2(s)
		if n == 1 {
			margin = 0
		}
		if moved := margin - smallestEigenvalue(s); moved > 0 {
			addToDiagonal(s, moved)
		}
	},
}

// addToDiagonal adds a to the diagonal of the matrix whose scaled lower triangle is s.
func addToDiagonal(s []float64, a float64) {
	n := PSDOrder(len(s))
	for k, j := 0, 0; j < n; j++ {
		s[k] += a
		k += n - j
	}
}

func wrongPSD(c Cone) string {
	if n := PSDOrder(c.Dim); n*(n+1)/2 != c.Dim {
		return fmt.Sprintf("dimension %d is not n(n+1)/2", c.Dim)
	}
	return ""
}

// PSDOrder returns the largest n with n(n+1)/2 <= dim, the order of the matrix
// whose triangle has dim entries, and 0 where dim is negative.
func PSDOrder(dim int) int {
	n := int((math.Sqrt(8*float64(max(0, dim))+1) - 1) / 2)
	for (n+1)*(n+2)/2 <= dim {
		n++
	}
	return n
}

// smallestEigenvalue of the matrix whose scaled lower triangle is s; NaN if the
// matrix is not finite, and +Inf for order zero.
func smallestEigenvalue(s []float64) float64 {
	n := PSDOrder(len(s))
	if n == 0 {
		return math.Inf(1)
	}
	size := maxAbs(s)
	if size == 0 || !(size <= math.MaxFloat64) {
		return 0 * size // zero, or NaN
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetric(s, n, size), false) {
		return math.NaN()
	}
	return size * eigen.Values(nil)[0]
}

// symmetric returns the matrix of order n whose scaled lower triangle is s,
// divided by size, the largest entry. Entries below 1e-30, far within the rounding
// of the eigenvalues, become zero: the eigensolver fails on blocks of them.
func symmetric(s []float64, n int, size float64) *mat.SymDense {
	out := mat.NewSymDense(n, nil)
	k := 0
	for j := range n {
		for i := j; i < n; i++ {
			v := s[k] / size
			if i != j {
				v /= math.Sqrt2
			}
			if math.Abs(v) >= 1e-30 {
				out.SetSym(i, j, v)
			}
			k++
		}
	}
	return out
}

// separatePSD takes z = vv' for the eigenvector v of the smallest eigenvalue.
func separatePSD(_ Cone, b, z []float64) {
	n := PSDOrder(len(b))
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetric(b, n, maxAbs(b)), true) {
		return
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	k := 0
	for j := range n {
		for i := j; i < n; i++ {
			z[k] = vectors.At(i, 0) * vectors.At(j, 0)
			if i != j {
				z[k] *= math.Sqrt2
			}
			k++
		}
	}
}
