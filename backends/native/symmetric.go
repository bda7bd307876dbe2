package native

import (
	"math"

	"github.com/conetune/conetune/internal/dense"
)

// Symmetric matrices of order n are held in full, column by column, n^2 numbers,
// for the dense kernels; in the vectors of the problem they stand as svec: the
// lower triangle by columns, with the off-diagonal entries times sqrt 2.

// svecPlace returns the place of entry (i, j), i >= j, in svec.
func svecPlace(n, i, j int) int { return j*n - j*(j-1)/2 + i - j }

// tile is the width of the squares in which matrices are transposed.
const tile = 16

// unpack writes the matrix whose svec is v into m.
func unpack(m, v []float64, n int) {
	at := 0
	for j := range n {
		col := m[j*n : j*n+n]
		col[j] = v[at]
		for i, x := range v[at+1 : at+n-j] {
			col[j+1+i] = x * (1 / math.Sqrt2)
		}
		at += n - j
	}
	mirror(m, n)
}

// mirror copies the lower triangle of m to the upper one.
func mirror(m []float64, n int) {
	for jb := 0; jb < n; jb += tile {
		for ib := jb; ib < n; ib += tile {
			for j := jb; j < min(jb+tile, n); j++ {
				col := m[j*n : j*n+n]
				for i := max(ib, j+1); i < min(ib+tile, n); i++ {
					m[i*n+j] = col[i]
				}
			}
		}
	}
}

// packMean writes the svec of (m + m')/2 into v.
func packMean(v, m []float64, n int) {
	for jb := 0; jb < n; jb += tile {
		for ib := jb; ib < n; ib += tile {
			for j := jb; j < min(jb+tile, n); j++ {
				col := m[j*n : j*n+n]
				at := svecPlace(n, j, j) - j
				for i := max(ib, j); i < min(ib+tile, n); i++ {
					if i == j {
						v[at+i] = col[i]
					} else {
						v[at+i] = (col[i] + m[i*n+j]) * (math.Sqrt2 / 2)
					}
				}
			}
		}
	}
}

// triangular is a factorisation M = L D L' of a positive definite matrix.
type triangular struct {
	n    int
	l, d []float64
	root []float64 // D^-1/2
	sign []int8
	dense.Within
}

func newTriangular(n int, within dense.Within) *triangular {
	t := &triangular{n: n, Within: within, l: make([]float64, n*n), d: make([]float64, n), root: make([]float64, n),
		sign: make([]int8, n)}
	for i := range t.sign {
		t.sign[i] = 1
	}
	return t
}

// factor factors m, of which it reads the lower triangle; false when m is not positive definite.
func (t *triangular) factor(m []float64) bool {
	copy(t.l, m)
	if t.Stop.Reached(t.n*t.n/2) || t.LDL(t.n, t.l, t.n, t.d, t.sign, 0, 1) > 0 {
		return false
	}
	if t.Stop.Reached(0) {
		return false
	}
	for i, v := range t.d {
		t.root[i] = 1 / math.Sqrt(v)
	}
	return finite(t.d) && finite(t.root)
}

// inverseBlock is the number of rows that inverse takes at a time, so that only
// the nonzero part of the triangular factors is worked on.
const inverseBlock = 64

// inverse writes X = L^-T and M^-1 = X D^-1 X', with a work matrix.
func (t *triangular) inverse(x, out, w []float64) {
	n := t.n
	clear(x)
	for i := range n {
		x[i+i*n] = 1
	}
	for i := 0; i < n; i += inverseBlock { // rows i.. of X, zero left of column i
		nb := min(inverseBlock, n-i)
		if t.Stop.Reached(nb * (n - i)) {
			return
		}
		t.TrsmRightLT(nb, n-i, t.l[i+i*n:], n, x[i+i*n:], n)
	}
	for i, d := range t.d {
		for r, v := range x[i*n : i*n+i+1] {
			w[i*n+r] = -v / d
		}
		clear(w[i*n+i+1 : i*n+n])
	}
	clear(out)
	for i := 0; i < n; i += inverseBlock { // rows i.. up to their diagonal
		nb := min(inverseBlock, n-i)
		if t.Stop.Reached(nb * (i + nb)) {
			return
		}
		t.GemmNT(nb, i+nb, n-i, w[i+i*n:], n, x[i*n:], n, out[i:], n)
	}
	mirror(out, n)
}

// solve writes M^-1 V = X (V X D^-1)' into out, V symmetric, and overwrites V. The
// errors of the result are those of a solve, large only along the eigenvectors of M with
// small eigenvalues; M^-1 itself has errors as large as that in all its entries, and
// would carry them to where the other matrix of a pair has its small eigenvalues.
func (t *triangular) solve(out, v, x []float64) {
	n := t.n
	if t.TrsmRightLT(n, n, t.l, n, v, n); t.Stop.Reached(2 * n * n) {
		return
	}
	for j, d := range t.d {
		dense.Scale(v[j*n:j*n+n], -1/d)
	}
	clear(out)
	for i := 0; i < n; i += inverseBlock {
		nb := min(inverseBlock, n-i)
		if t.Stop.Reached(nb * n) {
			return
		}
		t.GemmNT(nb, n, n-i, x[i+i*n:], n, v[i*n:], n, out[i:], n)
	}
}

// roots writes L D^1/2 and its transpose.
func (t *triangular) roots(out, outT []float64) {
	n := t.n
	for j, d := range t.d {
		r := math.Sqrt(d)
		clear(out[j*n : j*n+j])
		clear(outT[j*n+j+1 : j*n+n])
		out[j+j*n], outT[j+j*n] = r, r
		for i := j + 1; i < n; i++ {
			v := t.l[i+j*n] * r
			out[i+j*n], outT[j+i*n] = v, v
		}
	}
}

// divide overwrites m with m L^-T D^-1/2.
func (t *triangular) divide(m []float64) {
	n := t.n
	t.TrsmRightLT(n, n, t.l, n, m, n)
	for j, r := range t.root {
		dense.Scale(m[j*n:j*n+n], r)
	}
}

// transpose writes m' into out.
func transpose(out, m []float64, n int) {
	for jb := 0; jb < n; jb += tile {
		for ib := 0; ib < n; ib += tile {
			for j := jb; j < min(jb+tile, n); j++ {
				for i := ib; i < min(ib+tile, n); i++ {
					out[i*n+j] = m[j*n+i]
				}
			}
		}
	}
}

// mulTo writes A B' into out, all of order n.
func mulTo(within dense.Within, out, a, b []float64, n int) {
	clear(out[:n*n])
	if within.GemmNT(n, n, n, a, n, b, n, out, n); within.Stop.Reached(4 * n * n) {
		return
	}
	for i, v := range out[:n*n] {
		out[i] = -v
	}
}
