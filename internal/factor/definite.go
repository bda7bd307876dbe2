package factor

import (
	"math"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/stop"
)

// Definite is the factor of a positive definite matrix A = L D L', made afresh each time, in the same room. The zero
// Definite has no room yet. With signs of its own it also factors a quasidefinite matrix, whose D has these signs.
type Definite struct {
	// L holds the k x k matrix by columns, its leading dimension k: before [Definite.Decompose] the lower triangle of A,
	// and L after it. D holds the pivots, Sign the sign of each, 1 unless it is changed.
	L, D []float64
	Sign []int8
	// End ends the factorisation; nil means never.
	End *stop.Stop

	k int
}

// Order is that of the matrix.
func (f *Definite) Order() int { return f.k }

// Factor factors a matrix of order k; fill writes the entries i >= j of column j to column[i]. It says whether the
// matrix is positive definite.
func (f *Definite) Factor(k int, fill func(j int, column []float64)) bool {
	if len(f.D) < k {
		end := f.End
		*f = *NewDefinite(k)
		f.End = end
	}
	f.k = k
	for j := range k {
		fill(j, f.L[j*k:(j+1)*k])
	}
	return f.Decompose(0)
}

// NewDefinite has room for a matrix of order k.
func NewDefinite(k int) *Definite {
	f := &Definite{k: k, L: make([]float64, k*k), D: make([]float64, k), Sign: make([]int8, k)}
	for i := range f.Sign {
		f.Sign[i] = 1
	}
	return f
}

// Decompose factors the matrix whose lower triangle is in L. It says whether all pivots are above least.
func (f *Definite) Decompose(least float64) bool {
	within := dense.Within{Stop: f.End}
	if within.LDL(f.k, f.L[:f.k*f.k], f.k, f.D, f.Sign, least, 1) > 0 || f.End.Reached(0) {
		return false
	}
	for _, d := range f.D[:f.k] {
		if !(d > least) || math.IsInf(d, 1) {
			return false
		}
	}
	return true
}

// DecomposeSigned factors the quasidefinite matrix whose lower triangle is in L. A pivot that has not its sign gets it,
// and at least the size least.
func (f *Definite) DecomposeSigned(least float64) {
	dense.LDL(f.k, f.L, f.k, f.D, f.Sign, 0, least)
}

// Solve sets v, of the order's length, to the solution x of A x = v.
func (f *Definite) Solve(v []float64) {
	dense.TrsvN(f.k, f.L, f.k, v)
	for i, d := range f.D[:f.k] {
		v[i] /= d
	}
	dense.TrsvT(f.k, f.L, f.k, v)
}

// Inverse sets to to the inverse, L^-T D^-1 L^-1; work and scaled are of its size.
func (f *Definite) Inverse(to, work, scaled []float64) {
	n := f.k
	clear(work)
	for i := range n {
		work[i+i*n] = 1
	}
	dense.TrsmRightLT(n, n, f.L, n, work, n)
	for j, d := range f.D[:n] {
		for i := range n {
			scaled[i+j*n] = -work[i+j*n] / d
		}
	}
	clear(to)
	dense.SyrkNT(n, n, work, n, scaled, n, to, n)
	dense.Mirror(to, n)
}
