package descent

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/stop"
)

// definite is the factor of a positive definite matrix A = L D L', made afresh each time, in the same room.
type definite struct {
	k    int
	l, d []float64 // L by columns, its leading dimension k
	sign []int8
	end  *stop.Stop // ends the factorisation; nil: never
}

// factor factors a matrix of order k; fill writes the entries i >= j of column j to column[i]. It says whether the matrix is
// positive definite.
func (f *definite) factor(k int, fill func(j int, column []float64)) bool {
	if len(f.d) < k {
		end := f.end
		*f = *newDefinite(k)
		f.end = end
	}
	f.k = k
	for j := range k {
		fill(j, f.l[j*k:(j+1)*k])
	}
	return f.decompose(0)
}

// newDefinite has room for a matrix of order k.
func newDefinite(k int) *definite {
	f := &definite{k: k, l: make([]float64, k*k), d: make([]float64, k), sign: make([]int8, k)}
	for i := range f.sign {
		f.sign[i] = 1
	}
	return f
}

// decompose factors the matrix whose lower triangle is in l. It says whether all pivots are above least.
func (f *definite) decompose(least float64) bool {
	within := dense.Within{Stop: f.end}
	if within.LDL(f.k, f.l[:f.k*f.k], f.k, f.d, f.sign, least, 1) > 0 || f.end.Reached(0) {
		return false
	}
	for _, d := range f.d[:f.k] {
		if !(d > least) || math.IsInf(d, 1) {
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

const (
	// blockWork is the number of multiplications of a blocked kernel between two looks, a few milliseconds.
	blockWork = 1 << 22
	// leastBlock is the least number of columns in one go: fewer would cost such kernels much.
	leastBlock = 64
)

// outers adds a sum_i c_i c_i' to a matrix, for the k columns that fill writes into zeros. It says whether it came to the end.
func (s *solve) outers(to *mat.SymDense, a float64, k int, fill func(i int, column []float64)) bool {
	n := s.x.n
	block := min(k, max(leastBlock, blockWork/(n*n+1)))
	columns := make([]float64, n*block)
	for from := 0; from < k; from += block {
		if from > 0 {
			if s.stop.Look() {
				return false
			}
			clear(columns)
		}
		count := min(block, k-from)
		for i := range count {
			fill(from+i, columns[i*n:(i+1)*n])
		}
		addOuter(to, a, columns[:count*n], count)
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

// inverse sets to to the inverse, L^-T D^-1 L^-1; work and scaled are of its size.
func (f *definite) inverse(to, work, scaled []float64) {
	n := f.k
	clear(work)
	for i := range n {
		work[i+i*n] = 1
	}
	dense.TrsmRightLT(n, n, f.l, n, work, n)
	for j, d := range f.d {
		for i := range n {
			scaled[i+j*n] = -work[i+j*n] / d
		}
	}
	clear(to)
	dense.SyrkNT(n, n, work, n, scaled, n, to, n)
	for j := range n {
		for i := j + 1; i < n; i++ {
			to[j+i*n] = to[i+j*n]
		}
	}
}
