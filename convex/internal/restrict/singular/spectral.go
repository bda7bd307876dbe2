package singular

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// orthonormal returns an orthonormal basis of the columns of the given matrices, which may be nil: those of the first, which are
// orthonormal already, and what the others add. A column that is in the span of those before it up to independent times its
// length adds nothing.
func orthonormal(rows int, parts ...*mat.Dense) *mat.Dense {
	const independent = 1e-6
	var basis [][]float64
	for _, part := range parts {
		if part == nil {
			continue
		}
		_, cols := part.Dims()
		for j := range cols {
			if len(basis) == rows {
				break
			}
			v := mat.Col(nil, j, part)
			norm := floats.Norm(v, 2)
			if !(norm > 0) || math.IsInf(norm, 1) {
				continue
			}
			floats.Scale(1/norm, v)
			for range 2 { // the second pass removes what rounding left
				for _, b := range basis {
					floats.AddScaled(v, -floats.Dot(b, v), b)
				}
			}
			if norm = floats.Norm(v, 2); norm < independent {
				continue
			}
			floats.Scale(1/norm, v)
			for _, b := range basis { // as v was short, once more
				floats.AddScaled(v, -floats.Dot(b, v), b)
			}
			floats.Scale(1/floats.Norm(v, 2), v)
			basis = append(basis, v)
		}
	}
	if len(basis) == 0 {
		return nil
	}
	q := mat.NewDense(rows, len(basis), nil)
	for j, b := range basis {
		q.SetCol(j, b)
	}
	return q
}

// triplets are singular values of a matrix, in decreasing order, with their vectors as columns.
type triplets struct {
	s    []float64
	u, v *mat.Dense // nil where there are none
}

// compactSVD returns the singular triplets of a small matrix by rows.
func compactSVD(x []float64, rows int) triplets {
	if len(x) == 0 {
		return triplets{}
	}
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(rows, len(x)/rows, x), mat.SVDThin) {
		return triplets{}
	}
	t := triplets{s: svd.Values(nil), u: new(mat.Dense), v: new(mat.Dense)}
	svd.UTo(t.u)
	svd.VTo(t.v)
	return t
}

// first keeps the first r triplets.
func (t triplets) first(r int) triplets {
	if r == 0 || t.u == nil {
		return triplets{}
	}
	rows, cols := t.u.RawMatrix().Rows, t.v.RawMatrix().Rows
	return triplets{t.s[:r], t.u.Slice(0, rows, 0, r).(*mat.Dense), t.v.Slice(0, cols, 0, r).(*mat.Dense)}
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

// leading returns the largest singular triplets of a matrix by rows: those above the threshold, at most limit. They come from
// the eigenvalues of the smaller Gram matrix.
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

// spectralBound returns an upper bound of the largest singular value of a matrix by rows that is at least low, and no larger than
// the larger of low and 1 + 1e-6 times the largest singular value. It is proved by a Cholesky factorisation.
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

// without removes from x what is in the span of the orthonormal columns of q.
func without(x, q *mat.Dense) {
	var c, back mat.Dense
	c.Mul(q.T(), x)
	back.Mul(q, &c)
	x.Sub(x, &back)
}
