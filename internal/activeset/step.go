package activeset

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// The step.
//
// With t the vector of -M^-1 r on free variables and, for dl = 0, of what pinned ones do, V the normals of the global
// constraints, and for each block
//
//	beta = sigma + N't,  a = S^-1 beta,  q = N'M^-1 V,  e = S^-1 q,
//
// the multipliers of the block are dm = a - e dmu + S^-1 P dl, and for the links and global multipliers
//
//	[ G  u ] [dl ]   [ f ]     f = -fold(r + M t + N a),   u = fold(V - N e),
//	[ u' -D] [dmu] = [ h ],    D = delta + V'M^-1 V - q'e,  h = -sigma - V't + q'a,
//
// where fold takes a vector on all variables to the links: what it is there, and k times what it is at pinned variables.

// shiftOf is the shift of a constraint, with that of the hinges above.
func (s *Solver) shiftOf(e entry) float64 {
	switch e.kind {
	case ball:
		return s.ballShift[e.index]
	case hinge:
		return s.shift[s.p.Hinges[e.index].Row]
	}
	l := &s.p.Limits[e.index]
	v := s.shift[l.Row]
	for _, u := range l.Uses {
		if s.side[u.Hinge] == above {
			v += u.Weight * s.shift[s.p.Hinges[u.Hinge].Row]
		}
	}
	return v
}

// prepareBlock computes a block's part for the step. The vector base holds t on the links. Without links, a and e are L^-1 beta and L^-1 q,
// which is enough for everything but dm.
func (s *Solver) prepareBlock(b *block) {
	s.blockBase(b)
	if !b.dirty {
		return
	}
	b.dirty = false
	b.a = s.times(b, s.base, b.a)
	for k, e := range b.rows {
		b.a[k] += s.shiftOf(e)
	}
	if len(s.links) > 0 {
		b.ch.Solve(b.a)
		// r + M t + N a
		s.zero(b, s.sum)
		for k, e := range b.rows {
			s.add(e, b.a[k], s.sum)
		}
		for _, w := range b.pinned {
			s.sum[w] += s.residual[w] + s.base[w]/s.inv[w]
		}
		b.f = s.gather(b, b.f, -1)
	} else {
		b.ch.Forward(b.a)
	}
	b.e, b.u, b.g, b.delta = resize(b.e, len(s.globals)), resize(b.u, len(s.globals)), b.g[:0], resize(b.delta, len(s.globals))
	s.blockGlobals(b)
}

// blockBase computes t.
func (s *Solver) blockBase(b *block) {
	for _, j := range b.vars {
		s.base[j] = -s.inv[j] * s.residual[j]
	}
	p := s.p
	for _, w := range b.pinned {
		r := p.Limits[s.pin[w]].Row
		sum, g := s.shift[r], 0.0
		for k := p.Ptr[r]; k < p.Ptr[r+1]; k++ {
			if j := p.Ind[k]; j != w {
				sum += p.Val[k] * s.base[j]
			} else {
				g = p.Val[k]
			}
		}
		s.base[w] = -sum / g
	}
}

// blockGlobals computes what a block has to do with the global rows: e, u, g and delta.
func (s *Solver) blockGlobals(b *block) {
	var q [][]float64
	for k, i := range s.globals {
		v := s.limitNormal[i]
		s.zero(b, s.w)
		h := 0.0
		for _, j := range b.vars {
			h -= v[j] * s.base[j]
			if s.pin[j] == none {
				s.w[j] = s.inv[j] * v[j]
			}
		}
		b.e[k] = s.times(b, s.w, b.e[k])
		if len(s.links) > 0 {
			q = append(q, slices.Clone(b.e[k]))
			b.ch.Solve(b.e[k])
			s.zero(b, s.sum)
			for n, e := range b.rows {
				s.add(e, -b.e[k][n], s.sum)
			}
			for _, w := range b.pinned {
				s.sum[w] += v[w]
			}
			b.u[k] = s.gather(b, b.u[k], 1)
		} else {
			b.ch.Forward(b.e[k])
			q = b.e
		}
		h += floats.Dot(q[k], b.a)
		b.g = append(b.g, h)
		b.delta[k] = b.delta[k][:0]
		for other := range k + 1 {
			d := -floats.Dot(q[k], b.e[other])
			for _, j := range b.vars {
				d += s.w[j] * s.limitNormal[s.globals[other]][j]
			}
			b.delta[k] = append(b.delta[k], d)
		}
	}
}

func resize(v [][]float64, n int) [][]float64 {
	for len(v) < n {
		v = append(v, nil)
	}
	return v[:n]
}

// gather is the fold of the vector sum on a block, times a factor.
func (s *Solver) gather(b *block, to []float64, factor float64) []float64 {
	to = append(to[:0], make([]float64, len(s.links))...)
	for l, j := range s.links {
		to[l] = s.sum[j]
	}
	s.fold(b, s.sum, to)
	floats.Scale(factor, to)
	return to
}

// direction computes the rates of the multipliers held and of x, rows and balls, for the whole length of the path being 1.
func (s *Solver) direction() {
	if s.worn {
		s.relink()
	}
	if s.halt() {
		return
	}
	for _, j := range s.links {
		s.base[j] = 0
		if i := s.pin[j]; i != none {
			r := s.p.Limits[i].Row
			s.base[j] = -s.shift[r] / s.p.Val[s.p.Ptr[r]]
		}
	}
	for _, b := range s.blocks {
		if s.halt() {
			return
		}
		s.prepareBlock(b)
	}
	s.prepareLinks()
	s.solveLinks()
	for _, b := range s.blocks {
		b.dm = append(b.dm[:0], b.a...)
	}
	s.dl, s.dmu = append(s.dl[:0], s.f...), append(s.dmu[:0], s.h...)
	s.follows()
	if len(s.links) == 0 {
		for _, b := range s.blocks {
			b.ch.Backward(b.dm)
		}
	}
	s.spread()
	if len(s.links) > 0 {
		for range refinements {
			if !s.refine() {
				break
			}
		}
	}
	s.list()
	s.rates()
}

// take appends what get says of the links that are open.
func (s *Solver) take(to []float64, get func(l int) float64) []float64 {
	to = to[:0]
	for _, l := range s.open {
		to = append(to, get(l))
	}
	return to
}

// prepareLinks sums up the system of the links that are open and the global constraints.
func (s *Solver) prepareLinks() {
	s.f = s.take(s.f, func(l int) float64 {
		sum := -s.residual[s.links[l]]
		for _, b := range s.blocks {
			sum += b.f[l]
		}
		return sum
	})
	n := len(s.globals)
	s.u, s.gu, s.h = resize(s.u, n), resize(s.gu, n), s.h[:0]
	s.small.Reset()
	for k, i := range s.globals {
		v := s.limitNormal[i]
		s.u[k] = s.take(s.u[k], func(l int) float64 {
			sum := v[s.links[l]]
			for _, b := range s.blocks {
				sum += b.u[k][l]
			}
			return sum
		})
		s.gu[k] = append(s.gu[k][:0], s.u[k]...)
		s.g.Solve(s.gu[k])
		// u'G^-1 u + D
		products := make([]float64, k+1)
		for other := range k + 1 {
			products[other] = floats.Dot(s.u[k], s.gu[other])
			for _, b := range s.blocks {
				products[other] += b.delta[k][other]
			}
		}
		e := entry{limit, i}
		diagonal := products[k] + s.deltaOf(e)
		s.failed = !s.small.Add(products[:k], diagonal, dependent*diagonal) || s.failed
		h := -s.shiftOf(e)
		for _, j := range s.links {
			h -= v[j] * s.base[j]
		}
		for _, b := range s.blocks {
			h += b.g[k]
		}
		s.h = append(s.h, h)
	}
}

// solveLinks solves the system for the right sides f and h, which the solution overwrites:
//
//	(u'G^-1 u + D) dmu = u'G^-1 f - h,   dl = G^-1 (f - u dmu).
func (s *Solver) solveLinks() {
	s.g.Solve(s.f)
	for k := range s.h {
		s.h[k] = floats.Dot(s.u[k], s.f) - s.h[k]
	}
	// s.f is G^-1 f, and u'G^-1 f is u's.f
	s.small.Solve(s.h)
	for k, m := range s.h {
		floats.AddScaled(s.f, -m, s.gu[k])
	}
}

// follows adds -e dmu + S^-1 P dl to the multipliers of the blocks, for dl and dmu in f and h.
func (s *Solver) follows() {
	for _, j := range s.links {
		s.w[j] = 0
	}
	for k, l := range s.open {
		s.w[s.links[l]] = s.f[k]
	}
	for _, b := range s.blocks {
		if len(s.links) > 0 {
			s.unfold(b, s.w)
			s.rhs = s.times(b, s.w, s.rhs)
			b.ch.Solve(s.rhs)
			floats.Add(b.dm, s.rhs)
		}
		for k, m := range s.h {
			floats.AddScaled(b.dm, -m, b.e[k])
		}
	}
}

// spread computes the step from that of the links and all multipliers but those that pin, which follow from it. What the links'
// equations miss is in miss.
func (s *Solver) spread() {
	p := s.p
	copy(s.dx, s.residual)
	for k, i := range s.globals {
		floats.AddScaled(s.dx, s.dmu[k], s.limitNormal[i])
	}
	for _, j := range s.links {
		s.w[j] = s.base[j]
	}
	for k, l := range s.open {
		s.w[s.links[l]] = s.dl[k]
	}
	s.dpin = append(s.dpin[:0], make([]float64, len(s.pin))...)
	for _, b := range s.blocks {
		for k, e := range b.rows {
			s.add(e, b.dm[k], s.dx)
		}
		for _, w := range b.pinned {
			r := p.Limits[s.pin[w]].Row
			g, d := 0.0, s.shift[r]
			for k := p.Ptr[r]; k < p.Ptr[r+1]; k++ {
				if j := p.Ind[k]; j != w {
					d += p.Val[k] * s.w[j]
				} else {
					g = p.Val[k]
				}
			}
			d /= -g
			m := -(s.dx[w] + d/s.inv[w]) / g
			s.dpin[w], s.dx[w] = m, d
			for k := p.Ptr[r]; k < p.Ptr[r+1]; k++ {
				if j := p.Ind[k]; j != w {
					s.dx[j] += m * p.Val[k]
				}
			}
		}
		for _, j := range b.vars {
			if s.pin[j] == none {
				s.dx[j] *= -s.inv[j]
			}
		}
	}
	for l, j := range s.links {
		if s.pin[j] != none {
			s.dpin[j] = -(s.dx[j] + s.base[j]/s.inv[j]) / s.pivot(j)
		} else {
			s.miss[l] = s.dx[j] + s.w[j]/s.inv[j]
		}
		s.dx[j] = s.w[j]
	}
}

// refinements is how often a step is corrected at most, and exact the share of the largest rate to which the constraints held follow the path
// before it is enough.
const refinements, exact = 2, 1e-7

// refine corrects the step by what the equations miss, because delta is larger in the factors than it should be, and because of
// rounding; false where that is nothing.
func (s *Solver) refine() bool {
	worst, top := 0.0, 0.0
	for _, b := range s.blocks {
		b.miss = b.miss[:0]
		for k, e := range b.rows {
			rate, shift := s.product(e, s.dx), s.shiftOf(e)
			v := rate + shift - s.deltaOf(e)*b.dm[k]
			b.miss = append(b.miss, v)
			worst, top = max(worst, math.Abs(v)), max(top, math.Abs(rate), math.Abs(shift))
		}
	}
	if worst <= exact*top {
		return false
	}
	s.f = s.take(s.f, func(l int) float64 { return -s.miss[l] })
	s.h = s.h[:0]
	for k, i := range s.globals {
		e := entry{limit, i}
		h := s.deltaOf(e)*s.dmu[k] - s.shiftOf(e) - floats.Dot(s.limitNormal[i], s.dx)
		for _, b := range s.blocks {
			h += floats.Dot(b.e[k], b.miss)
		}
		s.h = append(s.h, h)
	}
	for _, b := range s.blocks {
		b.ch.Solve(b.miss)
		floats.Add(b.dm, b.miss)
		s.zero(b, s.sum)
		for k, e := range b.rows {
			s.add(e, b.miss[k], s.sum)
		}
		s.along = s.gather(b, s.along, -1)
		for k, l := range s.open {
			s.f[k] += s.along[l]
		}
	}
	s.solveLinks()
	s.follows()
	floats.Add(s.dl, s.f)
	floats.Add(s.dmu, s.h)
	s.spread()
	return true
}

// list notes what is held with the rates of the multipliers.
func (s *Solver) list() {
	s.held, s.dm = s.held[:0], s.dm[:0]
	clear(s.dlimit)
	note := func(e entry, rate float64) {
		s.held, s.dm = append(s.held, e), append(s.dm, rate)
		if e.kind == limit {
			s.dlimit[e.index] = rate
		}
	}
	for _, b := range s.blocks {
		for k, e := range b.rows {
			note(e, b.dm[k])
		}
		for _, w := range b.pinned {
			note(entry{limit, s.pin[w]}, s.dpin[w])
		}
	}
	for _, j := range s.links {
		if i := s.pin[j]; i != none {
			note(entry{limit, i}, s.dpin[j])
		}
	}
	for k, i := range s.globals {
		note(entry{limit, i}, s.dmu[k])
	}
}
