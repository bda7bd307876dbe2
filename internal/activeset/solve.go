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

// failure is how far a point is from the optimality conditions: the largest error, and the sum of multipliers times violations, by which
// the objective and its dual differ.
type failure struct{ worst, gap float64 }

func (f *failure) see(v float64) { f.worst = math.Max(f.worst, math.Abs(v)) }

// begin computes where the path begins, with violations of what is held times boost, and returns the largest error of the
// optimality conditions.
func (s *Solver) begin(boost float64) float64 {
	s.ownMultipliers()
	s.evaluate()
	var f failure
	s.slopes()
	for _, v := range s.residual {
		f.see(v)
	}
	s.beginHinges(boost, &f)
	s.beginLimits(boost, &f)
	s.beginBalls(boost, &f)
	f.see(f.gap)
	return f.worst
}

// slopes computes r = D x + q + sum lambda g + sum y a + sum nu (kappa x + h).
func (s *Solver) slopes() {
	p, r := s.p, s.residual
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
}

// beginHinges moves hinges to their kink. One on the wrong side begins as far on the right one.
func (s *Solver) beginHinges(boost float64, f *failure) {
	p := s.p
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
			f.gap += s.hinges[k] * math.Abs(v)
		case s.side[k] == below && v > 0 || s.side[k] == above && v < 0:
			s.shift[h.Row], s.value[h.Row] = 2*v, -v
		default:
			continue
		}
		f.see(v)
	}
}

// beginLimits moves limits that are held to where they hold with equality, and others that are violated as far within.
func (s *Solver) beginLimits(boost float64, f *failure) {
	for i, l := range s.p.Limits {
		switch v := s.limitValue(i); {
		case s.on[i]:
			s.shift[l.Row] = boost * v
			s.value[l.Row] -= v
			f.gap += s.limits[i] * math.Abs(v)
			f.see(v)
		case v > 0:
			s.shift[l.Row] = 2 * v
			s.value[l.Row] -= 2 * v
			f.see(v)
		}
	}
}

// beginBalls does the same to balls.
func (s *Solver) beginBalls(boost float64, f *failure) {
	for b, v := range s.ballValue {
		s.ballShift[b] = 0
		switch {
		case s.ballOn[b]:
			s.ballShift[b], s.ballValue[b] = boost*v, 0
			f.gap += s.balls[b] * math.Abs(v)
			f.see(v)
		case v > 0:
			s.ballShift[b], s.ballValue[b] = 2*v, -v
			f.see(v)
		}
	}
}
