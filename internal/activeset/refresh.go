package activeset

import (
	"math"
	"slices"
)

// limitVector computes the normal of a limit that belongs to no block, with the hinges for the sides on which these are.
func (s *Solver) limitVector(i int) {
	l, v := &s.p.Limits[i], s.limitNormal[i]
	clear(v)
	s.p.add(l.Row, 1, v)
	for _, u := range l.Uses {
		if s.side[u.Hinge] == above {
			s.p.add(s.p.Hinges[u.Hinge].Row, u.Weight, v)
		}
	}
}

// tangent computes the normal of a ball, kappa x + h.
func (s *Solver) tangent(b int) {
	q, v := &s.p.Balls[b], s.normal[b]
	clear(v)
	s.p.add(q.Row, 1, v)
	for k, j := range q.Index {
		v[j] += q.Kappa[k] * s.x[j]
	}
}

// least is the least entry of M: proximal times the largest entry of |q| + sum c |a| over that of x.
func (s *Solver) least() float64 {
	size, far := 0.0, 1.0
	clear(s.w)
	for _, h := range s.p.Hinges {
		if h.Cost > 0 {
			for q := s.p.Ptr[h.Row]; q < s.p.Ptr[h.Row+1]; q++ {
				s.w[s.p.Ind[q]] += h.Cost * math.Abs(s.p.Val[q])
			}
		}
	}
	for j, q := range s.p.Q {
		size = math.Max(size, math.Abs(q)+s.w[j])
	}
	for _, v := range s.x {
		far = math.Max(far, math.Abs(v))
	}
	if size == 0 {
		size = 1
	}
	return proximal * size / far
}

// rebuild makes the factors of what is held at the current point.
func (s *Solver) rebuild() {
	p := s.p
	copy(s.d, p.D)
	copy(s.val, p.Val)
	copy(s.inv, p.D)
	copy(s.curvature, s.balls)
	for b, q := range p.Balls {
		s.tangent(b)
		for k, j := range q.Index {
			s.inv[j] += s.balls[b] * q.Kappa[k]
		}
	}
	least := s.least()
	for j, d := range s.inv {
		s.inv[j] = 1 / math.Max(d, least)
	}
	s.soften()
	for j := range s.pin {
		s.pin[j] = none
	}
	for _, b := range s.blocks {
		b.rows, b.pinned = b.rows[:0], b.pinned[:0]
		b.ch.Reset()
	}
	s.globals = s.globals[:0]
	s.worn = true
	try := func(e entry) {
		if !s.halt() && !s.hold(e) {
			s.drop(e)
		}
	}
	// Those that pin first: they are out of the factors then.
	for i := range p.Limits {
		if s.on[i] && s.limitNormal[i] == nil {
			try(entry{limit, i})
		}
	}
	for k := range p.Hinges {
		if s.side[k] == kink {
			try(entry{hinge, k})
		}
	}
	for b := range p.Balls {
		if s.ballOn[b] {
			try(entry{ball, b})
		}
	}
	for i := range p.Limits {
		if s.on[i] && s.limitNormal[i] != nil {
			s.limitVector(i)
			try(entry{limit, i})
		}
	}
	s.fresh, s.stale, s.since = true, false, 0
}

// refresh brings the factors up to date with the numbers of the program.
func (s *Solver) refresh() {
	p := s.p
	if s.stale || !slices.Equal(p.D, s.d) {
		s.rebuild()
		return
	}
	s.fresh = false
	if slices.Equal(p.Val, s.val) {
		return
	}
	for _, b := range s.blocks {
		changed := func(e entry) bool {
			r := s.rowOf(e)
			return !slices.Equal(p.Val[p.Ptr[r]:p.Ptr[r+1]], s.val[p.Ptr[r]:p.Ptr[r+1]])
		}
		if slices.ContainsFunc(b.rows, changed) || slices.ContainsFunc(b.pinned, func(w int) bool { return changed(entry{limit, s.pin[w]}) }) {
			s.rebuild()
			return
		}
	}
	for _, j := range s.links {
		if i := s.pin[j]; i != none && p.Val[p.Ptr[p.Limits[i].Row]] != s.val[p.Ptr[p.Limits[i].Row]] {
			s.rebuild()
			return
		}
	}
	copy(s.val, p.Val)
	for b := range p.Balls {
		e := entry{ball, b}
		if s.ballOn[b] {
			s.release(e)
		}
		s.tangent(b)
		if s.ballOn[b] && !s.hold(e) {
			s.drop(e)
		}
	}
	for _, i := range s.globals {
		s.limitVector(i)
	}
	s.soil()
}

// place puts a hinge on a side, with what that means for the normals of limits.
func (s *Solver) place(k int, to side) {
	from := s.side[k]
	s.side[k] = to
	sign := 0.0
	switch {
	case from != above && to == above:
		sign = 1
	case from == above && to != above:
		sign = -1
	default:
		return
	}
	for _, u := range s.used[k] {
		if s.on[u.Hinge] {
			s.p.add(s.p.Hinges[k].Row, sign*u.Weight, s.limitNormal[u.Hinge])
			s.blocks[s.blockIn(entry{hinge, k})].dirty = true
		}
	}
}
