package compile

import (
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/convex/internal/affine"
)

// Assembled is the conic program of a layout, as numbers.
type Assembled struct {
	*Layout
	a, B, q    Parametric          // values of A, of b, of q without the squares
	Ptr, Ind   []int               // pattern of A
	PPtr, PInd []int               // pattern of P, a diagonal
	weights    []*affine.Parameter // of squares, on which P depends
	value      []float64           // work space: the constants, and then the values, of a square
}

// constant returns the constants of an expression, for as long as no other is asked for.
func (as *Assembled) constant(a *affine.Expr, at affine.Values) []float64 {
	as.value = slices.Grow(as.value[:0], a.N)[:a.N]
	return a.ConstantTo(as.value, at)
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
	as.Ind, as.a.base, as.B.base = make([]int, counts[l.N]), make([]float64, counts[l.N]), make([]float64, l.M)
	f := &filler{as, slices.Clone(counts[:l.N])}
	overlap := false
	for i, g := range l.Program.Groups {
		overlap = overlap || g.Overlap
		for k := range g.Expr.Vars {
			f.fill(&g.Expr.Vars[k], i)
		}
		l.rightSide(g, i, &as.B)
	}
	if overlap {
		as.merge()
	}
	as.linear()
	as.diagonal()
	return as
}

// rightSide adds b = constant of s = expr.
func (l *Layout) rightSide(g *Group, i int, b *Parametric) {
	for r, v := range g.Expr.C {
		if row := l.Row(i, r); row >= 0 {
			b.base[row] = v
		}
	}
	for _, t := range g.Expr.Pars {
		t.EachEntry(func(r, j int, v float64) { b.Put(l.Row(i, t.Row(r)), t.P, j, v) })
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

// there lists the columns of a term's matrix whose entries of the variable are not left out, and returns the place of
// the first one.
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
	*Assembled
	next []int
}

// place makes room for an entry.
func (f *filler) place(col, row int) int {
	p := f.next[col]
	f.Ind[p] = row
	f.next[col]++
	return p
}

// fill writes the entries of a term of group i, whose expression is s = b - A x.
func (f *filler) fill(t *affine.Term, i int) {
	if t.Mat != nil {
		f.fillMatrix(t, i)
		return
	}
	at := f.columns(t.V)
	for r := range t.Rows {
		if j, v := at.column(t.Entry(r)), -t.Fixed(r); j >= 0 && v != 0 {
			f.a.Put(f.place(j, f.Row(i, t.Row(r))), t.W, t.Windex(r), v)
		}
	}
}

func (f *filler) fillMatrix(t *affine.Term, i int) {
	m := t.Mat
	there, start := f.there(t)
	for k, c := range there {
		pos := -1
		m.EachOf(c, func(r int, v float64) {
			if pos < 0 || !t.Sum { // a sum over rows is one entry
				pos = f.place(start+k, f.Row(i, t.Row(r)))
			}
			f.a.Put(pos, t.W, t.Windex(r), -v*t.Fixed(r))
		})
	}
}

// merge sorts the rows of each column and adds up entries of the same place, which terms that overlap leave behind.
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
	for k := range as.a.changes {
		c := &as.a.changes[k]
		c.pos = moved[c.pos]
	}
}

// linear builds q from the affine part of the objective.
func (as *Assembled) linear() {
	as.q.base = make([]float64, as.N)
	for _, t := range as.Program.Objective.Vars {
		at := as.columns(t.V)
		t.EachEntry(func(r, j int, v float64) {
			if j = at.column(j); j >= 0 {
				as.q.Put(j, t.W, t.Windex(r), v)
			}
		})
	}
}

func (as *Assembled) matrixA(val []float64) *sparse.CSC {
	return sparse.NewCSC(as.M, as.N, as.Ptr, as.Ind, val)
}

func (as *Assembled) matrixP(val []float64) *sparse.CSC {
	return sparse.NewCSC(as.N, as.N, as.PPtr, as.PInd, val)
}
