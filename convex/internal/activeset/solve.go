package activeset

import "math"

const (
	// paths bounds the paths of one Solve.
	paths = 40
	// slow is the share of the last error above which the factor is made anew.
	slow = 0.1
	// close is the error below which that is hardly why it is slow, so that it is done every patience paths only.
	close, patience = 1e-6, 6
	// worn is the number of exchanges after which it is, too.
	worn = 300
	// same is the share of the last error above which a path without exchanges has led nowhere, farther the factor for the
	// violations that the next one starts with.
	same, farther = 0.9, 10
)

// Solve solves the problem with at most so many exchanges, until the optimality conditions hold to the tolerance. It
// says whether they do; after a failure the solver needs a new Start. It gives up where stop, which may be nil, returns true; it is
// asked before everything that takes long.
func (s *Solver) Solve(most int, tol float64, stop func() bool) bool {
	s.exchanges, s.most, s.failed, s.stop, s.halted = 0, most, false, stop, false
	if s.refresh(); s.halt() {
		return false
	}
	last, before, boost := math.Inf(1), 0, 1.0
	for path := range paths {
		err := s.begin(1)
		if err <= tol {
			s.evaluate() // without shifts
			return true
		}
		again := s.since > worn || path > 1 && err > slow*last && !s.fresh && (err > close || path%patience == 0)
		if again {
			s.rebuild()
		}
		if s.halted {
			return false
		}
		// Where all that is left is a contradiction among dependent constraints, multipliers move by sigma/delta only until one of
		// them is let go.
		if boost *= farther; err < same*last || s.exchanges != before {
			boost = 1
		}
		if again || boost > 1 {
			s.begin(boost)
		}
		last, before = err, s.exchanges
		if !s.follow() {
			return false
		}
		s.fresh = false
	}
	return false
}

// begin computes where the path begins, with violations of what is held times boost, and returns the largest error of the
// optimality conditions.
func (s *Solver) begin(boost float64) float64 {
	p := s.p
	s.ownMultipliers()
	s.evaluate()
	worst := 0.0
	see := func(v float64) { worst = math.Max(worst, math.Abs(v)) }
	gap := 0.0 // sum of multipliers times violations, by which the objective and its dual differ
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
	s.free = s.weightless
	for i, l := range p.Limits {
		s.free = s.free || len(l.Uses) > 0 && !s.on[i]
	}
	clear(s.shift)
	for k, h := range p.Hinges {
		v := s.value[h.Row]
		if s.free && s.side[k] != kink && s.idle(k) {
			s.side[k] = s.bySign(k)
			continue
		}
		switch {
		case s.side[k] == kink:
			s.shift[h.Row], s.value[h.Row] = boost*v, 0
			gap += s.hinges[k] * math.Abs(v)
		case s.side[k] == below && v > 0 || s.side[k] == above && v < 0:
			s.shift[h.Row], s.value[h.Row] = 2*v, -v
		default:
			continue
		}
		see(v)
	}
	for i, l := range p.Limits {
		switch v := s.limitValue(i); {
		case s.on[i]:
			s.shift[l.Row] = boost * v
			s.value[l.Row] -= v
			gap += s.limits[i] * math.Abs(v)
			see(v)
		case v > 0:
			s.shift[l.Row] = 2 * v
			s.value[l.Row] -= 2 * v
			see(v)
		}
	}
	for b, v := range s.ballValue {
		s.ballShift[b] = 0
		switch {
		case s.ballOn[b]:
			s.ballShift[b], s.ballValue[b] = boost*v, 0
			gap += s.balls[b] * math.Abs(v)
			see(v)
		case v > 0:
			s.ballShift[b], s.ballValue[b] = 2*v, -v
			see(v)
		}
	}
	see(gap)
	return worst
}
