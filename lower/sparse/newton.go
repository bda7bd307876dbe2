package sparse

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/factor"
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
	if len(set) == 0 || min(len(set), s.X.Rows()) > newtonMost {
		return false
	}
	s.newtons++
	s.Fold()
	system := s.newSystem(set)
	for spent := s.newtonWork(cols); ; spent += system.work() {
		if system.stopped || s.Stop.Look() {
			return changed
		}
		set = system.set
		q := make([]float64, len(set))
		for i, j := range set {
			q[i] = s.Correlation(j, s.R, s.Off) - math.Copysign(s.w1[j], s.B[j]) - s.w2[j]*s.B[j]
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
	k, n := float64(len(y.set)), y.s.N
	if y.h == nil {
		return k*n*(n/2+3) + n*n*n/6
	}
	return k*k*k/6 + 3*k*n
}

// advance goes along d, as described at newton, and returns the positions in set whose coefficients are not zero.
func (s *solve) advance(set []int, q, d []float64) (kept []int, moved bool) {
	// Along d the objective falls by t q'd - t^2/2 d'Hd until the first change of sign.
	y, curvature := newRay(&s.Point, set, d), 0.0
	for i, j := range set {
		curvature += s.w2[j] * d[i] * d[i]
	}
	curvature += floats.Dot(y.image, y.image)/s.N - y.off*y.off
	if slope := floats.Dot(q, d); !(slope > 0) {
		return nil, false
	} else if t := slope / curvature; t > 1 && !math.IsInf(t, 1) {
		y.scale(t) // the ridge made the step too short
	}
	t := 1.0
	for i, j := range set {
		if s.B[j]*d[i] < 0 && math.Abs(d[i])*t > math.Abs(s.B[j]) {
			t = -s.B[j] / d[i]
		}
	}
	before := s.Loss(s.R, s.Off) + s.penalty(set, s.B)
	attempt := func(t float64) float64 {
		y.to(t)
		return s.Loss(s.R, s.Off) + s.penalty(set, s.B)
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
		y.back()
		return nil, false
	}
	for i, j := range set {
		if s.B[j] != 0 {
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
	factor  factor.Definite
	stopped bool // while it was formed
}

func (s *solve) newSystem(set []int) *system {
	y := &system{s: s, set: set}
	y.factor.End = &s.Stop
	if len(set) <= s.X.Rows() {
		y.form()
	}
	return y
}

func (y *system) form() {
	if y.h = y.s.Hessian(y.set, y.s.w2, &y.s.Stop); y.h == nil {
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
	case len(set) <= y.s.X.Rows():
		y.form()
	}
}

// solve returns d; nil if the matrix is not positive definite to rounding.
func (y *system) solve(q []float64) []float64 {
	if y.h == nil {
		return y.solveWide(q)
	}
	if !y.factor.FactorSym(y.h, y.ridge) {
		return nil
	}
	d := append([]float64(nil), q...)
	y.factor.Solve(d)
	return d
}

// solveWide is solve for more coefficients than rows: with W = diag(w2) and the ridge,
//
//	d = W^-1 (q - X_S' (n I + X_S W^-1 X_S')^-1 X_S W^-1 q).
func (y *system) solveWide(q []float64) []float64 {
	s, n, k := y.s, y.s.X.Rows(), len(q)
	trace := 0.0
	for _, j := range y.set {
		trace += s.Norm2[j] / s.N
	}
	w := make([]float64, k)
	columns := make([]float64, n*k) // X_S W^-1/2
	image := make([]float64, n)
	m := mat.NewSymDense(n, nil)
	whole := factor.AddOuters(m, 1, k, &s.Stop, func(i int, column []float64) {
		j := y.set[i]
		w[i] = math.Max(s.w2[j], 1e4*newtonRidge*trace/float64(k))
		s.X.Axpy(1, j, column)
		if s.Mean != nil {
			floats.AddConst(-s.Mean[j], column)
		}
		floats.AddScaled(image, q[i]/w[i], column)
		floats.Scale(1/math.Sqrt(w[i]), column)
		copy(columns[i*n:], column)
	})
	if !whole {
		return nil
	}
	if !y.factor.FactorSym(m, s.N) {
		return nil
	}
	y.factor.Solve(image)
	d := make([]float64, k)
	for i, v := range q {
		d[i] = (v - math.Sqrt(w[i])*floats.Dot(columns[i*n:(i+1)*n], image)) / w[i]
	}
	return d
}

const (
	// iterativeTol is the relative accuracy of the steps of [solve.iterativeNewton].
	iterativeTol = 1e-3
	// iterativeFirst is the least number of epochs before such a step, and iterativeSteps the steps of conjugate gradients for each of them, which
	// takes about as long. Of 30, 50 and 100 epochs and 1 and 2 steps these were fastest on 10 000 x 100 000 with 60 nonzeros a row.
	iterativeFirst, iterativeSteps = 30, 2
)

// iterativeNewton is one step of [solve.newton] for more coefficients than a factor has room for, on a sparse design: the system is solved by
// conjugate gradients, in steps many of them at most. It says whether the iterate changed.
func (s *solve) iterativeNewton(cols []int, steps int) bool {
	set := s.support(cols)
	if len(set) == 0 {
		return false
	}
	s.newtons++
	s.Fold()
	q, d := make([]float64, len(set)), make([]float64, len(set))
	for i, j := range set {
		q[i] = s.Correlation(j, s.R, s.Off) - math.Copysign(s.w1[j], s.B[j]) - s.w2[j]*s.B[j]
	}
	g := Regression{s.Data}
	g.ConjugateGradient(s.Ctx, set, s.w2, q, d, iterativeTol, steps)
	if s.Stop.Look() {
		return false
	}
	_, moved := s.advance(set, q, d)
	return moved
}
