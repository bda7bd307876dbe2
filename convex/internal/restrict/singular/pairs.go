package singular

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex/internal/compile"
)

// pairs are the directions in which a matrix variable may move in a restricted program: X = U C V' with orthonormal columns u_a
// and v_a of U (m x k) and V (n x k). By default C is diagonal with nonnegative entries; with face it is symmetric and positive
// semidefinite, so that X runs through a face of the ball of the nuclear norm. In both cases
//
//	|X|_* = tr C,   |X - A|^2 = |C - (U'AV + V'A'U)/2|^2 + constant
//
// (in the first one with the diagonal of the second C). C is a vector of its entries on and
// below the diagonal, column by column, those below times sqrt 2; without face it is its diagonal.
type pairs struct {
	mv   *compile.MatrixVariable
	u, v *mat.Dense // nil where there are none
	face bool
}

// size is the number k of pairs.
func (s *pairs) size() int {
	if s.u == nil {
		return 0
	}
	_, k := s.u.Dims()
	return k
}

// length is the number of unknowns in C.
func (s *pairs) length() int {
	if k := s.size(); s.face {
		return k * (k + 1) / 2
	}
	return s.size()
}

// below is the number of unknowns in column b of C.
func (s *pairs) below(b int) int {
	if s.face {
		return s.size() - b
	}
	return 1
}

// trace returns the coefficients of f tr C.
func (s *pairs) trace(f float64) []float64 {
	out := make([]float64, s.length())
	for b, at := 0, 0; b < s.size(); at, b = at+s.below(b), b+1 {
		out[at] = f
	}
	return out
}

// along returns the C that is nearest to U'AV, for A by rows, without the bound on its eigenvalues.
func (s *pairs) along(a []float64) []float64 {
	out := make([]float64, 0, s.length())
	k := s.size()
	if k == 0 {
		return out
	}
	var av, c mat.Dense
	av.Mul(mat.NewDense(s.mv.Rows, s.mv.Cols, a), s.v)
	c.Mul(s.u.T(), &av)
	for b := range k {
		for a := b; a < b+s.below(b); a++ {
			if a == b {
				out = append(out, c.At(a, a))
			} else {
				out = append(out, (c.At(a, b)+c.At(b, a))/math.Sqrt2)
			}
		}
	}
	return out
}

// diagonalize returns the pairs turned so that C is diagonal, with its diagonal.
func (s *pairs) diagonalize(c []float64) triplets {
	k := s.size()
	if !s.face || k == 0 {
		return triplets{slices.Clone(c), s.u, s.v}
	}
	full := mat.NewSymDense(k, nil)
	for b, at := 0, 0; b < k; b++ {
		for a := b; a < k; a, at = a+1, at+1 {
			if a == b {
				full.SetSym(a, a, c[at])
			} else {
				full.SetSym(a, b, c[at]/math.Sqrt2)
			}
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(full, true) {
		return triplets{make([]float64, k), s.u, s.v}
	}
	var q, u, v mat.Dense
	eig.VectorsTo(&q)
	u.Mul(s.u, &q)
	v.Mul(s.v, &q)
	return triplets{eig.Values(nil), &u, &v}
}

// matrix returns the sum of the triplets by rows.
func (t triplets) matrix(rows, cols int) []float64 {
	if len(t.s) == 0 {
		return make([]float64, rows*cols)
	}
	var x mat.Dense
	uc := mat.DenseCopyOf(t.u)
	scaleColumns(uc, func(a int) float64 { return t.s[a] })
	x.Mul(uc, t.v.T())
	return x.RawMatrix().Data
}

// addEntry adds f times the coefficients of C in entry e of X to row.
func (s *pairs) addEntry(row []float64, f float64, e int) {
	ui, vj := s.u.RawRowView(e/s.mv.Cols), s.v.RawRowView(e%s.mv.Cols)
	if !s.face {
		for a, x := range ui {
			row[a] += f * x * vj[a]
		}
		return
	}
	at := 0
	for b := range ui {
		row[at] += f * ui[b] * vj[b]
		at++
		for a := b + 1; a < len(ui); a, at = a+1, at+1 {
			row[at] += f * (ui[a]*vj[b] + ui[b]*vj[a]) / math.Sqrt2
		}
	}
}

// apart is the least part of a new pair's vectors that is orthogonal to the others.
const apart = 0.1

// join adds pairs of vectors to the pairs, those with which the sum moves by -u v' where
// minus is set. Pairs that are too near to what is there are left out.
func (s *pairs) join(t triplets, minus bool) {
	for k := range t.s {
		u, v := mat.Col(nil, k, t.u), mat.Col(nil, k, t.v)
		if minus {
			floats.Scale(-1, u)
		}
		if independent(u, s.u) && independent(v, s.v) {
			s.u, s.v = widen(s.u, u), widen(s.v, v)
		}
	}
}

// independent makes x a unit vector that is orthogonal to the orthonormal columns of q, and says whether there was enough of it.
func independent(x []float64, q *mat.Dense) bool {
	norm := floats.Norm(x, 2)
	if !(norm > 0) {
		return false
	}
	floats.Scale(1/norm, x)
	if q == nil {
		return true
	}
	rows, cols := q.Dims()
	if cols >= rows {
		return false
	}
	for range 2 {
		var c, back mat.VecDense
		v := mat.NewVecDense(rows, x)
		c.MulVec(q.T(), v)
		back.MulVec(q, &c)
		v.SubVec(v, &back)
		if norm = floats.Norm(x, 2); norm < apart {
			return false
		}
		floats.Scale(1/norm, x)
	}
	return true
}

// widen appends a column.
func widen(q *mat.Dense, x []float64) *mat.Dense {
	if q == nil {
		return mat.NewDense(len(x), 1, x)
	}
	rows, cols := q.Dims()
	out := mat.NewDense(rows, cols+1, nil)
	for i := range rows {
		row := out.RawRowView(i)
		copy(row, q.RawRowView(i))
		row[cols] = x[i]
	}
	return out
}
