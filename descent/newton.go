package descent

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// newtonMost bounds the coefficients of a Newton step: its matrix has their number squared.
const newtonMost = 1000

// newton minimises over the coefficients of cols that are not zero, S, while their signs
// last. With the signs fixed the objective is quadratic, and its minimum is b + d with
//
//	(X_S'X_S / n + diag(w2)) d = X_S'u / n - w1 sign(b) - w2 b.
//
// Where b + d has other signs, it goes as far as the first change, sets that
// coefficient to zero, and lets the epochs go on. It says whether the iterate changed.
func (s *solve) newton(cols []int) bool {
	set := s.support(cols)
	if len(set) == 0 || len(set) > newtonMost {
		return false
	}
	s.newtons++
	s.fold()
	var chol mat.Cholesky
	if !chol.Factorize(s.Hessian(set, s.w2)) {
		return false
	}
	d := mat.NewVecDense(len(set), nil)
	for i, j := range set {
		d.SetVec(i, s.correlation(j, s.r, 0)-math.Copysign(s.w1[j], s.b[j])-s.w2[j]*s.b[j])
	}
	if err := chol.SolveVecTo(d, d); err != nil {
		if _, bad := err.(mat.Condition); !bad {
			return false
		}
	}
	t, first := 1.0, -1
	for i, j := range set {
		if v := d.AtVec(i); s.b[j]*v < 0 && math.Abs(v)*t > math.Abs(s.b[j]) {
			t, first = -s.b[j]/v, i
		}
	}
	before := s.loss(s.r, s.off) + s.penalty(cols, s.b)
	old := make([]float64, len(set))
	for i, j := range set {
		old[i] = s.b[j]
		b := s.b[j] + t*d.AtVec(i)
		if i == first {
			b = 0
		}
		s.b[j] = b
		s.move(j, old[i]-b)
	}
	if s.loss(s.r, s.off)+s.penalty(cols, s.b) < before {
		return true
	}
	for i, j := range set { // rounding has the last word: no progress
		s.move(j, s.b[j]-old[i])
		s.b[j] = old[i]
	}
	return false
}

// Hessian is X_S'X_S / n + diag(w2) of the columns S, centred if there is an intercept; w2 holds a
// weight for each of the p features, or is nil.
func (g *Regression) Hessian(set []int, w2 []float64) *mat.SymDense {
	k, n := len(set), g.x.n
	if k == 0 {
		return &mat.SymDense{}
	}
	h := mat.NewSymDense(k, nil)
	if g.x.dense != nil {
		a := make([]float64, k*n)
		for i, j := range set {
			copy(a[i*n:(i+1)*n], g.x.column(j))
		}
		blas64.Syrk(blas.NoTrans, 1/float64(n), blas64.General{Rows: k, Cols: n, Stride: n, Data: a}, 0, h.RawSymmetric())
	} else {
		column := make([]float64, n)
		for i, j := range set {
			g.x.axpy(1, j, column)
			for l, m := range set[i:] {
				h.SetSym(i, i+l, g.x.dot(m, column)/float64(n))
			}
			for _, row := range g.x.index[g.x.start[j]:g.x.start[j+1]] {
				column[row] = 0
			}
		}
	}
	for i, j := range set {
		if w2 != nil {
			h.SetSym(i, i, h.At(i, i)+w2[j])
		}
		if g.mean == nil {
			continue
		}
		for l, m := range set[i:] {
			h.SetSym(i, i+l, h.At(i, i+l)-g.mean[j]*g.mean[m])
		}
	}
	return h
}
