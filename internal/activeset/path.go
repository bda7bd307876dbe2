package activeset

import (
	"math"
	"slices"
)

const (
	// roundedRate is the share of the largest rate below which a rate is rounding.
	roundedRate = 1e-12
	// letGoRate is the share below which it may be that of a constraint that was let go just before.
	letGoRate = 1e-6
	// mostIdle bounds the exchanges in a row without any step.
	mostIdle = 200
	// longer and beside are the factors of look.
	longer, beside = 4, 0.25
)

// event is where a step of the path ends: number at among those held that meets its lower or upper bound, or else a constraint
// that comes in, a hinge from above with sign -1.
type event struct {
	found, in, upper bool
	at               int
	e                entry
	sign             float64
}

// follow goes along the path; false where it does not come to its end.
func (s *Solver) follow() bool {
	s.soil()
	known := s.look()
	s.barred = s.barred[:0]
	idle := 0
	for left := 1.0; ; {
		if s.halt() {
			return false
		}
		if !known {
			s.direction()
		}
		if known = false; s.halted {
			return false
		}
		t, ev := s.next(left)
		s.advance(t)
		if !ev.found {
			return !s.failed
		}
		if idle++; t > 0 {
			idle = 0
		}
		if t > roundedRate {
			s.barred = s.barred[:0]
		}
		if left -= t; !s.count() || idle > mostIdle {
			return false
		}
		if ev.in {
			s.admit(ev.e, ev.sign)
		} else {
			s.letGo(ev.at, ev.upper)
		}
		if s.free && len(s.near) < len(s.side) {
			s.lookAll(left)
			s.signs()
		}
		if s.failed {
			return false
		}
	}
}

// count adds an exchange; false after too many.
func (s *Solver) count() bool {
	s.exchanges++
	s.since++
	return s.exchanges <= s.most
}

// rates computes those of the rows that are looked at and of the balls.
func (s *Solver) rates() {
	p, top := s.p, 0.0
	for b := range s.dball {
		d := 0.0
		if !s.ballOn[b] {
			d = s.product(entry{ball, b}, s.dx) + s.ballShift[b]
		}
		s.dball[b], top = d, max(top, math.Abs(d))
	}
	for _, k := range s.near {
		r, d := p.Hinges[k].Row, 0.0
		switch s.side[k] {
		case below:
			d = p.dot(r, s.dx) + s.shift[r]
		case above:
			d = p.dot(r, s.dx) + s.shift[r] - s.delta[r]*s.boundRate(k)
		}
		s.dvalue[r], top = d, max(top, math.Abs(d))
	}
	for i, l := range p.Limits {
		d := 0.0
		if !s.on[i] || len(l.Uses) > 0 {
			d = p.dot(l.Row, s.dx) + s.shift[l.Row]
		}
		s.dvalue[l.Row], top = d, max(top, math.Abs(d))
	}
	s.fastest = top
}

// look chooses the hinges that are looked at on the path, by the rates of its first direction: those that would come to
// their kink on a path several times as long, and those whose distance from it is small beside the rates of the others. The others
// are seen when the path has ended. Where the sides of hinges go by their sign, all are looked at. It says whether the first direction is known.
func (s *Solver) look() bool {
	s.near = s.near[:0]
	for k := range s.p.Hinges {
		s.near = append(s.near, k)
	}
	if s.free {
		return false
	}
	s.direction()
	top := 0.0
	for _, h := range s.p.Hinges {
		top = math.Max(top, math.Abs(s.dvalue[h.Row]))
	}
	s.near = s.near[:0]
	for k, h := range s.p.Hinges {
		if s.side[k] == kink || math.Abs(s.value[h.Row]) <= longer*math.Abs(s.dvalue[h.Row])+beside*top {
			s.near = append(s.near, k)
		} else {
			s.dvalue[h.Row] = 0
		}
	}
	return true
}

// lookAll looks at all hinges from now on, with so much left of the path.
func (s *Solver) lookAll(left float64) {
	seen := make([]bool, len(s.side))
	for _, k := range s.near {
		seen[k] = true
	}
	for k, h := range s.p.Hinges {
		if !seen[k] {
			s.near = append(s.near, k)
			s.value[h.Row] = s.p.dot(h.Row, s.x) - s.p.Right[h.Row] - left*s.shift[h.Row]
		}
	}
}

// next returns how far the step goes, at most to left, and what stops it.
func (s *Solver) next(left float64) (step float64, ev event) {
	step = left
	meet := func(t float64, what event) {
		if t = max(0, t); t < step {
			step, ev = t, what
			ev.found = true
		}
	}
	least := roundedRate * largest(s.dm)
	for k, e := range s.held {
		m, d := *s.multiplier(e), s.dm[k]
		if d < -least {
			meet(-m/d, event{at: k})
		}
		if e.kind == hinge {
			if d -= s.boundRate(e.index); d > least {
				meet((s.bound(e.index)-m)/d, event{at: k, upper: true})
			}
		}
	}
	least = roundedRate * s.fastest
	for _, k := range s.near {
		r := s.p.Hinges[k].Row
		v, d := s.value[r], s.dvalue[r]
		switch s.side[k] {
		case below:
			if d > least && -v < step*d && !(s.free && s.idle(k)) && !s.bars(entry{hinge, k}, d) {
				meet(-v/d, event{in: true, e: entry{hinge, k}, sign: 1})
			}
		case above:
			if d < -least && -v > step*d && !(s.free && s.idle(k)) && !s.bars(entry{hinge, k}, d) {
				meet(-v/d, event{in: true, e: entry{hinge, k}, sign: -1})
			}
		}
	}
	for i, l := range s.p.Limits {
		if s.on[i] {
			continue
		}
		if len(l.Uses) > 0 {
			if t := s.crossing(i, step); t < step {
				meet(t, event{in: true, e: entry{limit, i}, sign: 1})
			}
		} else if v, d := s.value[l.Row], s.dvalue[l.Row]; d > least && -v < step*d && !s.bars(entry{limit, i}, d) {
			meet(-v/d, event{in: true, e: entry{limit, i}, sign: 1})
		}
	}
	for b, d := range s.dball {
		if !s.ballOn[b] && d > least {
			meet(-s.ballValue[b]/d, event{in: true, e: entry{ball, b}, sign: 1})
		}
	}
	return step, ev
}

// bars says that a constraint that was let go where the path stands stays so, as its rate may be rounding: what depends on
// others that are held has none.
func (s *Solver) bars(e entry, rate float64) bool {
	return math.Abs(rate) < letGoRate*s.fastest && slices.Contains(s.barred, e)
}

func largest(v []float64) float64 {
	top := 0.0
	for _, x := range v {
		if x = math.Abs(x); x > top {
			top = x
		}
	}
	return top
}

// boundRate is the rate of H of a hinge.
func (s *Solver) boundRate(k int) float64 {
	sum := 0.0
	for _, u := range s.used[k] {
		sum += u.Weight * s.dlimit[u.Hinge]
	}
	return sum
}

// crossing is where a limit with hinges that is not held reaches its right side, if before step: its value is convex and
// piecewise linear along the step, so that Newton's method from the end goes down to the crossing.
func (s *Solver) crossing(i int, step float64) float64 {
	l := &s.p.Limits[i]
	at := func(t float64) (v, d float64) {
		v, d = s.value[l.Row]+t*s.dvalue[l.Row], s.dvalue[l.Row]
		for _, u := range l.Uses {
			r := s.p.Hinges[u.Hinge].Row
			if a := s.value[r] + t*s.dvalue[r]; a > 0 {
				v += u.Weight * a
				d += u.Weight * s.dvalue[r]
			}
		}
		return v, d
	}
	t := step
	for range len(l.Uses) + 1 {
		v, d := at(t)
		if !(v > 0 && d > 0) {
			break
		}
		before := t
		if t = math.Max(0, t-v/d); t == before {
			break
		}
	}
	return t
}

// advance takes a step of length t.
func (s *Solver) advance(t float64) {
	for k, e := range s.held {
		*s.multiplier(e) += t * s.dm[k]
	}
	for j, d := range s.dx {
		s.x[j] += t * d
	}
	for _, k := range s.near {
		r := s.p.Hinges[k].Row
		s.value[r] += t * s.dvalue[r]
	}
	for _, l := range s.p.Limits {
		s.value[l.Row] += t * s.dvalue[l.Row]
	}
	for b, d := range s.dball {
		s.ballValue[b] += t * d
	}
	s.signs()
}

// signs puts the hinges that nothing weighs on the side of their sign.
func (s *Solver) signs() {
	if !s.free {
		return
	}
	for k := range s.side {
		if s.side[k] != kink && s.idle(k) {
			s.side[k] = s.bySign(k)
		}
	}
}

// letGo releases entry number k at its lower or upper bound.
func (s *Solver) letGo(k int, upper bool) {
	e := s.held[k]
	s.release(e)
	s.barred = append(s.barred, e)
	switch e.kind {
	case limit:
		s.on[e.index], s.limits[e.index] = false, 0
		if len(s.p.Limits[e.index].Uses) > 0 {
			s.free = true
			s.freeIdle()
		}
	case ball:
		s.ballOn[e.index], s.balls[e.index] = false, 0
	case hinge:
		if upper {
			s.hinges[e.index] = s.bound(e.index)
			s.place(e.index, above)
		} else {
			s.hinges[e.index] = 0
			s.place(e.index, below)
		}
	}
}

// freeIdle releases hinges that nothing weighs any more.
func (s *Solver) freeIdle() {
	for _, b := range s.blocks {
		for k := 0; k < len(b.rows); k++ {
			if e := b.rows[k]; e.kind == hinge && s.idle(e.index) {
				s.release(e)
				s.side[e.index], s.hinges[e.index] = s.bySign(e.index), 0
				k--
			}
		}
	}
}

// admit holds a constraint that has reached its right side.
func (s *Solver) admit(e entry, sign float64) {
	switch {
	case e.kind == limit:
		if s.limitNormal[e.index] != nil {
			s.limitVector(e.index)
		}
		s.on[e.index], s.limits[e.index] = true, 0
	case e.kind == ball:
		s.ballOn[e.index], s.balls[e.index] = true, 0
	case sign > 0:
		s.side[e.index], s.hinges[e.index] = kink, 0
	default: // its weight leaves the normals of limits
		s.hinges[e.index] = s.bound(e.index)
		s.place(e.index, kink)
	}
	s.failed = s.failed || !s.hold(e)
}
