package activeset

import "math"

const (
	// paths bounds the paths of one Solve.
	paths = 40
	// slow is the share of the last error above which the factor is made anew.
	slow = 0.1
	// worn is the number of exchanges after which it is, too.
	worn = 300
)

// Solve solves the problem with at most so many exchanges, until the optimality conditions hold to the tolerance. It
// says whether they do; after a failure the solver needs a new Start. It gives up where stop, which may be nil, returns true.
func (s *Solver) Solve(most int, tol float64, stop func() bool) bool {
	s.exchanges, s.most, s.failed, s.stop = 0, most, false, stop
	s.refresh()
	last := math.Inf(1)
	for path := range paths {
		err := s.begin()
		if err <= tol {
			s.evaluate() // without shifts
			return true
		}
		if s.since > worn || path > 1 && err > slow*last && !s.fresh {
			s.rebuild()
			err = s.begin()
		}
		last = err
		if !s.follow() {
			return false
		}
		s.fresh = false
	}
	return false
}

// begin computes where the path begins, and returns the largest error of the optimality conditions.
func (s *Solver) begin() float64 {
	p := s.p
	s.ownMultipliers()
	s.evaluate()
	worst := 0.0
	see := func(v float64) { worst = math.Max(worst, math.Abs(v)) }
	// r = D x + q + sum lambda g + sum y a + sum nu (kappa x + h)
	r := s.residual
	for j, q := range p.Q {
		r[j] = p.D[j]*s.x[j] + q
	}
	for i, m := range s.limits {
		if m != 0 {
			p.add(p.Limits[i].Row, m, r)
		}
	}
	for k, m := range s.hinges {
		if m != 0 {
			p.add(p.Hinges[k].Row, m, r)
		}
	}
	for b, m := range s.balls {
		if m != 0 {
			p.add(p.Balls[b].Row, m, r)
			for k, j := range p.Balls[b].Index {
				r[j] += m * p.Balls[b].Kappa[k] * s.x[j]
			}
		}
	}
	for _, v := range r {
		see(v)
	}
	// A hinge on the wrong side begins as far on the right one.
	s.free = false
	for k := range s.side {
		s.free = s.free || s.idle(k)
	}
	clear(s.shift)
	for k, h := range p.Hinges {
		v := s.value[h.Row]
		if s.side[k] != kink && s.idle(k) {
			s.side[k] = s.bySign(k)
			continue
		}
		switch {
		case s.side[k] == kink:
			s.shift[h.Row] = v
		case s.side[k] == below && v > 0 || s.side[k] == above && v < 0:
			s.shift[h.Row] = 2 * v
		default:
			continue
		}
		see(v)
		s.value[h.Row] -= s.shift[h.Row]
	}
	for i, l := range p.Limits {
		v := s.limitValue(i)
		if s.on[i] {
			see(v)
			s.shift[l.Row] = v
		} else if v > 0 {
			see(v)
			s.shift[l.Row] = 2 * v
		}
		s.value[l.Row] -= s.shift[l.Row]
	}
	for b, v := range s.ballValue {
		if s.ballShift[b] = 0; s.ballOn[b] {
			s.ballShift[b] = v
		} else if v > 0 {
			s.ballShift[b] = 2 * v
		}
		see(s.ballShift[b])
		s.ballValue[b] -= s.ballShift[b]
	}
	return worst
}
