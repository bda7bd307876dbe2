package separable

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// matrix is an m x n matrix G, known at some places, which rows of the design belong to: in the place of |b|_1 the
// shared penalty is |G|_*, and the predictions are X b + b0 + G at the places. G is by rows, and a place is i n + j.
//
// For a multiplier mu of |G|_* and residuals u, with R(u) the matrix that has u at the places, G has the singular
// values of
//
//	Z = C - R(u) / rho = U S V',   less mu / rho, as far as they are above it,
//
// and the derivative of G in Z maps U H V' to U D(H) V' with
//
//	D(H)_pq = e_pq H_pq + o_pq H_qp,   2 e_pq = a + b,  2 o_pq = a - b,
//	a = (f_p - f_q) / (s_p - s_q),  b = (f_p + f_q) / (s_p + s_q)
//
// for f the singular values of G, where p or q is one that is not zero (Ding, Sun, Sun, Toh, Mathematical Programming
// 168, 2018).
type matrix struct {
	m, n       int
	train, val []int // places
}

// NewCompletion takes known entries of an m x n matrix for training and validation, with the features of each, and
// their places i n + j, which are in it. The last penalty is the nuclear norm of the matrix. It is for small matrices:
// each step decomposes one.
func NewCompletion(train, val Rows, trainAt, valAt []int, m, n int, members [][]int, intercept bool) *Regression {
	g := New(train, val, members, true, intercept)
	g.matrix = &matrix{m: m, n: n, train: trainAt, val: valAt}
	return g
}

// spectrum is a singular value decomposition U S V' of an m x n matrix, U and V square.
type spectrum struct {
	u, v *mat.Dense
	s    []float64 // decreasing
}

// decompose returns the spectrum of a matrix, nil where there is none.
func decompose(z *mat.Dense) *spectrum {
	var svd mat.SVD
	if !svd.Factorize(z, mat.SVDFull) {
		return nil
	}
	out := &spectrum{u: new(mat.Dense), v: new(mat.Dense), s: svd.Values(nil)}
	svd.UTo(out.u)
	svd.VTo(out.v)
	return out
}

// rank is the number of singular values above least.
func (z *spectrum) rank(least float64) int {
	k := 0
	for k < len(z.s) && z.s[k] > least {
		k++
	}
	return k
}

// lead are the first k singular vectors.
func (z *spectrum) lead(k int) (u, v mat.Matrix) {
	m, _ := z.u.Dims()
	n, _ := z.v.Dims()
	return z.u.Slice(0, m, 0, k), z.v.Slice(0, n, 0, k)
}

// cut sets g to the matrix with singular values that are smaller by least, and returns their sum.
func (z *spectrum) cut(least float64, g *mat.Dense) (sum float64) {
	k := z.rank(least)
	if k == 0 {
		g.Zero()
		return 0
	}
	u, v := z.lead(k)
	scaled := mat.DenseCopyOf(u)
	for p := range k {
		f := z.s[p] - least
		sum += f
		for i := range scaled.RawMatrix().Rows {
			scaled.Set(i, p, scaled.At(i, p)*f)
		}
	}
	g.Mul(scaled, v.T())
	return sum
}

// signs is U_k V_k', the derivative of the sum of the first k singular values.
func (z *spectrum) signs(k int) *mat.Dense {
	m, _ := z.u.Dims()
	n, _ := z.v.Dims()
	out := mat.NewDense(m, n, nil)
	if k > 0 {
		u, v := z.lead(k)
		out.Mul(u, v.T())
	}
	return out
}

// weights are e_pq and o_pq for a singular value p above least. Those q that a matrix of other than square shape has no
// value for count as zeros.
func (z *spectrum) weights(p, q int, least float64) (e, o float64) {
	switch {
	case p == q:
		return 1, 0
	case q >= len(z.s):
		return 1 - least/z.s[p], 0
	}
	a := 1.
	if z.s[q] < least {
		a = (z.s[p] - least) / (z.s[p] - z.s[q])
	}
	b := (z.s[p] - least + math.Max(0, z.s[q]-least)) / (z.s[p] + z.s[q])
	return (a + b) / 2, (a - b) / 2
}

// pick are the entries of a matrix at the places of a part.
func (p *part) pick(g *mat.Dense) []float64 {
	out := make([]float64, len(p.places))
	data := g.RawMatrix().Data
	for e, at := range p.places {
		out[e] = data[at]
	}
	return out
}

// spread adds R(u), times a factor, to a matrix.
func (p *part) spread(to *mat.Dense, factor float64, u []float64) {
	data := to.RawMatrix().Data
	for e, at := range p.places {
		data[at] += factor * u[e]
	}
}

// least is what singular values of the matrix are cut by.
func (p *program) least(s *portion) float64 { return s.ms / p.rho }

// threshold is what coefficients are cut by: the multiplier of |b|_1, if that is shared.
func (p *program) threshold(s *portion) float64 {
	if p.matrix != nil {
		return 0
	}
	return s.ms
}

// unfold decomposes Z.
func (p *ascent) unfold(t int, s *portion) {
	z := mat.NewDense(p.matrix.m, p.matrix.n, slices.Clone(p.centreG[t]))
	p.parts[t].spread(z, -1/p.rho, s.u)
	if found := decompose(z); found != nil {
		s.z = found
	}
}

// fold sets G, and returns what it has in the Lagrangian but for its norm.
func (p *ascent) fold(t int, s *portion) (value float64) {
	s.l1 += s.z.cut(p.least(s), s.g)
	for e, v := range p.parts[t].pick(s.g) {
		value += s.u[e] * v
	}
	d := floats.Distance(s.g.RawMatrix().Data, p.centreG[t], 2)
	return value + p.rho/2*d*d
}
