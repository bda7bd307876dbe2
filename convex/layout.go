package convex

import (
	"slices"

	"github.com/conetune/conetune/backends"
)

// layout places the columns and rows of a program for given working sets.
type layout struct {
	prog   *Program
	active []([]int) // for each sparse variable, its working set in increasing order; nil: all entries
	inv    []([]int) // for each sparse variable with a working set, the position of an entry in it, or -1

	start []int // first column of each variable
	n     int

	first []int   // first row of each group
	rowOf [][]int // for each group, the row of each of its rows, or -1 if dropped; nil: consecutive rows
	m     int
	cones []backends.Cone
}

// newLayout places the program with the given working sets; a nil slice, or a
// nil entry, stands for all entries.
func (p *Program) newLayout(active [][]int) *layout {
	l := &layout{prog: p, active: make([][]int, len(p.sparse)), inv: make([][]int, len(p.sparse))}
	for k := range active {
		if active[k] == nil {
			continue
		}
		l.active[k] = slices.Clone(active[k])
		l.inv[k] = make([]int, p.sparse[k].v.n)
		for j := range l.inv[k] {
			l.inv[k][j] = -1
		}
		for i, j := range active[k] {
			l.inv[k][j] = i
		}
	}
	l.start = make([]int, len(p.vars))
	for i, v := range p.vars {
		l.start[i] = l.n
		l.n += l.width(v)
	}
	l.first, l.rowOf = make([]int, len(p.groups)), make([][]int, len(p.groups))
	for i, g := range p.groups {
		l.first[i] = l.m
		rows := g.expr.n
		if g.dropOf != nil {
			rows = l.drop(g, i)
		}
		l.m += rows
		if last := len(l.cones) - 1; last >= 0 && orthant(g.kind) && l.cones[last].Kind == g.kind {
			l.cones[last].Dim += rows
		} else if rows > 0 {
			l.cones = append(l.cones, g.cone(rows))
		}
	}
	return l
}

// orthant says that cones of this kind side by side are one.
func orthant(k backends.ConeKind) bool {
	return k == backends.ZeroCone || k == backends.NonnegativeCone
}

// cone returns the cone of the group with the given number of rows left.
func (g *group) cone(rows int) backends.Cone {
	c := backends.Cone{Kind: g.kind, Dim: rows}
	if g.kind == backends.NuclearNormCone { // rows of X are columns of the cone's matrix
		c.Rows, c.Cols = (rows-1)/g.rows, g.rows
	}
	return c
}

// drop numbers the rows of group i that stay and returns their count.
func (l *layout) drop(g *group, i int) int {
	rowOf := make([]int, len(g.drop))
	rows := 0
	for r, of := range g.dropOf {
		if of >= 0 && l.inv[of] != nil && l.inv[of][g.drop[r]] < 0 {
			rowOf[r] = -1
			continue
		}
		rowOf[r] = l.m + rows
		rows++
	}
	if rows < len(g.drop) {
		l.rowOf[i] = rowOf
	}
	return rows
}

// set returns the working set of a variable, nil for all entries.
func (l *layout) set(v *Variable) (active, inv []int) {
	if k := l.prog.sparseOf[v.id]; k >= 0 {
		return l.active[k], l.inv[k]
	}
	return nil, nil
}

// width is the number of columns of a variable.
func (l *layout) width(v *Variable) int {
	if active, _ := l.set(v); active != nil {
		return len(active)
	}
	return v.n
}

// rows is the number of rows of group i that stay.
func (l *layout) rows(i int) int {
	if i+1 < len(l.first) {
		return l.first[i+1] - l.first[i]
	}
	return l.m - l.first[i]
}

// expand copies the columns x of a variable to its entries out; those outside
// the working set are left alone.
func (l *layout) expand(out []float64, v *Variable, x []float64) {
	active, _ := l.set(v)
	x = x[l.start[v.id]:]
	if active == nil {
		copy(out, x)
		return
	}
	for i, j := range active {
		out[j] = x[i]
	}
}

// groupRows returns the entries of z that belong to group i, one for each of its
// rows, zero for dropped ones. The result is a part of z or is in scratch.
func (l *layout) groupRows(i int, z, scratch []float64) []float64 {
	n := l.prog.groups[i].expr.n
	if l.rowOf[i] == nil {
		return z[l.first[i] : l.first[i]+n]
	}
	scratch = scratch[:n]
	for r, row := range l.rowOf[i] {
		scratch[r] = 0
		if row >= 0 {
			scratch[r] = z[row]
		}
	}
	return scratch
}

// row returns the row of row r of group i, -1 if dropped.
func (l *layout) row(i, r int) int {
	if l.rowOf[i] != nil {
		return l.rowOf[i][r]
	}
	return l.first[i] + r
}

// fullRow returns the row of row r of group i of the full program, -1 if it is left out.
func (l *layout) fullRow(i, r int) int {
	if g := l.prog.groups[i]; g.place != nil {
		if r = g.place[r]; r < 0 {
			return -1
		}
	}
	return l.row(i, r)
}

// size is the number of rows of the group of the full program.
func (g *group) size() int {
	if g.place != nil {
		return len(g.place)
	}
	return g.expr.n
}
