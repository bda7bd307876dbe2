package compile

import (
	"iter"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
)

// Layout places the columns and rows of a program for given working sets.
type Layout struct {
	Program *Program
	active  []([]int) // for each sparse variable, its working set in increasing order; nil: all entries
	inv     []([]int) // for each sparse variable with a working set, the position of an entry in it, or -1

	Start []int // first column of each variable
	N     int

	First []int   // first row of each group
	RowOf [][]int // for each group, the row of each of its rows, or -1 if dropped; nil: consecutive rows
	M     int
	cones []backends.Cone
}

// NewLayout places the program with the given working sets; a nil slice, or a nil entry, stands for all entries.
func (p *Program) NewLayout(active [][]int) *Layout {
	l := &Layout{Program: p, active: make([][]int, len(p.Sparse)), inv: make([][]int, len(p.Sparse))}
	for k := range active {
		if active[k] == nil {
			continue
		}
		l.active[k] = slices.Clone(active[k])
		l.inv[k] = slices.Repeat([]int{-1}, p.Sparse[k].V.N)
		for i, j := range active[k] {
			l.inv[k][j] = i
		}
	}
	l.Start = make([]int, len(p.Vars))
	for i, v := range p.Vars {
		l.Start[i] = l.N
		l.N += l.Width(v)
	}
	l.First, l.RowOf = make([]int, len(p.Groups)), make([][]int, len(p.Groups))
	for i, g := range p.Groups {
		l.First[i] = l.M
		rows := g.Expr.N
		if g.DropOf != nil {
			rows = l.drop(g, i)
		}
		l.M += rows
		if last := len(l.cones) - 1; last >= 0 && orthant(g.Kind) && l.cones[last].Kind == g.Kind {
			l.cones[last].Dim += rows
		} else if rows > 0 {
			l.cones = append(l.cones, g.Cone(rows))
		}
	}
	return l
}

// orthant says that cones of this kind side by side are one.
func orthant(k backends.ConeKind) bool {
	return k == backends.ZeroCone || k == backends.NonnegativeCone
}

// Cone returns the cone of the group with the given number of rows left.
func (g *Group) Cone(rows int) backends.Cone {
	c := g.shape
	c.Kind, c.Dim = g.Kind, rows
	return c
}

// drop numbers the rows of group i that stay and returns their count.
func (l *Layout) drop(g *Group, i int) int {
	rowOf := make([]int, len(g.Drop))
	rows := 0
	for r, of := range g.DropOf {
		if of >= 0 && l.inv[of] != nil && l.inv[of][g.Drop[r]] < 0 {
			rowOf[r] = -1
			continue
		}
		rowOf[r] = l.M + rows
		rows++
	}
	if rows < len(g.Drop) {
		l.RowOf[i] = rowOf
	}
	return rows
}

// Set returns the working set of a variable, nil for all entries.
func (l *Layout) Set(v *affine.Variable) (active, inv []int) {
	if k := l.Program.SparseOf[v.ID]; k >= 0 {
		return l.active[k], l.inv[k]
	}
	return nil, nil
}

// columns are those of a variable: the first one, and with a working set the places in it.
type columns struct {
	start int
	inv   []int
}

func (l *Layout) columns(v *affine.Variable) columns {
	_, inv := l.Set(v)
	return columns{l.Start[v.ID], inv}
}

// column is that of entry j, -1 outside the working set.
func (c columns) column(j int) int {
	if c.inv != nil {
		if j = c.inv[j]; j < 0 {
			return -1
		}
	}
	return c.start + j
}

// Width is the number of columns of a variable.
func (l *Layout) Width(v *affine.Variable) int {
	if active, _ := l.Set(v); active != nil {
		return len(active)
	}
	return v.N
}

// Entries yields the columns of a variable, with the entries that they are.
func (l *Layout) Entries(v *affine.Variable) iter.Seq2[int, int] {
	return func(yield func(column, entry int) bool) {
		active, _ := l.Set(v)
		for k := range l.Width(v) {
			j := k
			if active != nil {
				j = active[k]
			}
			if !yield(l.Start[v.ID]+k, j) {
				return
			}
		}
	}
}

// Expand copies the columns x of a variable to its entries out; those outside the working set are left alone.
func (l *Layout) Expand(out []float64, v *affine.Variable, x []float64) {
	for column, j := range l.Entries(v) {
		out[j] = x[column]
	}
}

// GroupRows returns the entries of z that belong to group i, one for each of its
// rows, zero for dropped ones. The result is a part of z or is in scratch.
func (l *Layout) GroupRows(i int, z, scratch []float64) []float64 {
	n := l.Program.Groups[i].Expr.N
	if l.RowOf[i] == nil {
		return z[l.First[i] : l.First[i]+n]
	}
	scratch = scratch[:n]
	for r, row := range l.RowOf[i] {
		scratch[r] = 0
		if row >= 0 {
			scratch[r] = z[row]
		}
	}
	return scratch
}

// Row returns the row of row r of group i, -1 if dropped.
func (l *Layout) Row(i, r int) int {
	if l.RowOf[i] != nil {
		return l.RowOf[i][r]
	}
	return l.First[i] + r
}

// Same says that the layout has these working sets.
func (l *Layout) Same(active [][]int) bool {
	for k, have := range l.active {
		var want []int
		if active != nil {
			want = active[k]
		}
		if (have == nil) != (want == nil) || !slices.Equal(have, want) {
			return false
		}
	}
	return true
}

// Carry maps a point of another layout of the program to this one. What has no place there is zero, but for multipliers
// that are known otherwise. Parts that are nil stay nil. A point of the same layout is not copied.
func (l *Layout) Carry(from *Layout, pt backends.Point, multiplier func(g *Group, r int) float64) (out backends.Point) {
	if l == from {
		return pt
	}
	if pt.X != nil {
		out.X = make([]float64, l.N)
	}
	for _, v := range l.Program.Vars {
		at := from.columns(v)
		for column, j := range l.Entries(v) {
			if old := at.column(j); old >= 0 && pt.X != nil {
				out.X[column] = pt.X[old]
			}
		}
	}
	rows := func(z []float64, known func(g *Group, r int) float64) []float64 {
		if z == nil {
			return nil
		}
		out := make([]float64, l.M)
		for i, g := range l.Program.Groups {
			for r := range g.Expr.N {
				switch row, old := l.Row(i, r), from.Row(i, r); {
				case row < 0:
				case old >= 0:
					out[row] = z[old]
				case known != nil:
					out[row] = known(g, r)
				}
			}
		}
		return out
	}
	out.S, out.Z = rows(pt.S, nil), rows(pt.Z, multiplier)
	return out
}
