package convex

import (
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/activeset"
)

// build reads the program at the first call, and says whether it is of the form that is needed.
func (e *exchanger) build() bool {
	if !e.built {
		e.built, e.fits = true, e.read()
	}
	return e.fits
}

func (e *exchanger) read() bool {
	p, users := e.p, e.users
	as := p.newLayout(nil).assemble()
	hingeOf := make(map[int]int) // by column of u
	for _, h := range p.kinks {
		for i := range h.u.n {
			hingeOf[as.start[h.u.id]+i] = len(e.hinges)
			e.hinges = append(e.hinges, hingePlace{as.start[h.u.id] + i, as.first[h.zero.index] + i, as.first[h.slope.index] + i})
		}
	}
	if users+len(e.hinges) != as.n {
		return false // other auxiliary variables
	}
	for j := range as.n {
		if k := as.pptr[j]; as.pptr[j+1] > k+1 || as.pptr[j+1] == k+1 && (as.pind[k] != j || j >= users) {
			return false // the quadratic term is not diagonal
		}
	}
	rows := as.byRows()
	own := make(map[int]bool)
	for _, h := range e.hinges {
		own[h.zero], own[h.slope] = true, true
		e.problem.Hinges = append(e.problem.Hinges, activeset.Hinge{Row: e.row(rows[h.slope], users, source{h.slope, 1, 0}, 1)})
	}
	for _, g := range p.groups {
		first := as.first[g.index]
		switch {
		case g.kind == backends.NonnegativeCone:
			for r := first; r < first+g.expr.n; r++ {
				if own[r] {
					continue
				}
				if !e.limit(r, rows[r], hingeOf) {
					return false
				}
			}
		case g.squared > 0:
			if !e.ball(rows, first, g, users) {
				return false
			}
		case g.expr.n > 0:
			return false
		}
	}
	e.in = newNumbers(as)
	e.problem.D, e.problem.Q = make([]float64, users), make([]float64, users)
	e.problem.Val, e.problem.Right = make([]float64, len(e.val)), make([]float64, len(e.right))
	e.solver = activeset.NewSolver(&e.problem)
	return true
}

// limit adds row r of an inequality, in which hinges may stand that are in no other one.
func (e *exchanger) limit(r int, entries []rowEntry, hingeOf map[int]int) bool {
	l := activeset.Limit{Row: e.row(entries, e.users, source{r, 1, 0}, 1)}
	var uses []int
	for _, en := range entries {
		if en.column < e.users {
			continue
		}
		hinge, unused := hingeOf[en.column]
		if !unused {
			return false
		}
		delete(hingeOf, en.column)
		l.Uses = append(l.Uses, activeset.Use{Hinge: hinge})
		uses = append(uses, en.at)
	}
	e.problem.Limits = append(e.problem.Limits, l)
	e.limits, e.uses = append(e.limits, r), append(e.uses, uses)
	return true
}

// rowEntry is an entry of A: its column, and its place among the entries.
type rowEntry struct{ column, at int }

// byRows lists the entries of A by rows.
func (as *assembled) byRows() [][]rowEntry {
	rows := make([][]rowEntry, as.m)
	for j := range as.n {
		for k := as.ptr[j]; k < as.ptr[j+1]; k++ {
			rows[as.ind[k]] = append(rows[as.ind[k]], rowEntry{j, k})
		}
	}
	return rows
}

// row adds a row of the user's columns and returns its number.
func (e *exchanger) row(entries []rowEntry, users int, right source, scale float64) int {
	if e.problem.Ptr == nil {
		e.problem.Ptr = []int{0}
	}
	for _, en := range entries {
		if en.column < users {
			e.problem.Ind = append(e.problem.Ind, en.column)
			e.val = append(e.val, int32(en.at))
		}
	}
	e.problem.Ptr = append(e.problem.Ptr, len(e.problem.Ind))
	e.right, e.scale = append(e.right, right), append(e.scale, scale)
	return len(e.right) - 1
}

// ball adds the sum of squares behind a cone: with s0 = (h + c)/2 = b0 - A0 x, h = 2 b0 - c - 2 A0 x, and each other
// square is of a single entry.
func (e *exchanger) ball(rows [][]rowEntry, first int, g *group, users int) bool {
	b := ballPlace{first: first, rows: g.expr.n, c: g.squared}
	var q activeset.Ball
	for r := first; r < first+g.expr.n; r++ {
		for _, en := range rows[r] {
			if en.column >= users || r > first+1 && len(rows[r]) != 1 {
				return false
			}
		}
		if r < first+2 {
			continue
		}
		if g.expr.c != nil && g.expr.c[r-first] != 0 || slices.ContainsFunc(g.expr.pars, func(t term) bool { return t.off+t.height() > 2 }) || len(rows[r]) != 1 {
			return false
		}
		q.Index, q.Kappa = append(q.Index, rows[r][0].column), append(q.Kappa, 0)
		b.kappa = append(b.kappa, rows[r][0].at)
	}
	q.Row = e.row(rows[first], users, source{first, 2, -g.squared}, 2)
	e.problem.Balls, e.balls = append(e.problem.Balls, q), append(e.balls, b)
	return true
}
