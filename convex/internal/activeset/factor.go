package activeset

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// proximal is the least entry of M, relative to the size of the gradient over that of the point.
const proximal = 1e-4

// soft is delta as a share of the diagonal entry of N'M^-1 N. It has to be well above rounding, and below what normals
// that are nearly dependent leave on the diagonal.
const soft = 1e-12

// soften computes delta for all rows, for balls by their normals.
func (s *Solver) soften() {
	p := s.p
	least := s.inv[0]
	for _, v := range s.inv {
		least = math.Min(least, v)
	}
	for r := range s.delta {
		sum := least
		for k := p.Ptr[r]; k < p.Ptr[r+1]; k++ {
			sum += p.Val[k] * p.Val[k] * s.inv[p.Ind[k]]
		}
		s.delta[r] = soft * sum
	}
	for b, q := range p.Balls {
		sum := least
		for j, v := range s.normal[b] {
			sum += v * v * s.inv[j]
		}
		s.delta[q.Row] = soft * sum
	}
}

// deltaOf is that of a constraint. The multipliers y = H of the hinges above go with that of a limit, and with
// them their delta.
func (s *Solver) deltaOf(e entry) float64 {
	switch e.kind {
	case ball:
		return s.delta[s.p.Balls[e.index].Row]
	case hinge:
		return s.delta[s.p.Hinges[e.index].Row]
	}
	l := &s.p.Limits[e.index]
	sum := s.delta[l.Row]
	for _, u := range l.Uses {
		if s.side[u.Hinge] == above {
			sum += u.Weight * u.Weight * s.delta[s.p.Hinges[u.Hinge].Row]
		}
	}
	return sum
}

// vector returns the normal of a constraint where it is no row, else its row.
func (s *Solver) vector(e entry) (normal []float64, row int) {
	switch e.kind {
	case limit:
		return s.limitNormal[e.index], s.p.Limits[e.index].Row
	case ball:
		return s.normal[e.index], 0
	}
	return nil, s.p.Hinges[e.index].Row
}

// product is normal'v.
func (s *Solver) product(e entry, v []float64) float64 {
	normal, row := s.vector(e)
	if normal == nil {
		return s.p.dot(row, v)
	}
	return floats.Dot(normal, v)
}

// add adds c times the normal to v.
func (s *Solver) add(e entry, c float64, v []float64) {
	normal, row := s.vector(e)
	if normal == nil {
		s.p.add(row, c, v)
	} else {
		floats.AddScaled(v, c, normal)
	}
}

// products are those of the normals held with v.
func (s *Solver) products(v []float64) []float64 {
	s.rhs = s.rhs[:0]
	for _, e := range s.held {
		s.rhs = append(s.rhs, s.product(e, v))
	}
	return s.rhs
}

// hold adds a constraint to those held; false where rounding does not allow it.
func (s *Solver) hold(e entry) bool {
	clear(s.w)
	s.add(e, 1, s.w)
	diagonal, right := 0.0, s.shiftOf(e)
	for j, v := range s.w {
		if v != 0 {
			s.w[j] = v * s.inv[j]
			diagonal += v * s.w[j]
			right -= s.w[j] * s.residual[j]
		}
	}
	if !s.ch.append(s.products(s.w), diagonal+s.deltaOf(e), right) {
		return false
	}
	s.held = append(s.held, e)
	return true
}

// release takes entry number k out of those held.
func (s *Solver) release(k int) {
	s.ch.remove(k)
	s.held = append(s.held[:k], s.held[k+1:]...)
}

func (s *Solver) find(e entry) int {
	for k, h := range s.held {
		if h == e {
			return k
		}
	}
	return -1
}

// drop makes a constraint that can't be held one that is not.
func (s *Solver) drop(e entry) {
	switch e.kind {
	case limit:
		s.on[e.index], s.limits[e.index] = false, 0
	case ball:
		s.ballOn[e.index], s.balls[e.index] = false, 0
	case hinge:
		if s.side[e.index] = below; 2*s.hinges[e.index] > s.bound(e.index) {
			s.side[e.index] = above
		}
	}
}

// limitVector computes the normal of a limit with hinges for the sides on which these are.
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

// rebuild makes the factor of what is held at the current point. Normals that change come last, where they are cheapest
// to exchange.
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
	s.held, s.ch.n = s.held[:0], 0
	try := func(e entry) {
		if !s.hold(e) {
			s.drop(e)
		}
	}
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

// refresh brings the factor up to date with the numbers of the program.
func (s *Solver) refresh() {
	p := s.p
	if s.stale || !slices.Equal(p.D, s.d) {
		s.rebuild()
		return
	}
	same := slices.Equal(p.Val, s.val)
	var again []entry
	for k := len(s.held) - 1; k >= 0; k-- {
		e := s.held[k]
		normal, row := s.vector(e)
		changed := false
		switch {
		case normal == nil:
			for q := p.Ptr[row]; !same && !changed && q < p.Ptr[row+1]; q++ {
				changed = p.Val[q] != s.val[q]
			}
		case e.kind == limit:
			s.limitVector(e.index)
			changed = true
		default:
			changed = !same
		}
		if changed {
			s.release(k)
			again = append(again, e)
		}
	}
	if !same {
		copy(s.val, p.Val)
		for b := range p.Balls {
			s.tangent(b)
		}
	}
	for k := len(again) - 1; k >= 0; k-- {
		if !s.hold(again[k]) {
			s.drop(again[k])
		}
	}
	s.fresh = false
}

// place puts a hinge on a side, with what that means for the normals of limits that are held: they are
// taken out and put back.
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
		if !s.on[u.Hinge] {
			continue
		}
		e := entry{limit, u.Hinge}
		at := s.find(e)
		if at >= 0 {
			s.release(at)
		}
		s.p.add(s.p.Hinges[k].Row, sign*u.Weight, s.limitNormal[u.Hinge])
		if at >= 0 && !s.hold(e) {
			s.failed = true
		}
	}
}
