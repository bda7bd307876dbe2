package descent

import (
	"math"

	"github.com/conetune/conetune/internal/dense"
)

// definite is the factor of a positive definite matrix A = L D L', made afresh each time, in the same room.
type definite struct {
	k    int
	l, d []float64 // L by columns, its leading dimension k
	sign []int8
}

// factor factors a matrix of order k; fill writes the entries i >= j of column j to column[i]. It says whether the matrix is
// positive definite.
func (f *definite) factor(k int, fill func(j int, column []float64)) bool {
	if len(f.d) < k {
		f.l, f.d, f.sign = make([]float64, k*k), make([]float64, k), make([]int8, k)
		for i := range f.sign {
			f.sign[i] = 1
		}
	}
	f.k = k
	for j := range k {
		fill(j, f.l[j*k:(j+1)*k])
	}
	if dense.LDL(k, f.l[:k*k], k, f.d, f.sign, 0, 1) > 0 {
		return false
	}
	for _, d := range f.d[:k] {
		if !(d > 0) || math.IsInf(d, 1) {
			return false
		}
	}
	return true
}

// solve sets v to the solution x of A x = v.
func (f *definite) solve(v []float64) {
	dense.TrsvN(f.k, f.l, f.k, v)
	for i, d := range f.d[:f.k] {
		v[i] /= d
	}
	dense.TrsvT(f.k, f.l, f.k, v)
}
