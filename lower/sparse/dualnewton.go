package sparse

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/lower/internal/leastsquares"
)

const (
	// dualSteps bounds the Newton steps on the dual, dualLine the points of a line search.
	dualSteps, dualLine = 60, 30
	// flat is the share of the slope at which a line search ends.
	flat = 1e-3
	// exactShare is the size of n grad D, relative to |y|, below which steps are taken whole, as long as each halves it.
	exactShare = 1e-10
)

// dualNewton solves the problem over a working set all of whose w2 are positive by Newton's method on the dual (the
// semismooth Newton method: Li, Sun, Toh 2018). With c = X'u / n and v_j = soft(c_j, w1_j) / w2_j,
//
//	D(u) = (y'u - |u|^2/2) / n - sum_j w2_j v_j^2 / 2,   grad D = (y - u - X v) / n,
//
// is concave and smooth, quadratic as long as the set A of the j with |c_j| > w1_j does not change. The steps
//
//	d = (I + X_A W_A^-1 X_A' / n)^-1 (y - u - X v)
//
// are followed to the maximum along them; their systems have the order n, however many features are in use. v is the solution when
// u is the maximum. It says whether it was reached; if not, the iterate is the better of v and the one before.
func (s *solve) dualNewton(cols []int) (solved bool) {
	s.Fold()
	s.newtons++
	n := s.X.Rows()
	y := &dualSystem{s: s, cols: cols, in: make([]bool, len(cols)), sum: mat.NewSymDense(n, nil)}
	y.factor.End = &s.Stop
	u := append([]float64(nil), s.R...)
	c, e, v := make([]float64, len(cols)), make([]float64, len(cols)), make([]float64, len(cols))
	rest, d := make([]float64, n), make([]float64, n)
	least, norm := math.Inf(1), math.Sqrt(s.Scale*2*s.N)
	for range dualSteps {
		if s.Stop.Look() {
			break
		}
		for i, j := range cols {
			c[i] = s.X.Dot(j, u) / s.N
		}
		copy(rest, s.Y)
		floats.Sub(rest, u)
		off := 0.0
		for i, j := range cols {
			if v[i] = leastsquares.Soft(c[i], s.w1[j]) / s.w2[j]; v[i] != 0 {
				s.X.Axpy(-v[i], j, rest)
				off += v[i] * s.Shift(j)
			}
		}
		if off != 0 {
			floats.AddConst(off, rest)
		}
		size := floats.Norm(rest, 2)
		near := size <= exactShare*norm
		if size == 0 || near && size > least/2 { // rounding is what is left
			solved = true
			break
		}
		least = math.Min(least, size)
		if !y.solve(d, rest, c) {
			break
		}
		t := 1.0
		if !near {
			if t = s.dualLine(cols, u, d, c, e); t == 0 {
				break
			}
		}
		floats.AddScaled(u, t, d)
	}
	before := s.Loss(s.R, s.Off) + s.penalty(cols, s.B)
	old := make([]float64, len(cols))
	for i, j := range cols {
		old[i], s.B[j] = s.B[j], v[i]
	}
	s.Residual()
	if !(s.Loss(s.R, s.Off)+s.penalty(cols, s.B) <= before) {
		for i, j := range cols {
			s.B[j] = old[i]
		}
		s.Residual()
	}
	return solved
}

// dualLine returns a t > 0 at which the slope of D along d, which falls and is piecewise linear,
//
//	n D'(t) = (y - u)'d - t |d|^2 - n sum_j soft(c_j + t e_j, w1_j) e_j / w2_j,   e = X'd / n,
//
// is small relative to that at 0; 0 if there is none.
func (s *solve) dualLine(cols []int, u, d, c, e []float64) float64 {
	for i, j := range cols {
		e[i] = s.X.Dot(j, d) / s.N
	}
	linear, square := floats.Dot(s.Y, d)-floats.Dot(u, d), floats.Dot(d, d)
	slope := func(t float64) (value, change float64) {
		value, change = (linear-t*square)/s.N, -square/s.N
		for i, j := range cols {
			if v := leastsquares.Soft(c[i]+t*e[i], s.w1[j]); v != 0 {
				value -= v * e[i] / s.w2[j]
				change -= e[i] * e[i] / s.w2[j]
			}
		}
		return value, change
	}
	first, _ := slope(0)
	if !(first > 0) {
		return 0
	}
	lo, hi, t := 0.0, math.Inf(1), 1.0
	for range dualLine {
		value, change := slope(t)
		if math.Abs(value) <= flat*first {
			return t
		}
		if value > 0 {
			lo = t
		} else {
			hi = t
		}
		if next := t - value/change; next > lo && next < hi {
			t = next
		} else {
			t = (lo + hi) / 2
		}
	}
	return lo
}

// dualSystem is the matrix of the Newton steps on the dual.
type dualSystem struct {
	s      *solve
	cols   []int
	in     []bool        // A
	sum    *mat.SymDense // X_A W_A^-1 X_A' / n, its upper triangle
	factor factor.Definite
}

// solve sets d for the right-hand side rest, with A for c. It says whether the matrix could be factored.
func (y *dualSystem) solve(d, rest, c []float64) bool {
	var enter, leave []int
	count := 0
	for i, j := range y.cols {
		in := math.Abs(c[i]) > y.s.w1[j]
		switch {
		case in && !y.in[i]:
			enter = append(enter, j)
		case !in && y.in[i]:
			leave = append(leave, j)
		}
		if y.in[i] = in; in {
			count++
		}
	}
	if len(leave) > 0 && len(enter)+len(leave) >= count { // afresh
		y.sum.Zero()
		enter, leave = enter[:0], nil
		for i, j := range y.cols {
			if y.in[i] {
				enter = append(enter, j)
			}
		}
	}
	if !y.add(1, enter) || !y.add(-1, leave) {
		return false
	}
	if !y.factor.FactorSym(y.sum, 1) {
		return false
	}
	copy(d, rest)
	y.factor.Solve(d)
	return true
}

// add adds a times the parts of the columns to the sum. It says whether it came to the end.
func (y *dualSystem) add(a float64, columns []int) bool {
	s := y.s
	return factor.AddOuters(y.sum, a, len(columns), &s.Stop, func(i int, part []float64) {
		j := columns[i]
		s.X.Axpy(1, j, part)
		if s.Mean != nil {
			floats.AddConst(-s.Mean[j], part)
		}
		floats.Scale(1/math.Sqrt(s.N*s.w2[j]), part)
	})
}
