package exchange

import (
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/activeset"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// build reads the program at the first call, and says whether it is of the form that is needed.
func (e *Engine) build() bool {
	if !e.built {
		e.built, e.fits = true, e.read()
	}
	return e.fits
}

func (e *Engine) read() bool {
	p, users := e.p, e.Users
	as := p.NewLayout(nil).Assemble()
	hingeOf := make(map[int]int) // by column of u
	for _, h := range p.Kinks {
		for i := range h.U.N {
			hingeOf[as.Start[h.U.ID]+i] = len(e.hinges)
			e.hinges = append(e.hinges, hingePlace{as.Start[h.U.ID] + i, as.First[h.Zero.Index] + i, as.First[h.Slope.Index] + i})
		}
	}
	if users+len(e.hinges) != as.N {
		return false // other auxiliary variables
	}
	for j := range as.N {
		if k := as.PPtr[j]; as.PPtr[j+1] > k+1 || as.PPtr[j+1] == k+1 && (as.PInd[k] != j || j >= users) {
			return false // the quadratic term is not diagonal
		}
	}
	rows := byRows(as)
	own := make(map[int]bool)
	for _, h := range e.hinges {
		own[h.zero], own[h.slope] = true, true
		e.problem.Hinges = append(e.problem.Hinges, activeset.Hinge{Row: e.row(rows[h.slope], users, source{h.slope, 1, 0}, 1)})
	}
	for _, g := range p.Groups {
		first := as.First[g.Index]
		switch {
		case g.Kind == backends.NonnegativeCone:
			for r := first; r < first+g.Expr.N; r++ {
				if own[r] {
					continue
				}
				if !e.limit(r, rows[r], hingeOf) {
					return false
				}
			}
		case g.Squared > 0:
			if !e.ball(rows, first, g, users) {
				return false
			}
		case g.Expr.N > 0:
			return false
		}
	}
	e.in = compile.NewNumbers(as)
	e.problem.D, e.problem.Q = make([]float64, users), make([]float64, users)
	e.problem.Val, e.problem.Right = make([]float64, len(e.val)), make([]float64, len(e.right))
	e.solver = activeset.NewSolver(&e.problem)
	return true
}

// limit adds row r of an inequality, in which hinges may stand that are in no other one.
func (e *Engine) limit(r int, entries []rowEntry, hingeOf map[int]int) bool {
	l := activeset.Limit{Row: e.row(entries, e.Users, source{r, 1, 0}, 1)}
	var uses []int
	for _, en := range entries {
		if en.column < e.Users {
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
func byRows(as *compile.Assembled) [][]rowEntry {
	rows := make([][]rowEntry, as.M)
	for j := range as.N {
		for k := as.Ptr[j]; k < as.Ptr[j+1]; k++ {
			rows[as.Ind[k]] = append(rows[as.Ind[k]], rowEntry{j, k})
		}
	}
	return rows
}

// row adds a row of the user's columns and returns its number.
func (e *Engine) row(entries []rowEntry, users int, right source, scale float64) int {
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
func (e *Engine) ball(rows [][]rowEntry, first int, g *compile.Group, users int) bool {
	b := ballPlace{first: first, rows: g.Expr.N, c: g.Squared}
	var q activeset.Ball
	for r := first; r < first+g.Expr.N; r++ {
		for _, en := range rows[r] {
			if en.column >= users || r > first+1 && len(rows[r]) != 1 {
				return false
			}
		}
		if r < first+2 {
			continue
		}
		if g.Expr.C != nil && g.Expr.C[r-first] != 0 || slices.ContainsFunc(g.Expr.Pars, func(t affine.Term) bool { return t.Off+t.Height() > 2 }) || len(rows[r]) != 1 {
			return false
		}
		q.Index, q.Kappa = append(q.Index, rows[r][0].column), append(q.Kappa, 0)
		b.kappa = append(b.kappa, rows[r][0].at)
	}
	q.Row = e.row(rows[first], users, source{first, 2, -g.Squared}, 2)
	e.problem.Balls, e.balls = append(e.problem.Balls, q), append(e.balls, b)
	return true
}
