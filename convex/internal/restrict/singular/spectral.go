package singular

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// triplets are singular values of a matrix, in decreasing order, with their vectors as columns.
type triplets struct {
	s    []float64
	u, v *mat.Dense // nil where there are none
}

// matrix returns the sum of the triplets by rows.
func (t triplets) matrix(rows, cols int) []float64 {
	out := make([]float64, rows*cols)
	if len(t.s) == 0 {
		return out
	}
	scaled := mat.DenseCopyOf(t.u)
	for i := range rows {
		floats.Mul(scaled.RawRowView(i), t.s)
	}
	mat.NewDense(rows, cols, out).Mul(scaled, t.v.T())
	return out
}

// smaller returns A'A for tall matrices and AA' for others.
func smaller(a *mat.Dense) (gram *mat.SymDense, tall bool) {
	rows, cols := a.Dims()
	gram = new(mat.SymDense)
	if tall = rows >= cols; tall {
		gram.SymOuterK(1, a.T())
	} else {
		gram.SymOuterK(1, a)
	}
	return gram, tall
}

// leading returns the largest singular triplets of a matrix by rows: those above the threshold, at most limit. They
// come from the eigenvalues of the smaller Gram matrix.
func leading(x []float64, rows int, threshold float64, limit int) triplets {
	a := mat.NewDense(rows, len(x)/rows, x)
	gram, tall := smaller(a)
	var eig mat.EigenSym
	if !eig.Factorize(gram, true) {
		return triplets{}
	}
	values := eig.Values(nil)
	var vectors mat.Dense
	eig.VectorsTo(&vectors)
	n := len(values)
	var t triplets
	for k := n - 1; k >= 0 && len(t.s) < limit; k-- { // they come in increasing order
		s := math.Sqrt(max(0, values[k]))
		if !(s > threshold) || s == 0 {
			break
		}
		t.s = append(t.s, s)
	}
	r := len(t.s)
	if r == 0 {
		return triplets{}
	}
	one, other := mat.NewDense(n, r, nil), new(mat.Dense)
	for k := range r {
		one.SetCol(k, mat.Col(nil, n-1-k, &vectors))
	}
	if tall {
		other.Mul(a, one)
	} else {
		other.Mul(a.T(), one)
	}
	for k, s := range t.s {
		col := mat.Col(nil, k, other)
		floats.Scale(1/s, col)
		other.SetCol(k, col)
	}
	t.u, t.v = other, one
	if !tall {
		t.u, t.v = one, other
	}
	return t
}

// spectralBound bounds the largest singular value of a matrix by rows, which it is but for rounding.
func spectralBound(x []float64, rows int) float64 {
	gram, _ := smaller(mat.NewDense(rows, len(x)/rows, x))
	var eig mat.EigenSym
	if !eig.Factorize(gram, false) {
		return math.Sqrt(mat.Norm(gram, 1)) // |A|_2^2 <= |A'A|_1
	}
	const rounding = 1e-12
	return math.Sqrt(max(0, slices.Max(eig.Values(nil)))) * (1 + rounding)
}
