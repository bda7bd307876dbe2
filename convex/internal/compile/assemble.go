package compile

import (
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
)

// Assembled is the conic program of a layout, as numbers.
type Assembled struct {
	*Layout
	a, B, q    parametric          // values of A, of b, of q without the squares
	Ptr, Ind   []int               // pattern of A
	PPtr, PInd []int               // pattern of P, a diagonal
	weights    []*affine.Parameter // of squares, on which P depends
}

// Assemble builds the numbers of a layout. A is filled column by column with
// the rows in increasing order: entries are counted, then written group by group.
func (l *Layout) Assemble() *Assembled {
	as := &Assembled{Layout: l}
	counts := make([]int, l.N+1) // counts[j+1]: entries of column j
	for i, g := range l.Program.Groups {
		for k := range g.Expr.Vars {
			l.count(&g.Expr.Vars[k], i, counts[1:])
		}
	}
	for j := range l.N {
		counts[j+1] += counts[j]
	}
	as.Ptr = counts
	f := &filler{Layout: l, next: slices.Clone(counts[:l.N]), ind: make([]int, counts[l.N]), val: make([]float64, counts[l.N])}
	as.B.base = make([]float64, l.M)
	overlap := false
	for i, g := range l.Program.Groups {
		overlap = overlap || g.Overlap
		for k := range g.Expr.Vars {
			as.a.put(f.fill(&g.Expr.Vars[k], i))
		}
		l.rightSide(g, i, &as.B)
	}
	as.Ind, as.a.base = f.ind, f.val
	if overlap {
		as.merge()
	}
	as.linear()
	as.diagonal()
	return as
}

// rightSide adds b = constant of s = expr.
func (l *Layout) rightSide(g *Group, i int, b *parametric) {
	for r, v := range g.Expr.C {
		if row := l.Row(i, r); row >= 0 {
			b.base[row] = v
		}
	}
	for k := range g.Expr.Pars {
		t := &g.Expr.Pars[k]
		pm := parameterMap{p: t.P}
		t.EachEntry(func(r, j int, v float64) { pm.add(l.Row(i, t.Row(r)), j, v) })
		b.put(pm)
	}
}

// count adds the number of entries of the term in each column.
func (l *Layout) count(t *affine.Term, i int, counts []int) {
	active, inv := l.Set(t.V)
	start := l.Start[t.V.ID]
	if t.Mat == nil {
		for r := range t.Rows {
			j := t.Entry(r)
			if inv != nil {
				j = inv[j]
			}
			if j >= 0 && t.Fixed(r) != 0 {
				counts[start+j]++
			}
		}
		return
	}
	nonzeros := t.Mat.Nonzeros()
	add := func(pos, j int) {
		c := j - t.First
		if c < 0 || c >= t.Mat.Cols || nonzeros[c] == 0 {
			return
		}
		if t.Sum {
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
	for c := range t.Mat.Cols {
		add(t.First+c, t.First+c)
	}
}

// filler writes entries of A, next[j] being the place of the next one of column j.
type filler struct {
	*Layout
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
func (f *filler) fill(t *affine.Term, i int) parameterMap {
	pm := parameterMap{p: t.W}
	if t.Mat != nil {
		f.fillMatrix(t, i, &pm)
		return pm
	}
	_, inv := f.Set(t.V)
	start := f.Start[t.V.ID]
	for r := range t.Rows {
		j, v := t.Entry(r), -t.Fixed(r)
		if inv != nil {
			j = inv[j]
		}
		if j < 0 || v == 0 {
			continue
		}
		row := f.Row(i, t.Row(r))
		if t.W == nil {
			f.put(start+j, row, v)
		} else {
			pm.add(f.put(start+j, row, 0), t.Windex(r), v)
		}
	}
	return pm
}

func (f *filler) fillMatrix(t *affine.Term, i int, pm *parameterMap) {
	m := t.Mat
	active, _ := f.Set(t.V)
	start := f.Start[t.V.ID]
	// The columns of the matrix that are there, and where they go.
	width := m.Cols
	if active != nil {
		low, _ := slices.BinarySearch(active, t.First)
		high, _ := slices.BinarySearch(active, t.First+m.Cols)
		active, start, width = active[low:high], start+low, high-low
	} else {
		start += t.First
	}
	column := func(k int) int { // of the matrix
		if active != nil {
			return active[k] - t.First
		}
		return k
	}
	if t.Plain() && !t.Sum && m.Dense != nil {
		for r := range m.Rows {
			f.fillRow(m.Row(r), m.Full, active, t.First, start, f.Row(i, t.Off+r), -t.Scale)
		}
		return
	}
	for k := range width {
		c := column(k)
		if t.Sum && m.Nonzeros()[c] == 0 {
			continue
		}
		pos := -1
		if t.Sum { // one entry, the sum over rows
			pos = f.put(start+k, f.Row(i, t.Off), 0)
		}
		entry := func(r int, v float64) {
			if v == 0 && !m.Full {
				return
			}
			v *= -t.Fixed(r)
			switch {
			case t.Sum && t.W == nil:
				f.val[pos] += v
			case t.Sum:
				pm.add(pos, t.Windex(r), v)
			case t.W == nil:
				f.put(start+k, f.Row(i, t.Off+r), v)
			default:
				pm.add(f.put(start+k, f.Row(i, t.Off+r), 0), t.Windex(r), v)
			}
		}
		if m.Dense != nil {
			for r := range m.Rows {
				entry(r, m.Dense[r*m.Stride+c])
			}
		} else {
			for p := m.Ptr[c]; p < m.Ptr[c+1]; p++ {
				entry(m.Ind[p], m.Val[p])
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
func (as *Assembled) merge() {
	moved := make([]int, len(as.Ind))
	out := 0
	ptr := make([]int, len(as.Ptr))
	var ind []int
	var val []float64
	var order []int
	for j := range as.N {
		order = order[:0]
		for k := as.Ptr[j]; k < as.Ptr[j+1]; k++ {
			order = append(order, k)
		}
		slices.SortStableFunc(order, func(a, b int) int { return as.Ind[a] - as.Ind[b] })
		for _, k := range order {
			if out > ptr[j] && ind[out-1] == as.Ind[k] {
				val[out-1] += as.a.base[k]
			} else {
				ind, val = append(ind, as.Ind[k]), append(val, as.a.base[k])
				out++
			}
			moved[k] = out - 1
		}
		ptr[j+1] = out
	}
	as.Ptr, as.Ind, as.a.base = ptr, ind, val
	for _, pm := range as.a.maps {
		for k, pos := range pm.pos {
			pm.pos[k] = moved[pos]
		}
	}
}

// linear builds q from the affine part of the objective.
func (as *Assembled) linear() {
	as.q.base = make([]float64, as.N)
	for k := range as.Program.Objective.Vars {
		t := &as.Program.Objective.Vars[k]
		_, inv := as.Set(t.V)
		start := as.Start[t.V.ID]
		pm := parameterMap{p: t.W}
		add := func(r, j int, v float64) {
			if inv != nil {
				j = inv[j]
			}
			switch {
			case j < 0:
			case t.W == nil:
				as.q.base[start+j] += v
			default:
				pm.add(start+j, t.Windex(r), v)
			}
		}
		t.EachEntry(add)
		as.q.put(pm)
	}
}

func (as *Assembled) matrixA(val []float64) *sparse.CSC {
	return sparse.NewCSC(as.M, as.N, as.Ptr, as.Ind, val)
}

func (as *Assembled) matrixP(val []float64) *sparse.CSC {
	return sparse.NewCSC(as.N, as.N, as.PPtr, as.PInd, val)
}

// SamePattern says that two programs differ in their numbers only.
func (as *Assembled) SamePattern(old *Assembled) bool {
	return as.N == old.N && as.M == old.M && slices.Equal(as.Ptr, old.Ptr) && slices.Equal(as.Ind, old.Ind) &&
		slices.Equal(as.PPtr, old.PPtr) && slices.Equal(as.PInd, old.PInd) &&
		slices.EqualFunc(as.cones, old.cones, func(a, b backends.Cone) bool { return a.Kind == b.Kind && a.Dim == b.Dim && a.Rows == b.Rows })
}
