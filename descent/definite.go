package descent

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

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

// factorSym factors a plus some times the identity.
func (f *definite) factorSym(a *mat.SymDense, plus float64) bool {
	raw := a.RawSymmetric() // the rows of the upper triangle are the columns of the lower one
	return f.factor(raw.N, func(j int, column []float64) {
		copy(column[j:], raw.Data[j*raw.Stride+j:j*raw.Stride+raw.N])
		column[j] += plus
	})
}

// addOuter adds a sum_i c_i c_i' to a matrix, for k columns c_i that follow each other.
func addOuter(to *mat.SymDense, a float64, columns []float64, k int) {
	raw := to.RawSymmetric()
	scaled := make([]float64, len(columns))
	floats.ScaleTo(scaled, -a, columns)
	dense.SyrkNT(raw.N, k, columns, raw.N, scaled, raw.N, raw.Data, raw.Stride)
}

// solve sets v to the solution x of A x = v.
func (f *definite) solve(v []float64) {
	dense.TrsvN(f.k, f.l, f.k, v)
	for i, d := range f.d[:f.k] {
		v[i] /= d
	}
	dense.TrsvT(f.k, f.l, f.k, v)
}
