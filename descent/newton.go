package descent

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/stop"
)

const (
	// newtonMost bounds the order of the matrix of a Newton step.
	newtonMost = 1000
	// newtonRidge, relative to the mean diagonal, keeps the matrix of a Newton step positive definite.
	newtonRidge = 1e-12
)

// newton minimises over the coefficients of cols that are not zero, S, while their signs
// last. With the signs fixed the objective is quadratic, with the minimum at b + d,
//
//	(X_S'X_S / n + diag(w2)) d = q = X_S'u / n - w1 sign(b) - w2 b.
//
// Where signs change on the way, the step either sets all those coefficients to zero, if
// that is lower than points before, or stops earlier; then the next step is taken without them, until the
// multiplications exceed the budget. It says whether the iterate changed.
func (s *solve) newton(cols []int, budget float64) (changed bool) {
	set := s.support(cols)
	if len(set) == 0 || min(len(set), s.x.n) > newtonMost {
		return false
	}
	s.newtons++
	s.fold()
	system := s.newSystem(set)
	for spent := s.newtonWork(cols); ; spent += system.work() {
		if system.stopped || s.stop.Look() {
			return changed
		}
		set = system.set
		q := make([]float64, len(set))
		for i, j := range set {
			q[i] = s.correlation(j, s.r, s.off) - math.Copysign(s.w1[j], s.b[j]) - s.w2[j]*s.b[j]
		}
		d := system.solve(q)
		if d == nil {
			return changed
		}
		kept, moved := s.advance(set, q, d)
		changed = changed || moved
		if !moved || len(kept) == len(set) || len(kept) == 0 || spent > budget {
			return changed
		}
		system.restrict(kept)
	}
}

// work estimates the multiplications of one more step.
func (y *system) work() float64 {
	k, n := float64(len(y.set)), y.s.n
	if y.h == nil {
		return k*n*(n/2+3) + n*n*n/6
	}
	return k*k*k/6 + 3*k*n
}

// advance goes along d, as described at newton, and returns the positions in set whose coefficients are not zero.
func (s *solve) advance(set []int, q, d []float64) (kept []int, moved bool) {
	// Along d the objective falls by t q'd - t^2/2 d'Hd until the first change of sign.
	image, off := make([]float64, len(s.r)), 0.0
	curvature := 0.0
	for i, j := range set {
		s.x.axpy(d[i], j, image)
		if s.mean != nil {
			off -= d[i] * s.mean[j]
		}
		curvature += s.w2[j] * d[i] * d[i]
	}
	curvature += floats.Dot(image, image)/s.n - off*off
	if slope := floats.Dot(q, d); !(slope > 0) {
		return nil, false
	} else if t := slope / curvature; t > 1 && !math.IsInf(t, 1) {
		floats.Scale(t, d) // the ridge made the step too short
		floats.Scale(t, image)
		off *= t
	}
	t := 1.0
	for i, j := range set {
		if s.b[j]*d[i] < 0 && math.Abs(d[i])*t > math.Abs(s.b[j]) {
			t = -s.b[j] / d[i]
		}
	}
	before := s.loss(s.r, s.off) + s.penalty(set, s.b)
	old, oldR, oldOff := make([]float64, len(set)), append([]float64(nil), s.r...), s.off
	for i, j := range set {
		old[i] = s.b[j]
	}
	// go to b + t d, with the coefficients that change their sign up to there set to zero.
	attempt := func(t float64) float64 {
		floats.AddScaledTo(s.r, oldR, -t, image)
		s.off = oldOff - t*off
		for i, j := range set {
			b := old[i] + t*d[i]
			if b*old[i] <= 0 || math.Abs(b) <= 1e-15*math.Abs(old[i]) {
				s.move(j, b)
				b = 0
			}
			s.b[j] = b
		}
		return s.loss(s.r, s.off) + s.penalty(set, s.b)
	}
	value, at := attempt(1), 1.0
	for try := 0.5; at > t; try /= 4 {
		try = math.Max(try, t)
		v := attempt(try)
		if !(v < value) {
			if value < before {
				attempt(at)
				break
			}
		}
		value, at = v, try
	}
	if !(value < before) { // rounding has the last word: no progress
		copy(s.r, oldR)
		s.off = oldOff
		for i, j := range set {
			s.b[j] = old[i]
		}
		return nil, false
	}
	for i, j := range set {
		if s.b[j] != 0 {
			kept = append(kept, i)
		}
	}
	return kept, true
}

// system is the matrix of the Newton steps over a shrinking set.
type system struct {
	s   *solve
	set []int
	// The matrix and the ridge on its diagonal; nil if the set is larger than n.
	h       *mat.SymDense
	ridge   float64
	factor  definite
	stopped bool // while it was formed
}

func (s *solve) newSystem(set []int) *system {
	y := &system{s: s, set: set}
	y.factor.end = &s.stop
	if len(set) <= s.x.n {
		y.form()
	}
	return y
}

func (y *system) form() {
	if y.h = y.s.hessian(y.set, y.s.w2, &y.s.stop); y.h == nil {
		y.stopped = true
		return
	}
	y.ridge = newtonRidge * mat.Trace(y.h) / float64(len(y.set))
}

// restrict keeps the positions kept of the set.
func (y *system) restrict(kept []int) {
	set := make([]int, len(kept))
	for i, k := range kept {
		set[i] = y.set[k]
	}
	y.set = set
	switch {
	case y.h != nil:
		h := mat.NewSymDense(len(kept), nil)
		to, from := h.RawSymmetric(), y.h.RawSymmetric()
		for i, k := range kept {
			row, known := to.Data[i*to.Stride:i*to.Stride+len(kept)], from.Data[k*from.Stride:k*from.Stride+from.N]
			for l := i; l < len(kept); l++ {
				row[l] = known[kept[l]]
			}
		}
		y.h = h
	case len(set) <= y.s.x.n:
		y.form()
	}
}

// solve returns d; nil if the matrix is not positive definite to rounding.
func (y *system) solve(q []float64) []float64 {
	if y.h == nil {
		return y.solveWide(q)
	}
	if !y.factor.factorSym(y.h, y.ridge) {
		return nil
	}
	d := append([]float64(nil), q...)
	y.factor.solve(d)
	return d
}

// solveWide is solve for more coefficients than rows: with W = diag(w2) and the ridge,
//
//	d = W^-1 (q - X_S' (n I + X_S W^-1 X_S')^-1 X_S W^-1 q).
func (y *system) solveWide(q []float64) []float64 {
	s, n, k := y.s, y.s.x.n, len(q)
	trace := 0.0
	for _, j := range y.set {
		trace += s.norm2[j] / s.n
	}
	w := make([]float64, k)
	columns := make([]float64, n*k) // X_S W^-1/2
	image := make([]float64, n)
	m := mat.NewSymDense(n, nil)
	whole := s.outers(m, 1, k, func(i int, column []float64) {
		j := y.set[i]
		w[i] = math.Max(s.w2[j], 1e4*newtonRidge*trace/float64(k))
		s.x.axpy(1, j, column)
		if s.mean != nil {
			floats.AddConst(-s.mean[j], column)
		}
		floats.AddScaled(image, q[i]/w[i], column)
		floats.Scale(1/math.Sqrt(w[i]), column)
		copy(columns[i*n:], column)
	})
	if !whole {
		return nil
	}
	if !y.factor.factorSym(m, s.n) {
		return nil
	}
	y.factor.solve(image)
	d := make([]float64, k)
	for i, v := range q {
		d[i] = (v - math.Sqrt(w[i])*floats.Dot(columns[i*n:(i+1)*n], image)) / w[i]
	}
	return d
}

// Hessian is X_S'X_S / n + diag(w2) of the columns S, centred if there is an intercept; w2 holds a
// weight for each of the p features, or is nil.
func (g *Regression) Hessian(set []int, w2 []float64) *mat.SymDense {
	return g.hessian(set, w2, nil)
}

// hessian is Hessian, or nil where it was stopped.
func (g *Regression) hessian(set []int, w2 []float64, end *stop.Stop) *mat.SymDense {
	k, n := len(set), g.x.n
	if k == 0 {
		return &mat.SymDense{}
	}
	h := mat.NewSymDense(k, nil)
	if g.gram != nil {
		raw := h.RawSymmetric()
		for i, j := range set {
			known, row := g.gram.row(j), raw.Data[i*raw.Stride:i*raw.Stride+k]
			for l := i; l < k; l++ {
				row[l] = known[set[l]]
			}
			if w2 != nil {
				row[i] += w2[j]
			}
		}
		return h
	}
	if g.x.dense != nil {
		a := make([]float64, k*n)
		for i, j := range set {
			copy(a[i*n:(i+1)*n], g.x.column(j))
		}
		rows := max(leastBlock, blockWork/(k*k)) // in one go
		for from := 0; from < n; from += rows {
			if from > 0 && end.Look() {
				return nil
			}
			part := blas64.General{Rows: k, Cols: min(rows, n-from), Stride: n, Data: a[from:]}
			blas64.Syrk(blas.NoTrans, 1/float64(n), part, min(1, float64(from)), h.RawSymmetric())
		}
	} else {
		column := make([]float64, n)
		for i, j := range set {
			if end.Look() {
				return nil
			}
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
