package exchange

import (
	"cmp"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
	"github.com/conetune/conetune/internal/activeset"
)

// entry is coef, times entry at of w where there is one, in a column.
type entry struct {
	column, at int
	w          *affine.Parameter
	coef       float64
}

// join appends a row of entries, times scale, to numbers, and returns their columns; entries of one column are added up.
func join(to *compile.Parametric, row []entry, scale float64) (columns []int) {
	for k, en := range row {
		if k == 0 || en.column != row[k-1].column {
			to.Append()
			columns = append(columns, en.column)
		}
		to.Put(to.Len()-1, en.w, en.at, scale*en.coef)
	}
	return columns
}

// build reads the program at the first call, and says whether it is of the form that is needed.
func (e *Engine) build() bool {
	if !e.built {
		e.built, e.fits = true, e.read()
	}
	return e.fits
}

// read makes the problem of the program's groups: each is one of the two of a hinge, of limits, or a ball.
func (e *Engine) read() bool {
	p, l := e.p, e.p.NewLayout(nil)
	if e.Users+e.kinks != l.N {
		return false // other auxiliary variables
	}
	for i := range p.Squares {
		if slices.ContainsFunc(p.Squares[i].Arg.Vars, func(t affine.Term) bool { return t.V.ID >= p.Users }) {
			return false
		}
	}
	e.problem.Ptr = []int{0}
	own := make(map[*compile.Group]bool)
	for _, h := range p.Kinks {
		own[h.Zero], own[h.Slope] = true, true
		for i, row := range e.entries(l, h.Slope) {
			e.hinges = append(e.hinges, hingePlace{l.Start[h.U.ID] + i, l.First[h.Zero.Index] + i, l.First[h.Slope.Index] + i})
			e.problem.Hinges = append(e.problem.Hinges, activeset.Hinge{Row: e.row(row, source{l.First[h.Slope.Index] + i, 1, 0})})
		}
	}
	first := make([]int, len(p.Groups)) // limit of each group
	for i, g := range p.Groups {
		first[i] = len(e.limits)
		switch {
		case own[g]:
		case g.Kind == backends.NonnegativeCone:
			for r, row := range e.entries(l, g) {
				e.limits = append(e.limits, l.First[i]+r)
				e.problem.Limits = append(e.problem.Limits, activeset.Limit{Row: e.row(row, source{l.First[i] + r, 1, 0})})
			}
		case g.Squared > 0:
			if !e.ball(l, g) {
				return false
			}
		case g.Expr.N > 0:
			return false
		}
	}
	if !e.use(first) {
		return false
	}
	e.in = compile.NewNumbers(l.Assemble())
	e.problem.D, e.problem.Q = make([]float64, e.Users), make([]float64, e.Users)
	e.problem.Val, e.problem.Right = make([]float64, e.val.Len()), make([]float64, len(e.right))
	e.solver = activeset.NewSolver(&e.problem)
	return true
}

// entries lists the rows of a group, s = b - A x, in the user's columns, which increase.
func (e *Engine) entries(l *compile.Layout, g *compile.Group) [][]entry {
	rows := make([][]entry, g.Expr.N)
	for _, t := range g.Expr.Vars {
		if t.V.ID >= e.p.Users {
			continue
		}
		t.EachEntry(func(r, j int, v float64) {
			if row := t.Row(r); v != 0 {
				rows[row] = append(rows[row], entry{l.Start[t.V.ID] + j, t.Windex(r), t.W, -v})
			}
		})
	}
	for _, row := range rows {
		slices.SortStableFunc(row, func(a, b entry) int { return cmp.Compare(a.column, b.column) })
	}
	return rows
}

// row adds a row, scaled as its right side is, and returns its number.
func (e *Engine) row(row []entry, right source) int {
	e.problem.Ind = append(e.problem.Ind, join(&e.val, row, right.scale)...)
	e.problem.Ptr = append(e.problem.Ptr, len(e.problem.Ind))
	e.right = append(e.right, right)
	return len(e.right) - 1
}

// use puts the hinges into the limits, given the first one of each group. A hinge may stand in one limit.
func (e *Engine) use(first []int) bool {
	hinge := 0
	for _, h := range e.p.Kinks {
		used := make([]bool, h.U.N)
		for _, u := range h.Uses {
			for i, w := range u.Weight {
				if u.Group < 0 || w == 0 {
					continue
				}
				if used[i] {
					return false
				}
				used[i] = true
				limit := &e.problem.Limits[first[u.Group]+u.Row]
				limit.Uses = append(limit.Uses, activeset.Use{Hinge: hinge + i, Weight: w})
			}
		}
		hinge += h.U.N
	}
	return true
}

// ball adds the sum of squares behind a cone: with s0 = (h + c)/2 = b0 - A0 x, h = 2 b0 - c - 2 A0 x, and each other
// square is of a single entry.
func (e *Engine) ball(l *compile.Layout, g *compile.Group) bool {
	late := func(t affine.Term) bool { return t.Off+t.Height() > 2 }
	if slices.ContainsFunc(g.Expr.Vars, func(t affine.Term) bool { return t.V.ID >= e.p.Users }) || slices.ContainsFunc(g.Expr.Pars, late) {
		return false
	}
	rows := e.entries(l, g)
	b := ballPlace{first: l.First[g.Index], rows: g.Expr.N, c: g.Squared}
	var q activeset.Ball
	for r := 2; r < g.Expr.N; r++ {
		if g.Expr.C != nil && g.Expr.C[r] != 0 {
			return false
		}
		columns := join(&b.a, rows[r], 1)
		if len(columns) != 1 {
			return false
		}
		q.Index = append(q.Index, columns[0])
	}
	q.Kappa = make([]float64, len(q.Index))
	q.Row = e.row(rows[0], source{b.first, 2, -g.Squared})
	e.problem.Balls, e.balls = append(e.problem.Balls, q), append(e.balls, b)
	return true
}
