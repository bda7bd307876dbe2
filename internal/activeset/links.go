package activeset

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// The factor of G, of the links that are open; see factor.go.

// open, in their order.
func (s *Solver) linkPart(b *block, e entry, in []float64, rest float64) []float64 {
	if len(s.links) == 0 || s.worn {
		return nil
	}
	s.zero(b, s.sum)
	s.add(e, 1, s.sum)
	for k, h := range b.rows {
		s.add(h, -in[k], s.sum)
	}
	s.along = append(s.along[:0], make([]float64, len(s.links))...)
	for i, l := range s.links {
		s.along[i] = s.sum[l]
	}
	s.fold(b, s.sum, s.along)
	scale := 1 / math.Sqrt(rest)
	z := make([]float64, len(s.open))
	for k, l := range s.open {
		z[k] = scale * s.along[l]
	}
	return z
}

// more adds z z' to G.
func (s *Solver) more(z []float64) {
	if !s.worn && len(z) > 0 {
		s.g.Grow(z)
	}
}

// less takes z z' away from G.
func (s *Solver) less(z []float64) {
	if s.worn || len(z) == 0 {
		return
	}
	s.g.Forward(z)
	rest := 1 - floats.Dot(z, z)
	if !(rest > leastRest) {
		s.worn = true
		return
	}
	s.g.Shrink(z, rest)
}

// pinLink pins a link by a limit.
func (s *Solver) pinLink(l, i int) {
	s.pin[s.links[l]] = i
	s.soil()
	if at := s.opened[l]; !s.worn {
		s.g.Remove(at)
		s.open = slices.Delete(s.open, at, at+1)
		for k := at; k < len(s.open); k++ {
			s.opened[s.open[k]] = k
		}
	}
}

// freeLink ends that.
func (s *Solver) freeLink(l int) {
	s.pin[s.links[l]] = none
	s.soil()
	if s.worn {
		return
	}
	col := s.linkColumn(l)
	products := make([]float64, len(s.open))
	for k, o := range s.open {
		products[k] = col[o]
	}
	s.opened[l] = len(s.open)
	s.open = append(s.open, l)
	s.worn = !s.g.Add(products, col[l], dependent*col[l])
}

// linkColumn is a column of G.
func (s *Solver) linkColumn(l int) []float64 {
	j := s.links[l]
	out := make([]float64, len(s.links))
	out[l] = 1 / s.inv[j]
	for _, v := range s.links {
		s.base[v] = 0
	}
	s.base[j] = 1
	for _, b := range s.blocks {
		s.unfold(b, s.base)
		in := s.times(b, s.base, s.rhs)
		b.ch.Solve(in)
		s.zero(b, s.sum)
		for k, e := range b.rows {
			s.add(e, in[k], s.sum)
		}
		for _, w := range b.pinned {
			s.sum[w] += s.base[w] / s.inv[w]
		}
		s.rhs = in
		for i, v := range s.links {
			out[i] += s.sum[v]
		}
		s.fold(b, s.sum, out)
	}
	return out
}

// relink makes the factor of G anew.
func (s *Solver) relink() {
	s.worn = false
	s.open = s.open[:0]
	for l, j := range s.links {
		if s.pin[j] == none {
			s.opened[l] = len(s.open)
			s.open = append(s.open, l)
		}
	}
	n := len(s.open)
	if n == 0 {
		s.g.Reset()
		return
	}
	m := make([][]float64, n) // the upper triangle of G
	for k, l := range s.open {
		m[k] = make([]float64, n)
		m[k][k] = 1 / s.inv[s.links[l]]
	}
	for _, b := range s.blocks {
		if s.linkBlock(b, m); s.halted {
			s.worn = true
			return
		}
	}
	s.g.Reset()
	products := make([]float64, n)
	for k := range n {
		for i := range k {
			products[i] = m[i][k]
		}
		if !s.g.Add(products[:k], m[k][k], dependent*m[k][k]) {
			s.failed = true
			return
		}
	}
}

// linkBlock adds what a block puts into G.
func (s *Solver) linkBlock(b *block, m [][]float64) {
	s.linkPinned(b, m)
	rows, cols := s.linkRows(b)
	// Y = L^-1 P, and Y'Y
	for i := range rows {
		if s.halt() {
			return
		}
		rows[i] = append(rows[i], make([]float64, len(cols)-len(rows[i]))...)
		row := b.ch.Row(i)
		for k := range i {
			floats.AddScaled(rows[i], -row[k], rows[k])
		}
		floats.Scale(1/row[i], rows[i])
	}
	sums := make([][]float64, len(cols))
	for x := range sums {
		sums[x] = make([]float64, len(cols))
	}
	for _, y := range rows {
		if s.halt() {
			return
		}
		for x, v := range y {
			if v != 0 {
				floats.AddScaled(sums[x][x:], v, y[x:])
			}
		}
	}
	for x, i := range cols {
		for y := x; y < len(cols); y++ {
			k := cols[y]
			m[min(i, k)][max(i, k)] += sums[x][y]
		}
	}
}

// linkPinned adds k M_w k' for the pinned variables of a block.
func (s *Solver) linkPinned(b *block, m [][]float64) {
	var at []int
	var val []float64
	p := s.p
	for _, w := range b.pinned {
		at, val = at[:0], val[:0]
		r, g := p.Limits[s.pin[w]].Row, s.pivot(w)
		for k := p.Ptr[r]; k < p.Ptr[r+1]; k++ {
			if j := p.Ind[k]; j != w && s.pin[j] == none {
				at, val = append(at, s.opened[s.linkAt[j]]), append(val, p.Val[k]/g)
			}
		}
		for x, i := range at {
			for y, k := range at {
				if i <= k {
					m[i][k] += val[x] * val[y] / s.inv[w]
				}
			}
		}
	}
}

// linkRows returns P of a block by the links that it touches, whose places in G are cols. Rows may be shorter where the last links are not
// touched.
func (s *Solver) linkRows(b *block) (rows [][]float64, cols []int) {
	place := make([]int, len(s.links))
	for l := range place {
		place[l] = none
	}
	rows = make([][]float64, len(b.rows))
	for i, e := range b.rows {
		s.zero(b, s.sum)
		s.add(e, 1, s.sum)
		s.along = append(s.along[:0], make([]float64, len(s.links))...)
		for l, j := range s.links {
			s.along[l] = s.sum[j]
		}
		s.fold(b, s.sum, s.along)
		rows[i] = make([]float64, len(cols))
		for l, v := range s.along {
			if v == 0 || s.pin[s.links[l]] != none {
				continue
			}
			if place[l] == none {
				place[l] = len(cols)
				cols = append(cols, s.opened[l])
				rows[i] = append(rows[i], 0)
			}
			rows[i][place[l]] = v
		}
	}
	return rows, cols
}
