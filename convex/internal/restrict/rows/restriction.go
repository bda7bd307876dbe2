package rows

import (
	"slices"

	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// restriction is a restricted program in the making.
type restriction struct {
	p, q *compile.Program
	expr map[int]affine.Expr // of the groups that change; -1 is the objective
}

// reduce returns the restricted program. Its variables and groups have the places of those of p.
func reduce(p *compile.Program, hinges []hingeSet, slack []rowSet) *compile.Program {
	q := *p
	q.Vars, q.Groups = slices.Clone(p.Vars), slices.Clone(p.Groups)
	r := &restriction{p, &q, make(map[int]affine.Expr)}
	for k, h := range p.Hinges {
		r.hinge(h, &hinges[k])
	}
	for k, g := range p.Slack {
		r.leaveOut(g, slack[k].kept)
	}
	for i, a := range r.expr {
		r.put(i, a)
	}
	q.Boxes = nil
	for _, pair := range p.Boxes {
		q.Boxes = append(q.Boxes, [2]*compile.Group{q.Groups[pair[0].Index], q.Groups[pair[1].Index]})
	}
	return &q
}

// at is the expression of a group, or of the objective, so far.
func (r *restriction) at(i int) affine.Expr {
	if a, ok := r.expr[i]; ok {
		return a
	}
	if i < 0 {
		return r.p.Objective
	}
	return r.p.Groups[i].Expr
}

// hinge replaces the variable of a hinge by that of the rows that are kept, and the others by zero or numbers.
func (r *restriction) hinge(h *compile.Hinge, rows *hingeSet) {
	u := &affine.Variable{ID: h.U.ID, Name: h.U.Name, N: len(rows.kept)}
	r.q.Vars[u.ID] = u
	r.expr[h.Zero.Index] = u.Expr()
	r.expr[h.Slope.Index] = full(u.Expr().Minus(h.A.Pick(rows.kept)))
	kept := mask(rows.kept, h.U.N)
	for _, use := range h.Uses {
		own, others := make([]float64, len(rows.kept)), make([]float64, h.U.N)
		for j, i := range rows.kept {
			own[j] = use.Weight[i]
		}
		for i, w := range use.Weight {
			if rows.linear[i] && !kept[i] {
				others[i] = w
			}
		}
		sum := u.Expr().Dot(own).Plus(full(h.A.Dot(others)))
		if use.Group >= 0 {
			sum = sum.Neg()
		}
		rest := r.at(use.Group)
		rest.Vars = slices.DeleteFunc(slices.Clone(rest.Vars), func(t affine.Term) bool { return t.V == h.U && t.Off == use.Row })
		r.expr[use.Group] = rest.Plus(affine.Stack(affine.Expr{N: use.Row}, sum, affine.Expr{N: rest.N - use.Row - 1}))
	}
}

// leaveOut leaves out the rows of a group of inequalities that are not kept.
func (r *restriction) leaveOut(whole *compile.Group, kept []int) {
	g := *whole
	g.Expr, g.Kept, g.Place = r.at(g.Index).Pick(kept), kept, make([]int, whole.Expr.N)
	for i := range g.Place {
		g.Place[i] = -1
	}
	for j, i := range kept {
		g.Place[i] = j
	}
	r.q.Groups[g.Index] = &g
}

// put sets the expression of a group or of the objective.
func (r *restriction) put(i int, a affine.Expr) {
	if i < 0 {
		r.q.Objective = a
		return
	}
	g := *r.q.Groups[i]
	if g.Kept == nil {
		g.Expr = a
	}
	slices.SortStableFunc(g.Expr.Vars, func(a, b affine.Term) int { return a.Off - b.Off })
	g.Overlap = compile.Overlapping(g.Expr.Vars)
	r.q.Groups[i] = &g
}

// full marks the dense matrices of an expression as patterns without zeros: other rows in their place
// then give the same pattern, and what was analysed for it holds.
func full(a affine.Expr) affine.Expr {
	a.Vars = slices.Clone(a.Vars)
	for k := range a.Vars {
		if m := a.Vars[k].Mat; m != nil && m.Dense != nil {
			a.Vars[k].Mat = &affine.Matrix{Rows: m.Rows, Cols: m.Cols, Dense: m.Dense, Stride: m.Stride, Full: true}
		}
	}
	return a
}
