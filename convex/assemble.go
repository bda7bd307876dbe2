package convex

import (
	"slices"

	"github.com/james-bowman/sparse"
)

// assembled is the conic program of a layout, as numbers.
type assembled struct {
	*layout
	a, b, q    numbers      // values of A, of b, of q without the squares
	ptr, ind   []int        // pattern of A
	pptr, pind []int        // pattern of P, a diagonal
	weights    []*Parameter // of squares, on which P depends
}

// assemble builds the numbers of a layout. A is filled column by column with
// the rows in increasing order: entries are counted, then written group by group.
func (l *layout) assemble() *assembled {
	as := &assembled{layout: l}
	counts := make([]int, l.n+1) // counts[j+1]: entries of column j
	for i, g := range l.prog.groups {
		for k := range g.expr.vars {
			l.count(&g.expr.vars[k], i, counts[1:])
		}
	}
	for j := range l.n {
		counts[j+1] += counts[j]
	}
	as.ptr = counts
	f := &filler{layout: l, next: slices.Clone(counts[:l.n]), ind: make([]int, counts[l.n]), val: make([]float64, counts[l.n])}
	as.b.base = make([]float64, l.m)
	overlap := false
	for i, g := range l.prog.groups {
		overlap = overlap || g.overlap
		for k := range g.expr.vars {
			as.a.put(f.fill(&g.expr.vars[k], i))
		}
		l.rightSide(g, i, &as.b)
	}
	as.ind, as.a.base = f.ind, f.val
	if overlap {
		as.merge()
	}
	as.linear()
	as.diagonal()
	return as
}

// rightSide adds b = constant of s = expr.
func (l *layout) rightSide(g *group, i int, b *numbers) {
	for r, v := range g.expr.c {
		if row := l.row(i, r); row >= 0 {
			b.base[row] = v
		}
	}
	for k := range g.expr.pars {
		pm := parameterMap{p: g.expr.pars[k].p}
		g.expr.pars[k].eachEntry(func(r, j int, v float64) {
			pm.add(l.row(i, r), j, v)
		})
		b.put(pm)
	}
}

// eachEntry calls f for the entries of the unweighted map: row of the
// expression, source entry and value.
func (t *term) eachEntry(f func(row, j int, v float64)) {
	for r := range t.rows {
		switch {
		case t.mat == nil:
			f(t.row(r), t.entry(r), t.fixed(r))
		case t.mat.dense != nil:
			for c, v := range t.mat.row(r) {
				if v != 0 {
					f(t.row(r), t.first+c, t.fixed(r)*v)
				}
			}
		}
	}
	if t.mat != nil && t.mat.dense == nil {
		for c := range t.mat.cols {
			for k := t.mat.ptr[c]; k < t.mat.ptr[c+1]; k++ {
				f(t.row(t.mat.ind[k]), t.first+c, t.fixed(t.mat.ind[k])*t.mat.val[k])
			}
		}
	}
}

// count adds the number of entries of the term in each column.
func (l *layout) count(t *term, i int, counts []int) {
	active, inv := l.set(t.v)
	start := l.start[t.v.id]
	if t.mat == nil {
		for r := range t.rows {
			j := t.entry(r)
			if inv != nil {
				j = inv[j]
			}
			if j >= 0 && t.fixed(r) != 0 {
				counts[start+j]++
			}
		}
		return
	}
	nonzeros := t.mat.nonzeros()
	add := func(pos, j int) {
		c := j - t.first
		if c < 0 || c >= t.mat.cols || nonzeros[c] == 0 {
			return
		}
		if t.sum {
			counts[start+pos]++
		} else {
			counts[start+pos] += nonzeros[c]
		}
	}
	if active != nil {
		for pos, j := range active {
			add(pos, j)
		}
		return
	}
	for c := range t.mat.cols {
		add(t.first+c, t.first+c)
	}
}

// filler writes entries of A, next[j] being the place of the next one of column j.
type filler struct {
	*layout
	next, ind []int
	val       []float64
}

func (f *filler) put(col, row int, v float64) int {
	p := f.next[col]
	f.ind[p], f.val[p] = row, v
	f.next[col]++
	return p
}

// fill writes the entries of a term of group i, whose expression is s = b - A x,
// and returns the dependence on its weights.
func (f *filler) fill(t *term, i int) parameterMap {
	pm := parameterMap{p: t.w}
	if t.mat != nil {
		f.fillMatrix(t, i, &pm)
		return pm
	}
	_, inv := f.set(t.v)
	start := f.start[t.v.id]
	for r := range t.rows {
		j, v := t.entry(r), -t.fixed(r)
		if inv != nil {
			j = inv[j]
		}
		if j < 0 || v == 0 {
			continue
		}
		row := f.row(i, t.row(r))
		if t.w == nil {
			f.put(start+j, row, v)
		} else {
			pm.add(f.put(start+j, row, 0), t.windex(r), v)
		}
	}
	return pm
}

func (f *filler) fillMatrix(t *term, i int, pm *parameterMap) {
	m := t.mat
	active, _ := f.set(t.v)
	start := f.start[t.v.id]
	// The columns of the matrix that are there, and where they go.
	width := m.cols
	if active != nil {
		low, _ := slices.BinarySearch(active, t.first)
		high, _ := slices.BinarySearch(active, t.first+m.cols)
		active, start, width = active[low:high], start+low, high-low
	} else {
		start += t.first
	}
	column := func(k int) int { // of the matrix
		if active != nil {
			return active[k] - t.first
		}
		return k
	}
	if t.plain() && !t.sum && m.dense != nil {
		for r := range m.rows {
			f.fillRow(m.row(r), m.full, active, t.first, start, f.row(i, t.off+r), -t.scale)
		}
		return
	}
	for k := range width {
		c := column(k)
		if t.sum && m.nonzeros()[c] == 0 {
			continue
		}
		pos := -1
		if t.sum { // one entry, the sum over rows
			pos = f.put(start+k, f.row(i, t.off), 0)
		}
		entry := func(r int, v float64) {
			if v == 0 && !m.full {
				return
			}
			v *= -t.fixed(r)
			switch {
			case t.sum && t.w == nil:
				f.val[pos] += v
			case t.sum:
				pm.add(pos, t.windex(r), v)
			case t.w == nil:
				f.put(start+k, f.row(i, t.off+r), v)
			default:
				pm.add(f.put(start+k, f.row(i, t.off+r), 0), t.windex(r), v)
			}
		}
		if m.dense != nil {
			for r := range m.rows {
				entry(r, m.dense[r*m.stride+c])
			}
		} else {
			for p := m.ptr[c]; p < m.ptr[c+1]; p++ {
				entry(m.ind[p], m.val[p])
			}
		}
	}
}

// fillRow writes a row of a dense matrix, zeros too if it counts as full; active are entries of the variable, nil for all.
func (f *filler) fillRow(values []float64, full bool, active []int, first, start, row int, scale float64) {
	next := f.next[start:]
	if active == nil {
		for k, v := range values {
			if v != 0 || full {
				p := next[k]
				f.ind[p], f.val[p] = row, scale*v
				next[k] = p + 1
			}
		}
		return
	}
	for k, j := range active {
		if v := values[j-first]; v != 0 || full {
			p := next[k]
			f.ind[p], f.val[p] = row, scale*v
			next[k] = p + 1
		}
	}
}

// merge sorts the rows of each column and adds up entries of the same place,
// which terms that overlap leave behind.
func (as *assembled) merge() {
	moved := make([]int, len(as.ind))
	out := 0
	ptr := make([]int, len(as.ptr))
	var ind []int
	var val []float64
	var order []int
	for j := range as.n {
		order = order[:0]
		for k := as.ptr[j]; k < as.ptr[j+1]; k++ {
			order = append(order, k)
		}
		slices.SortStableFunc(order, func(a, b int) int { return as.ind[a] - as.ind[b] })
		for _, k := range order {
			if out > ptr[j] && ind[out-1] == as.ind[k] {
				val[out-1] += as.a.base[k]
			} else {
				ind, val = append(ind, as.ind[k]), append(val, as.a.base[k])
				out++
			}
			moved[k] = out - 1
		}
		ptr[j+1] = out
	}
	as.ptr, as.ind, as.a.base = ptr, ind, val
	for _, pm := range as.a.maps {
		for k, pos := range pm.pos {
			pm.pos[k] = moved[pos]
		}
	}
}

// linear builds q from the affine part of the objective.
func (as *assembled) linear() {
	as.q.base = make([]float64, as.n)
	for k := range as.prog.objective.vars {
		t := &as.prog.objective.vars[k]
		_, inv := as.set(t.v)
		start := as.start[t.v.id]
		pm := parameterMap{p: t.w}
		add := func(r, j int, v float64) {
			if inv != nil {
				j = inv[j]
			}
			switch {
			case j < 0:
			case t.w == nil:
				as.q.base[start+j] += v
			default:
				pm.add(start+j, t.windex(r), v)
			}
		}
		if t.mat == nil {
			for r := range t.rows {
				add(r, t.entry(r), t.fixed(r))
			}
		} else {
			// eachEntry names rows of the expression; weights go by rows of the term.
			unsummed := *t
			unsummed.sum, unsummed.off = false, 0
			unsummed.eachEntry(add)
		}
		as.q.put(pm)
	}
}

func (as *assembled) matrixA(val []float64) *sparse.CSC {
	return sparse.NewCSC(as.m, as.n, as.ptr, as.ind, val)
}

func (as *assembled) matrixP(val []float64) *sparse.CSC {
	return sparse.NewCSC(as.n, as.n, as.pptr, as.pind, val)
}
