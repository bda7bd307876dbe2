package backends

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
)

// psdFamily has the cones of positive semidefinite matrices, which are their own duals.
var psdFamily = family{
	name: "psd", wrong: wrongPSD, own: semidefinite, dual: semidefinite, separate: separatePSD, ray: true,
	shift: func(_ Cone, s []float64, a float64) { addToDiagonal(s, a) }, tangent: tangentPSD,
}

var semidefinite = set{
	distance: func(_ Cone, s []float64) float64 { return lacking(s, 0) },
	into: func(_ Cone, s []float64) {
		if moved := lacking(s, eigenvalueError(s)); moved > 0 {
			addToDiagonal(s, moved)
		}
	},
	barely: func(_ Cone, s []float64) {
		moved := lacking(s, eigenvalueError(s))
		if moved > 0 && PSDOrder(len(s)) < definiteFrom {
			if rest, lost := beyondSquare(s); rest != nil {
				if less := lacking(rest, eigenvalueError(rest)) + lost; less < moved { // and a number
					moved = less
				}
			}
		}
		if moved > 0 {
			addToDiagonal(s, moved)
		}
	},
}

// eigenvalueError bounds the error of the eigenvalues of the matrix of s.
func eigenvalueError(s []float64) float64 {
	n := PSDOrder(len(s))
	if n == 1 {
		return 0
	}
	return 4 * float64(n) * unitRoundoff * norm2(s)
}

// beyondSquare returns the matrix of s less an LL' near it, nil where there is none, with a bound of the error: what
// makes that positive semidefinite makes s so. It is some last places of s where s is near the cone, of which the error
// of its eigenvalues is many.
func beyondSquare(s []float64) (rest []float64, lost float64) {
	n, size := PSDOrder(len(s)), maxAbs(s)
	var eigen mat.EigenSym
	if !(size > 0 && size <= math.MaxFloat64) || !eigen.Factorize(symmetric(s, n, size), true) {
		return nil, 0
	}
	var l mat.Dense
	eigen.VectorsTo(&l)
	values := eigen.Values(nil)
	l.Apply(func(_, a int, v float64) float64 { return v * math.Sqrt(size*max(0, values[a])) }, &l)
	rest = make([]float64, len(s))
	k := 0
	for j := range n {
		for i := j; i < n; i++ {
			var e exactSum
			e.add(s[k])
			for a, v := range l.RawRowView(i) {
				if w := -l.At(j, a); i == j {
					e.addProduct(v, w)
				} else {
					e.addTriple(v, w, math.Sqrt2)
					e.addTriple(v, w, rootLow)
				}
			}
			rest[k] = e.value()
			lost += e.bound()
			k++
		}
	}
	return rest, lost
}

// rootLow is what the root of two is more than the number nearest to it.
const rootLow = -9.667293313452913e-17

// lacking returns the least a >= 0 for which the matrix of s and a times the unit has no eigenvalue below least; NaN if
// the matrix is not finite.
func lacking(s []float64, least float64) float64 {
	n, size := PSDOrder(len(s)), maxAbs(s)
	if n < definiteFrom || size == 0 || !(size <= math.MaxFloat64) {
		return max(0, least-smallestEigenvalue(s))
	}
	f := new(factor.Definite)
	if factorOf(s, -least, size, f) {
		return 0
	}
	// An interval around it by factorisations, which take a hundredth of the time of the eigenvalues, and what inverse
	// iteration (Wielandt 1944) finds there: of 1/(a - shortfall), the largest eigenvalue of the inverse, no less than
	// the Rayleigh quotient and the norm of its residual.
	low, high := 0.0, float64(n)*unitRoundoff*size
	for !factorOf(s, high-least, size, f) {
		low, high = high, 16*high
	}
	for low > 0 && high > 1.1*low {
		if a := math.Sqrt(low * high); factorOf(s, a-least, size, f) {
			high = a
		} else {
			low = a
		}
	}
	if low == 0 {
		return high
	}
	factorOf(s, high-least, size, f)
	v, w, state := make([]float64, n), make([]float64, n), uint64(1)
	for i := range v { // any start without symmetries
		state = state*6364136223846793005 + 1442695040888963407
		v[i] = float64(state>>11)/(1<<53) - 0.5
	}
	top := 0.0
	for range inverseSteps {
		dense.Scale(v, 1/norm2(v))
		copy(w, v)
		f.Solve(w)
		quotient := dense.Dot(v, w)
		dense.Axpy(-quotient, v, w)
		if top = quotient + norm2(w); norm2(w) <= inverseAccuracy*quotient {
			break
		}
		dense.Axpy(quotient, v, w)
		v, w = w, v
	}
	return min(max(high-size/top, low), high)
}

const (
	// Inverse iteration ends when the residual is this small beside the eigenvalue.
	inverseAccuracy = 1e-8
	inverseSteps    = 20
)

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

// nuclearNormFamily has the cones of bounds of the nuclear norm, whose duals are those of the largest singular value.
var nuclearNormFamily = family{
	name: "nuclear norm", wrong: wrongNuclear, separate: separateNuclear,
	own: normSet(func(c Cone, x []float64) float64 {
		nuclear, _ := c.matrixNorms(x)
		return nuclear
	}),
	dual: normSet(func(c Cone, x []float64) float64 {
		_, spectral := c.matrixNorms(x)
		return spectral
	}),
	shift: func(_ Cone, s []float64, a float64) { s[0] += a }, tangent: tangentNuclear,
}

func wrongNuclear(c Cone) string {
	switch {
	case c.Rows < 1 || c.Cols < 1:
		return fmt.Sprintf("has a matrix of %d x %d, expected at least one row and one column", c.Rows, c.Cols)
	case c.Dim != 1+c.Rows*c.Cols:
		return fmt.Sprintf("dimension %d, a nuclear norm cone of %d x %d has %d", c.Dim, c.Rows, c.Cols, 1+c.Rows*c.Cols)
	}
	return ""
}

// matrixNorms returns the sum |X|_* and the largest |X|_2 of the singular values of
// the matrix of a NuclearNormCone, given by its columns; NaN if the matrix is not
// finite.
func (c Cone) matrixNorms(x []float64) (nuclear, spectral float64) {
	size := maxAbs(x)
	if size == 0 || !(size <= math.MaxFloat64) {
		return 0 * size, 0 * size // zero, or NaN
	}
	if c.Rows == 1 || c.Cols == 1 { // the only singular value is the norm
		norm := norm2(x)
		return norm, norm
	}
	svd, ok := c.decompose(x, size, mat.SVDNone)
	if !ok {
		return math.NaN(), math.NaN()
	}
	values := svd.Values(nil)
	for _, v := range values {
		nuclear += v
	}
	return size * nuclear, size * values[0]
}

// decompose returns the singular values of X / size, where size is the largest
// entry of X. Entries below 1e-30, far within the rounding of the values, become
// zero: the iteration for the values can fail on blocks of them.
func (c Cone) decompose(x []float64, size float64, kind mat.SVDKind) (*mat.SVD, bool) {
	m := mat.NewDense(c.Rows, c.Cols, nil)
	for k, v := range x {
		if v /= size; math.Abs(v) >= 1e-30 {
			m.Set(k%c.Rows, k/c.Rows, v)
		}
	}
	svd := new(mat.SVD)
	return svd, svd.Factorize(m, kind)
}

// separateNuclear takes z = (1, -UV') for X = U diag(sigma) V': its spectral norm
// is 1, and b'z = t - |X|_*.
func separateNuclear(c Cone, b, z []float64) {
	z[0] = 1
	size := maxAbs(b[1:])
	if size == 0 {
		return
	}
	svd, ok := c.decompose(b[1:], size, mat.SVDThin)
	if !ok {
		return
	}
	var u, v, uv mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	uv.Mul(&u, v.T())
	for k := range b[1:] {
		z[1+k] = -uv.At(k%c.Rows, k/c.Rows)
	}
}
