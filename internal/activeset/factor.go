package activeset

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// The factors.
//
// A limit that has one variable w of a block, besides links, pins it where it is held: with g its entry at w and p its part on the
// links, the step has
//
//	dw = -(sigma + p'dl)/g = c + k'dl.
//
// The same holds for a link that a limit has alone. All other constraints on a block are in its factor, of
//
//	S = N'M^-1 N + delta  over the free variables of the block,
//
// and with P their parts on links, those of pinned variables included, what is left for the links is
//
//	G = M + sum over pinned k M_w k' + sum over blocks P'S^-1 P.
//
// To take a constraint in or out adds or subtracts z z' in G, and pinning a variable subtracts its column from S.

// proximal is the least entry of M, relative to the size of the gradient over that of the point.
const proximal = 1e-4

// regularisation is delta as a share of the diagonal entry of N'M^-1 N. It has to be well above rounding, and below what normals
// that are nearly dependent leave on the diagonal.
const regularisation = 1e-12

// linkedRegularisation is that where there are links: constraints that are dependent in a block, but not with the links, leave too little there, and too
// much for the links, whose rounding steps are corrected for, see refine.
const linkedRegularisation = 1e-9

// leastRest is the share of itself below which what a change leaves is not to be trusted: the factor is made anew.
const leastRest = 1e-7

// dependent is the share of a diagonal entry below which a row counts as a combination of the others.
const dependent = 1e-14

// soften computes delta for all rows, for balls by their normals.
func (s *Solver) soften() {
	p := s.p
	share := regularisation
	if len(s.links) > 0 {
		share = linkedRegularisation
	}
	least := s.inv[0]
	for _, v := range s.inv {
		least = math.Min(least, v)
	}
	for r := range s.delta {
		sum := least
		for k := p.Ptr[r]; k < p.Ptr[r+1]; k++ {
			sum += p.Val[k] * p.Val[k] * s.inv[p.Ind[k]]
		}
		s.delta[r] = share * sum
	}
	for b, q := range p.Balls {
		sum := least
		for j, v := range s.normal[b] {
			sum += v * v * s.inv[j]
		}
		s.delta[q.Row] = share * sum
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

// rowOf is the row of a constraint that is not global; of a ball it is only the linear part.
func (s *Solver) rowOf(e entry) int {
	switch e.kind {
	case limit:
		return s.p.Limits[e.index].Row
	case ball:
		return s.p.Balls[e.index].Row
	}
	return s.p.Hinges[e.index].Row
}

// product is normal'v, v on the variables of the block and links.
func (s *Solver) product(e entry, v []float64) float64 {
	if e.kind == ball {
		sum, normal := 0.0, s.normal[e.index]
		for _, j := range s.ballCols[e.index] {
			sum += normal[j] * v[j]
		}
		return sum
	}
	return s.p.dot(s.rowOf(e), v)
}

// add adds c times the normal to v.
func (s *Solver) add(e entry, c float64, v []float64) {
	if e.kind == ball {
		normal := s.normal[e.index]
		for _, j := range s.ballCols[e.index] {
			v[j] += c * normal[j]
		}
		return
	}
	s.p.add(s.rowOf(e), c, v)
}

// entryAt is the entry of the normal at variable j.
func (s *Solver) entryAt(e entry, j int) float64 {
	if e.kind == ball {
		return s.normal[e.index][j]
	}
	r := s.rowOf(e)
	from, to := s.p.Ptr[r], s.p.Ptr[r+1]
	if first := s.p.first[r]; first >= 0 {
		if k := from + j - first; k >= from && k < to {
			return s.p.Val[k]
		}
		return 0
	}
	if k, ok := slices.BinarySearch(s.p.Ind[from:to], j); ok {
		return s.p.Val[from+k]
	}
	return 0
}

// blockIn is the number of the block in whose factor a constraint goes.
func (s *Solver) blockIn(e entry) int {
	switch e.kind {
	case limit:
		return s.home[e.index]
	case ball:
		return s.ballHome[e.index]
	}
	if r := s.p.Hinges[e.index].Row; s.p.Ptr[r] < s.p.Ptr[r+1] {
		return s.blockOf[s.p.Ind[s.p.Ptr[r]]]
	}
	return 0
}

// scatter makes w a vector M^-1 normal on the free variables of the constraint's block and zero on its other ones and on links, and
// returns normal'M^-1 normal.
func (s *Solver) scatter(b *block, e entry, w []float64) (diagonal float64) {
	s.zero(b, w)
	s.add(e, 1, w)
	for _, l := range s.links {
		w[l] = 0
	}
	for _, j := range b.vars {
		if v := w[j]; v != 0 {
			w[j] = 0
			if s.pin[j] == none {
				w[j] = v * s.inv[j]
				diagonal += v * w[j]
			}
		}
	}
	return diagonal
}

// zero clears v on a block and the links.
func (s *Solver) zero(b *block, v []float64) {
	for _, j := range b.vars {
		v[j] = 0
	}
	for _, j := range s.links {
		v[j] = 0
	}
}

// times puts the products of the block's rows with v in a slice.
func (s *Solver) times(b *block, v, to []float64) []float64 {
	to = to[:0]
	for _, e := range b.rows {
		to = append(to, s.product(e, v))
	}
	return to
}

// fold adds to the links what v, on a block, is for them: the sum of k v over the pinned variables.
func (s *Solver) fold(b *block, v []float64, to []float64) {
	p := s.p
	for _, w := range b.pinned {
		if v[w] == 0 {
			continue
		}
		r := p.Limits[s.pin[w]].Row
		from, to2 := p.Ptr[r], p.Ptr[r+1]
		if to2-from == 1 {
			continue
		}
		c := -v[w] / s.pivot(w)
		for k := from; k < to2; k++ {
			if l := s.linkAt[p.Ind[k]]; l >= 0 {
				to[l] += c * p.Val[k]
			}
		}
	}
}

// unfold computes k'v, v on links, for the pinned variables of a block, and makes it zero for its other ones.
func (s *Solver) unfold(b *block, v []float64) {
	p := s.p
	for _, j := range b.vars {
		v[j] = 0
	}
	for _, w := range b.pinned {
		r, sum := p.Limits[s.pin[w]].Row, 0.0
		for k := p.Ptr[r]; k < p.Ptr[r+1]; k++ {
			if p.Ind[k] != w {
				sum += p.Val[k] * v[p.Ind[k]]
			}
		}
		v[w] = -sum / s.pivot(w)
	}
}

// pivot is the entry of the limit that pins w.
func (s *Solver) pivot(w int) float64 { return s.entryAt(entry{limit, s.pin[w]}, w) }

// linkPart computes the vector
//
//	z = (p - P'S^-1 N'M^-1 n) / sqrt(rest)
//
// of a constraint with normal n on the block and p on the links, given in = S^-1 N'M^-1 n, which is overwritten, by the links that are
// hold adds a constraint to those held; false where rounding does not allow it.
func (s *Solver) hold(e entry) bool {
	if e.kind == limit {
		i := e.index
		if s.limitNormal[i] != nil {
			s.globals = append(s.globals, i)
			s.soil()
			return true
		}
		if w := s.leaf[i]; w != none && s.pin[w] == none && s.entryAt(e, w) != 0 {
			if l := s.linkAt[w]; l >= 0 {
				s.pinLink(l, i)
			} else {
				s.pinOwn(w, i)
			}
			return true
		}
	}
	b := s.blocks[max(0, s.blockIn(e))]
	diagonal := s.scatter(b, e, s.w) + s.deltaOf(e)
	s.rhs = s.times(b, s.w, s.rhs)
	linked := len(s.links) > 0 && !s.worn
	var in []float64
	if linked {
		in = slices.Clone(s.rhs)
		b.ch.Solve(in)
	}
	if !b.ch.Add(s.rhs, diagonal, dependent*diagonal) {
		return false
	}
	if k := b.ch.Order() - 1; linked {
		pivot := b.ch.Row(k)[k]
		s.more(s.linkPart(b, e, in, pivot*pivot))
	}
	b.rows = append(b.rows, e)
	b.dirty = true
	return true
}

// soil says that nothing is known about the next step.
func (s *Solver) soil() {
	for _, b := range s.blocks {
		b.dirty = true
	}
}

// release takes a constraint out of those held.
func (s *Solver) release(e entry) {
	if e.kind == limit {
		i := e.index
		if s.limitNormal[i] != nil {
			s.globals = slices.DeleteFunc(s.globals, func(k int) bool { return k == i })
			s.soil()
			return
		}
		if w := s.leaf[i]; w != none && s.pin[w] == i {
			if l := s.linkAt[w]; l >= 0 {
				s.freeLink(l)
			} else {
				s.freeOwn(w)
			}
			return
		}
	}
	b := s.blocks[max(0, s.blockIn(e))]
	k := slices.Index(b.rows, e)
	b.ch.Remove(k)
	b.rows = slices.Delete(b.rows, k, k+1)
	b.dirty = true
	if len(s.links) == 0 || s.worn {
		return
	}
	diagonal := s.scatter(b, e, s.w) + s.deltaOf(e)
	in := s.times(b, s.w, nil)
	s.rhs = append(s.rhs[:0], in...)
	b.ch.Forward(s.rhs)
	rest := diagonal - floats.Dot(s.rhs, s.rhs)
	if !(rest > leastRest*diagonal) {
		s.worn = true
		return
	}
	b.ch.Solve(in)
	s.less(s.linkPart(b, e, in, rest))
}

// column puts the entries of a block's rows at variable w, times a factor, in a slice.
func (s *Solver) column(b *block, w int, factor float64) []float64 {
	s.rhs = s.rhs[:0]
	for _, e := range b.rows {
		s.rhs = append(s.rhs, factor*s.entryAt(e, w))
	}
	return s.rhs
}

// pinning returns, with w free, L^-1 of its column of N'M^-1/2, what it leaves of 1, and z for the limit that pins it.
func (s *Solver) pinning(b *block, w, i int) (along []float64, rest float64, z []float64) {
	col := s.column(b, w, math.Sqrt(s.inv[w]))
	along = slices.Clone(col)
	b.ch.Forward(along)
	rest = 1 - floats.Dot(along, along)
	if len(s.links) > 0 && !s.worn && rest > leastRest {
		g := s.entryAt(entry{limit, i}, w)
		in := slices.Clone(col)
		b.ch.Solve(in)
		floats.Scale(g*math.Sqrt(s.inv[w]), in)
		z = s.linkPart(b, entry{limit, i}, in, g*g*s.inv[w]*rest)
	}
	return along, rest, z
}

// pinOwn pins variable w of a block by limit i.
func (s *Solver) pinOwn(w, i int) {
	b := s.blocks[s.blockOf[w]]
	along, rest, z := s.pinning(b, w, i)
	s.pin[w] = i
	b.pinned = append(b.pinned, w)
	b.dirty = true
	if rest > leastRest {
		b.ch.Shrink(along, rest)
		s.more(z)
		return
	}
	s.refactor(b)
	s.worn = true
}

// freeOwn ends that.
func (s *Solver) freeOwn(w int) {
	b, i := s.blocks[s.blockOf[w]], s.pin[w]
	s.pin[w] = none
	b.pinned = slices.DeleteFunc(b.pinned, func(j int) bool { return j == w })
	b.dirty = true
	b.ch.Grow(s.column(b, w, math.Sqrt(s.inv[w])))
	if len(s.links) == 0 || s.worn {
		return
	}
	if _, rest, z := s.pinning(b, w, i); rest > leastRest {
		s.less(z)
	} else {
		s.worn = true
	}
}

// refactor makes the factor of a block anew.
func (s *Solver) refactor(b *block) {
	rows := b.rows
	b.rows = b.rows[:0]
	b.ch.Reset()
	for _, e := range rows {
		if s.halt() {
			s.failed = true
			return
		}
		diagonal := s.scatter(b, e, s.w) + s.deltaOf(e)
		s.rhs = s.times(b, s.w, s.rhs)
		if !b.ch.Add(s.rhs, diagonal, dependent*diagonal) {
			s.failed = true
			return
		}
		b.rows = append(b.rows, e)
	}
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
