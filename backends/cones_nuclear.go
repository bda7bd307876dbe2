package backends

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

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
	shift: func(_ Cone, s []float64, a float64) { s[0] += a },
}

// normSet is {(t, X): norm(X) <= t}.
func normSet(norm func(c Cone, x []float64) float64) set {
	return set{
		distance: func(c Cone, s []float64) float64 { return max(0, norm(c, s[1:])-s[0]) },
		into:     func(c Cone, s []float64) { s[0] = max(s[0], norm(c, s[1:])*inside(c.Dim)) },
	}
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
