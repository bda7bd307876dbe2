package machine

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Where the features tell the labels apart no better than the label of more weight does, w = 0 is the solution for all hyperparameters: the rows of the other
// label have alpha_i = u_i, and those of this one, all at their kinks, share the same sum such that they have the same mean,
//
//	sum_i alpha_i (1, x_i) = sum_k u_k (1, x_k),   0 <= alpha_i <= u_i,
//
// which is that the mean of the ones is in the reduced convex hull of the others (D. Crisp, C. Burges, A geometric interpretation of nu-SVM
// classifiers, NIPS 12, 1999). A path from nothing would come there by thousands of exchanges.

const (
	// mostTilted is the largest number of features for which it is tried, which takes n p^2 operations a step.
	mostTilted = 100
	// tiltSteps bounds the Newton steps, and tilted is the error of the means, relative to the largest entries, that is none.
	tiltSteps, tilted = 40, 1e-12
	// tiltDelta is the share of a unit matrix in the second derivatives.
	tiltDelta = 1e-10
	// leastPivot is the share of a column from which on it is independent of those before.
	leastPivot = 1e-9
)

// nothing sets out from w = 0 where that is the solution; false where it is not, or not found to be.
func (s *path) nothing() bool {
	g := s.g
	n, p := g.rows.n, g.rows.p
	var class [2]float64
	for i, u := range g.rows.u {
		class[g.rows.label(i)] += u
	}
	more := 0.0
	switch {
	case p > mostTilted || n < 2*p:
		return false
	case class[0] > class[1]*(1+1e-9):
		more = -1
	case class[1] > class[0]*(1+1e-9):
		more = 1
	default:
		return false
	}
	t := &tilt{k: p + 1, sum: make([]float64, p+1)}
	for i, u := range g.rows.u {
		v := make([]float64, p+1) // 1 and y_i times the row, which is x_i
		g.rows.add(i, g.rows.y[i], v[1:])
		if v[0] = 1; g.rows.y[i] == more {
			t.rows, t.column, t.u = append(t.rows, i), append(t.column, v), append(t.u, u)
		} else {
			floats.AddScaled(t.sum, u, v)
		}
	}
	if !t.centre() || !t.share() {
		return false
	}
	basic := t.vertex()
	if basic == nil {
		return false
	}
	s.alpha, s.side, s.box = make([]float64, n), make([]int8, n), make([]int8, p)
	s.w, s.c = make([]float64, p), -more
	for i, u := range g.rows.u {
		if s.side[i] = 1; g.rows.y[i] != more {
			s.alpha[i] = u
		}
	}
	for q, i := range t.rows {
		s.alpha[i] = t.alpha[q]
		if t.alpha[q] == 0 {
			s.side[i] = -1
		}
	}
	s.kinks = kinks{}
	for _, q := range basic {
		s.side[t.rows[q]] = 0
		s.kinks.held = append(s.kinks.held, t.rows[q])
	}
	s.factor()
	return len(s.kinks.held) > 0
}

// tilt are the rows of the label of more weight, with columns (1, x_i) of length k, and the sum that they shall have.
type tilt struct {
	k      int
	rows   []int
	column [][]float64
	u      []float64
	sum    []float64
	alpha  []float64
}

// centre brings the columns to mean 0 and a largest entry of 1. It is false where the rows are fewer than the columns.
func (t *tilt) centre() bool {
	if len(t.rows) <= t.k {
		return false
	}
	mean, total := make([]float64, t.k), floats.Sum(t.u)
	for q, c := range t.column {
		floats.AddScaled(mean, t.u[q]/total, c)
	}
	mean[0] = 0
	floats.AddScaled(t.sum, -t.sum[0], mean)
	unit := make([]float64, t.k)
	for _, c := range t.column {
		floats.Sub(c, mean)
		for j, v := range c {
			unit[j] = math.Max(unit[j], math.Abs(v))
		}
	}
	for j, u := range unit {
		if !(u > 0) {
			if math.Abs(t.sum[j]) > 0 {
				return false
			}
			unit[j] = 1
		}
	}
	for _, c := range t.column {
		floats.Div(c, unit)
	}
	floats.Div(t.sum, unit)
	return true
}

// share finds alpha_i = u_i min(1, max(0, (1, x_i)'eta)) with the right sum: those of least sum of alpha_i^2 / u_i, by Newton steps on the dual, which is
// convex and piecewise quadratic, and falls without end where there are none.
func (t *tilt) share() bool {
	total := floats.Sum(t.u)
	eta := make([]float64, t.k)
	eta[0] = t.sum[0] / total
	value := t.dual(eta)
	slope := make([]float64, t.k)
	for range tiltSteps {
		for j, v := range t.sum {
			slope[j] = -v
		}
		curve := mat.NewSymDense(t.k, nil)
		for q, c := range t.column {
			z := floats.Dot(c, eta)
			if z > 0 {
				floats.AddScaled(slope, t.u[q]*math.Min(1, z), c)
			}
			if z > 0 && z < 1 {
				curve.SymRankOne(curve, t.u[q], mat.NewVecDense(t.k, c))
			}
		}
		if largest(slope) <= tilted*total {
			t.alpha = make([]float64, len(t.u))
			for q, c := range t.column {
				t.alpha[q] = t.u[q] * math.Min(1, math.Max(0, floats.Dot(c, eta)))
			}
			return true
		}
		for j := range t.k {
			curve.SetSym(j, j, curve.At(j, j)+tiltDelta*total)
		}
		var factor mat.Cholesky
		if !factor.Factorize(curve) {
			return false
		}
		way := mat.NewVecDense(t.k, nil)
		if err := factor.SolveVecTo(way, mat.NewVecDense(t.k, slope)); err != nil {
			return false
		}
		fall := floats.Dot(way.RawVector().Data, slope)
		next := make([]float64, t.k)
		for step := 1.0; ; step /= 2 {
			if step < 1e-6 {
				return false
			}
			floats.AddScaledTo(next, eta, -step, way.RawVector().Data)
			if v := t.dual(next); v <= value-1e-4*step*fall || fall <= 1e-14*math.Abs(value) {
				value = v
				break
			}
		}
		eta = next
	}
	return false
}

// dual is sum_i u_i H(c_i'eta) - sum'eta with the derivative of H in [0, 1].
func (t *tilt) dual(eta []float64) float64 {
	value := -floats.Dot(t.sum, eta)
	for q, c := range t.column {
		switch z := floats.Dot(c, eta); {
		case z >= 1:
			value += t.u[q] * (z - 0.5)
		case z > 0:
			value += t.u[q] * z * z / 2
		}
	}
	return value
}

// vertex moves the alphas, with the same sum, to 0 or u_i but for those of independent columns, which it returns; nil where it fails. One after the other a row
// goes to its nearer end or as far as one of the independent ones comes to an end, which then changes its part with it.
func (t *tilt) vertex() []int {
	inverse := mat.NewDense(t.k, t.k, nil) // of the basis, which begins with unit columns that stand for nothing
	basis := make([]int, t.k)
	for j := range basis {
		basis[j] = -1
		inverse.Set(j, j, 1)
	}
	way := mat.NewVecDense(t.k, nil)
	for q, c := range t.column {
		if t.alpha[q] <= 0 || t.alpha[q] >= t.u[q] {
			continue
		}
		way.MulVec(inverse, mat.NewVecDense(t.k, c))
		at, most := -1, leastPivot
		for j, v := range way.RawVector().Data {
			if v = math.Abs(v); basis[j] < 0 && v > most {
				at, most = j, v
			}
		}
		if at < 0 {
			// alpha_q rises by step, those of the basis fall by step times way.
			up := 2*t.alpha[q] >= t.u[q]
			step := t.u[q] - t.alpha[q]
			if !up {
				step = -t.alpha[q]
			}
			for j, v := range way.RawVector().Data {
				if basis[j] < 0 || math.Abs(v) < leastPivot {
					continue
				}
				room := t.alpha[basis[j]]
				if v*step < 0 {
					room = t.u[basis[j]] - room
				}
				if room < math.Abs(v*step) {
					step, at = math.Copysign(room/math.Abs(v), step), j
				}
			}
			for j, v := range way.RawVector().Data {
				if basis[j] >= 0 {
					b := basis[j]
					t.alpha[b] = math.Min(t.u[b], math.Max(0, t.alpha[b]-step*v))
				}
			}
			switch {
			case at >= 0:
				t.alpha[q] += step
			case up:
				t.alpha[q] = t.u[q]
				continue
			default:
				t.alpha[q] = 0
				continue
			}
			if b := basis[at]; 2*t.alpha[b] >= t.u[b] {
				t.alpha[b] = t.u[b]
			} else {
				t.alpha[b] = 0
			}
		}
		basis[at] = q
		pivot := inverse.RawRowView(at)
		floats.Scale(1/way.AtVec(at), pivot)
		for j, v := range way.RawVector().Data {
			if j != at && v != 0 {
				floats.AddScaled(inverse.RawRowView(j), -v, pivot)
			}
		}
	}
	return t.settle(basis)
}

// settle computes the alphas of the basis anew from those at their ends; nil where they are none between 0 and u_i.
func (t *tilt) settle(basis []int) (basic []int) {
	left, in := append([]float64(nil), t.sum...), make([]bool, len(t.u))
	for _, q := range basis {
		if q >= 0 {
			basic, in[q] = append(basic, q), true
		}
	}
	if len(basic) == 0 {
		return nil
	}
	for q, c := range t.column {
		if !in[q] {
			floats.AddScaled(left, -t.alpha[q], c)
		}
	}
	a := mat.NewDense(t.k, len(basic), nil)
	for j, q := range basic {
		a.SetCol(j, t.column[q])
	}
	x := mat.NewVecDense(len(basic), nil)
	if err := x.SolveVec(a, mat.NewVecDense(t.k, left)); err != nil {
		return nil
	}
	for j, q := range basic {
		v := x.AtVec(j)
		if !(v >= -tilted*t.u[q]) || !(v <= t.u[q]*(1+tilted)) {
			return nil
		}
		t.alpha[q] = math.Min(t.u[q], math.Max(0, v))
	}
	return basic
}
