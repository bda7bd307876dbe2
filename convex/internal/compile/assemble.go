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
	for _, g := range l.Program.Groups {
		for k := range g.Expr.Vars {
			l.count(&g.Expr.Vars[k], counts[1:])
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
	for _, t := range g.Expr.Pars {
		pm := parameterMap{p: t.P}
		t.EachEntry(func(r, j int, v float64) { pm.add(l.Row(i, t.Row(r)), j, v) })
		b.put(pm)
	}
}

// count adds the number of entries of the term in each column.
func (l *Layout) count(t *affine.Term, counts []int) {
	if t.Mat == nil {
		at := l.columns(t.V)
		for r := range t.Rows {
			if j := at.column(t.Entry(r)); j >= 0 && t.Fixed(r) != 0 {
				counts[j]++
			}
		}
		return
	}
	nonzeros := t.Mat.Nonzeros()
	there, start := l.there(t)
	for k, c := range there {
		if n := nonzeros[c]; t.Sum {
			counts[start+k] += min(1, n)
		} else {
			counts[start+k] += n
		}
	}
}

// there lists the columns of a term's matrix whose entries of the variable are not left out, and returns the place of the first one.
func (l *Layout) there(t *affine.Term) (there []int, start int) {
	low, high := t.First, t.First+t.Mat.Cols
	active, _ := l.Set(t.V)
	if active != nil {
		low, _ = slices.BinarySearch(active, low)
		high, _ = slices.BinarySearch(active, high)
	}
	there = make([]int, high-low)
	for k := range there {
		there[k] = k
		if active != nil {
			there[k] = active[low+k] - t.First
		}
	}
	return there, l.Start[t.V.ID] + low
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
	at := f.columns(t.V)
	for r := range t.Rows {
		if j, v := at.column(t.Entry(r)), -t.Fixed(r); j >= 0 && v != 0 {
			f.weigh(&pm, t, r, j, f.Row(i, t.Row(r)), v)
		}
	}
	return pm
}

// weigh writes an entry of row r of a term, or notes how it depends on the weights.
func (f *filler) weigh(pm *parameterMap, t *affine.Term, r, col, row int, v float64) {
	if t.W == nil {
		f.put(col, row, v)
	} else {
		pm.add(f.put(col, row, 0), t.Windex(r), v)
	}
}

func (f *filler) fillMatrix(t *affine.Term, i int, pm *parameterMap) {
	m := t.Mat
	there, start := f.there(t)
	if t.Plain() && !t.Sum && m.Dense != nil {
		next := f.next[start:]
		for r := range m.Rows {
			values, row := m.Row(r), f.Row(i, t.Off+r)
			for k, c := range there {
				if v := values[c]; v != 0 || m.Full {
					p := next[k]
					f.ind[p], f.val[p] = row, -t.Scale*v
					next[k] = p + 1
				}
			}
		}
		return
	}
	for k, c := range there {
		pos := -1
		if t.Sum { // one entry, the sum over rows
			if m.Nonzeros()[c] == 0 {
				continue
			}
			pos = f.put(start+k, f.Row(i, t.Off), 0)
		}
		m.EachOf(c, func(r int, v float64) {
			v *= -t.Fixed(r)
			switch {
			case !t.Sum:
				f.weigh(pm, t, r, start+k, f.Row(i, t.Off+r), v)
			case t.W == nil:
				f.val[pos] += v
			default:
				pm.add(pos, t.Windex(r), v)
			}
		})
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
	for _, t := range as.Program.Objective.Vars {
		at, pm := as.columns(t.V), parameterMap{p: t.W}
		t.EachEntry(func(r, j int, v float64) {
			switch j = at.column(j); {
			case j < 0:
			case t.W == nil:
				as.q.base[j] += v
			default:
				pm.add(j, t.Windex(r), v)
			}
		})
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
