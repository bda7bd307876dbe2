package singular

import (
	"math"

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

// spectralBound returns an upper bound of the largest singular value of a matrix by rows that is at least low, and no
// larger than the larger of low and 1 + 1e-6 times the largest singular value. It is proved by a Cholesky
// factorisation.
func spectralBound(x []float64, rows int, low float64) float64 {
	gram, _ := smaller(mat.NewDense(rows, len(x)/rows, x))
	n := gram.SymmetricDim()
	bound := low
	if !(low > 0) {
		bound = math.Sqrt(mat.Norm(gram, 1))
		if bound == 0 {
			return low
		}
	}
	for range 60 {
		// bound^2 I - A'A is positive definite
		var shifted mat.SymDense
		shifted.ScaleSym(-1, gram)
		for j := range n {
			shifted.SetSym(j, j, bound*bound+shifted.At(j, j))
		}
		var chol mat.Cholesky
		if chol.Factorize(&shifted) {
			return bound
		}
		if bound == low {
			if top := leading(x, rows, 0, 1); len(top.s) > 0 {
				bound = max(bound, top.s[0])
			}
			bound *= 1 + 1e-12
			continue
		}
		bound *= 1 + 1e-7
	}
	return math.Sqrt(mat.Norm(gram, 1)) // |A|_2^2 <= |A'A|_1
}
