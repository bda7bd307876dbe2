package singular

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex/internal/compile"
)

const (
	// sizePairs is the step in which the number of pairs grows.
	sizePairs = 8
	// apart is the least part of a new pair's vectors that is orthogonal to the others.
	apart = 0.1
)

// pairs are the directions in which a matrix variable may move in a restricted program: X = sum_a c_a u_a v_a' with
// orthonormal columns u_a and v_a of U (m x k) and V (n x k) and c >= 0, so that
//
//	|X|_* = sum_a c_a,   |X - A|^2 = sum_a (c_a - u_a'A v_a)^2 + constant.
type pairs struct {
	mv   *compile.MatrixVariable
	u, v *mat.Dense // nil where there are none
}

// size is the number k of pairs.
func (s *pairs) size() int {
	if s.u == nil {
		return 0
	}
	_, k := s.u.Dims()
	return k
}

// along returns the u_a'A v_a, for A by rows.
func (s *pairs) along(a []float64) []float64 {
	out := make([]float64, s.size())
	if len(out) == 0 {
		return out
	}
	var av mat.Dense
	av.Mul(mat.NewDense(s.mv.Rows, s.mv.Cols, a), s.v)
	for i := range s.mv.Rows {
		for a, x := range s.u.RawRowView(i) {
			out[a] += x * av.At(i, a)
		}
	}
	return out
}

// addEntry adds f times the coefficients of c in entry e of X to row.
func (s *pairs) addEntry(row []float64, f float64, e int) {
	v := s.v.RawRowView(e % s.mv.Cols)
	for a, x := range s.u.RawRowView(e / s.mv.Cols) {
		row[a] += f * x * v[a]
	}
}

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

// independent makes x a unit vector that is orthogonal to the orthonormal columns of q, and says whether there was
// enough of it.
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

// oppose lets pairs enter along which a certificate of infeasibility does not hold, and says whether there are any.
func (w *Sets) oppose(f *fullPoint, eps float64) bool {
	some := false
	for k, s := range w.pairs {
		part := &f.parts[k]
		if !(part.missed > eps) {
			continue
		}
		before := s.size()
		s.join(leading(part.gradient, s.mv.Rows, part.g, max(sizePairs, before)), true)
		some = some || s.size() > before
	}
	return some
}
