package machine

import (
	"math"
	"slices"
)

// gap returns the value at the point, cut to the box, and its distance from the dual value of the multipliers.
func (s *path) gap() (value, gap float64) {
	rows := s.g.rows
	// The multipliers of one label are made smaller so that the sums of both are the same.
	var sum [2]float64
	for i, a := range s.alpha {
		sum[rows.label(i)] += a
	}
	least := math.Min(sum[0], sum[1])
	v, dual := s.dpush, 0.0
	clear(v)
	for i, a := range s.alpha {
		if a != 0 {
			a *= least / sum[rows.label(i)]
			rows.add(i, a, v)
			dual += a * rows.need[i]
		}
	}
	s.limits.cut(s.dw, s.w)
	value = s.objective(s.dw, s.c)
	return value, value - dual + s.limits.dual(v)
}

// insideShare is the share of its weight from which an alpha is away from its bounds.
const insideShare = 1e-10

// centre puts C into the middle of its interval where no alpha is inside its bounds: then any c is a solution at which
// no row leaves its side.
func (m *Solution) centre(g *Problem) {
	s := m.state
	for _, i := range s.kinks.held {
		if inside(s.alpha[i] / g.rows.u[i]) {
			return
		}
	}
	m.middle(g, func(i int) bool { return 2*s.alpha[i] > g.rows.u[i] })
}

// inside says whether a share of a weight is away from its bounds.
func inside(share float64) bool { return share > insideShare && share < 1-insideShare }

// middle puts C into the middle of its interval, the rows being above their kinks, as above says, or below.
func (m *Solution) middle(g *Problem, above func(i int) bool) {
	rows := g.rows
	lo, hi := math.Inf(-1), math.Inf(1)
	for i, y := range rows.y {
		c := y * (rows.dot(i, m.W) - 1)
		if (y > 0) == above(i) {
			if c > lo {
				lo, m.ends[0] = c, i
			}
		} else if c < hi {
			hi, m.ends[1] = c, i
		}
	}
	if lo < hi && !math.IsInf(hi-lo, 1) {
		m.C, m.flat = (lo+hi)/2, true
	}
}

// Bound returns the lower bound of the optimal value at other hyperparameters, the bounds one for all features or one
// for each, that the multipliers of a solution give, the dual value there.
func (g *Problem) Bound(m *Solution, lambda float64, bound []float64) float64 {
	if len(bound) == 1 {
		bound = slices.Repeat(bound, len(m.v))
	}
	return m.total - (&box{lambda, bound}).dual(m.v)
}
