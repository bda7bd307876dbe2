package convex

import (
	"slices"

	"github.com/conetune/conetune/backends"
)

// Working sets of rows. Of a sum of hinges max(0, a_i) few rows are at the kink a_i = 0 in a solution: on either side
// of it a hinge is linear, and its epigraph u_i >= 0, u_i >= a_i is not needed. Nor is an
// inequality that is slack. The restricted program has
//
//	u_i = 0    where a_i < 0 is expected,
//	u_i = a_i  where a_i > 0 is expected,
//	no row     where slack is expected,
//
// each without a variable or rows of its own: the sum of the a_i of the second kind is one row of numbers. It
// is a relaxation. Its solution is completed to the full program by u_i = max(0, a_i), by multipliers that are
// 0 for slack rows, and by those of u_i >= 0 and u_i >= a_i that add up to the weight h_i of u_i in the Lagrangian: (h_i, 0) where
// u_i was 0, and (0, h_i) where it was a_i. Then the dual equations of the full program hold as those of the restricted one do,
// and all that is wrong with the point is primal: where a_i has another sign than expected, u_i is larger than its
// stand-in by |a_i|, which is missing in the rows and in the objective where u_i stands, and a row that is left out
// may not hold. These numbers are the test.

// hinge is an epigraph u >= max(0, a).
type hinge struct {
	u           *Variable
	a           Affine
	zero, slope *group // the rows u >= 0 and u - a >= 0
	uses        []hingeUse
}

// hingeUse is a place where the entries of u are summed, with weights that are not negative: u stands in row
// row of a group with minus the weights, or in the objective with the weights.
type hingeUse struct {
	group, row int // group is -1 for the objective
	weight     []float64
}

// smallestGroup is the number of rows from which on working sets of rows pay.
const smallestGroup = 24

// noteHinge records the epigraph u >= max(0, arg) whose rows start at the given group.
func (c *compiler) noteHinge(a *atom, u *Variable, first int) {
	fixed := len(a.arg.pars) == 0 && !slices.ContainsFunc(a.arg.vars, func(t term) bool { return t.w != nil })
	if a.kind == posAtom && fixed {
		c.hinges = append(c.hinges, &hinge{u: u, a: a.arg, zero: c.groups[first], slope: c.groups[first+1]})
	}
}

// rowSets finds the hinges and the groups of inequalities that can have working sets of rows. With sparse variables
// there are none.
func (p *Program) rowSets() {
	if len(p.sparse) > 0 {
		p.hinges = nil
		return
	}
	own := map[*group]bool{} // by hinges
	p.kinks = slices.DeleteFunc(p.hinges, func(h *hinge) bool { return !p.findUses(h) })
	p.hinges = slices.DeleteFunc(slices.Clone(p.kinks), func(h *hinge) bool { return h.u.n < smallestGroup })
	for _, h := range p.hinges {
		own[h.zero], own[h.slope] = true, true
		for _, use := range h.uses {
			if use.group >= 0 {
				own[p.groups[use.group]] = true
			}
		}
	}
	if len(p.hinges) == 0 {
		return // without hinges slack rows are too few to matter
	}
	for _, g := range p.groups {
		if g.kind == backends.NonnegativeCone && g.expr.n >= smallestGroup && !own[g] && !bounds(g.expr) {
			p.slack = append(p.slack, g)
		}
	}
}

// bounds says that the rows have one variable entry each, so that solvers need no rows for them.
func bounds(a Affine) bool {
	return len(a.vars) == 1 && a.vars[0].mat == nil && !a.vars[0].sum
}

// findUses fills in the uses of a hinge and says whether they are of the kind that can be handled.
func (p *Program) findUses(h *hinge) bool {
	for i := range p.squares {
		if slices.ContainsFunc(p.squares[i].arg.vars, func(t term) bool { return t.v == h.u }) {
			return false
		}
	}
	use := func(group int, t *term, sign float64) bool {
		if t.mat != nil || t.w != nil || !t.sum && t.rows != 1 {
			return false
		}
		weight := make([]float64, h.u.n)
		for r := range t.rows {
			weight[t.entry(r)] += sign * t.fixed(r)
		}
		h.uses = append(h.uses, hingeUse{group: group, row: t.off, weight: weight})
		return !slices.ContainsFunc(weight, func(w float64) bool { return !(w >= 0) })
	}
	for i, g := range p.groups {
		for k := range g.expr.vars {
			t := &g.expr.vars[k]
			if t.v != h.u || g == h.zero || g == h.slope {
				continue
			}
			if g.kind != backends.NonnegativeCone || !use(i, t, -1) {
				return false
			}
		}
	}
	for k := range p.objective.vars {
		if t := &p.objective.vars[k]; t.v == h.u && !use(-1, t, 1) {
			return false
		}
	}
	return true
}

// restriction is a restricted program in the making.
type restriction struct {
	p, q *Program
	expr map[int]Affine // of the groups that change; -1 is the objective
}

// restrict returns the restricted program. Its variables and groups have the places of those of p.
func (p *Program) restrict(hinges []hingeSet, slack []rowSet) *Program {
	q := *p
	q.vars, q.groups = slices.Clone(p.vars), slices.Clone(p.groups)
	r := &restriction{p, &q, make(map[int]Affine)}
	for k, h := range p.hinges {
		r.hinge(h, &hinges[k])
	}
	for k, g := range p.slack {
		r.leaveOut(g, slack[k].kept)
	}
	for i, a := range r.expr {
		r.put(i, a)
	}
	q.boxes = nil
	for _, pair := range p.boxes {
		q.boxes = append(q.boxes, [2]*group{q.groups[pair[0].index], q.groups[pair[1].index]})
	}
	return &q
}

// at is the expression of a group, or of the objective, so far.
func (r *restriction) at(i int) Affine {
	if a, ok := r.expr[i]; ok {
		return a
	}
	if i < 0 {
		return r.p.objective
	}
	return r.p.groups[i].expr
}

// hinge replaces the variable of a hinge by that of the rows that are kept, and the others by zero or numbers.
func (r *restriction) hinge(h *hinge, rows *hingeSet) {
	u := &Variable{m: h.u.m, id: h.u.id, name: h.u.name, n: len(rows.kept)}
	r.q.vars[u.id] = u
	r.expr[h.zero.index] = u.Expr()
	r.expr[h.slope.index] = full(u.Expr().Minus(h.a.Pick(rows.kept)))
	kept := mask(rows.kept, h.u.n)
	for _, use := range h.uses {
		own, others := make([]float64, len(rows.kept)), make([]float64, h.u.n)
		for j, i := range rows.kept {
			own[j] = use.weight[i]
		}
		for i, w := range use.weight {
			if rows.linear[i] && !kept[i] {
				others[i] = w
			}
		}
		sum := u.Expr().Dot(own).Plus(full(h.a.Dot(others)))
		if use.group >= 0 {
			sum = sum.Neg()
		}
		rest := r.at(use.group)
		rest.vars = slices.DeleteFunc(slices.Clone(rest.vars), func(t term) bool { return t.v == h.u && t.off == use.row })
		r.expr[use.group] = rest.Plus(Stack(Affine{n: use.row}, sum, Affine{n: rest.n - use.row - 1}))
	}
}

// leaveOut leaves out the rows of a group of inequalities that are not kept.
func (r *restriction) leaveOut(whole *group, kept []int) {
	g := *whole
	g.expr, g.kept, g.place = r.at(g.index).Pick(kept), kept, make([]int, whole.expr.n)
	for i := range g.place {
		g.place[i] = -1
	}
	for j, i := range kept {
		g.place[i] = j
	}
	r.q.groups[g.index] = &g
}

// put sets the expression of a group or of the objective.
func (r *restriction) put(i int, a Affine) {
	if i < 0 {
		r.q.objective = a
		return
	}
	g := *r.q.groups[i]
	if g.kept == nil {
		g.expr = a
	}
	slices.SortStableFunc(g.expr.vars, func(a, b term) int { return a.off - b.off })
	g.overlap = overlapping(g.expr.vars)
	r.q.groups[i] = &g
}

// full marks the dense matrices of an expression as patterns without zeros: other rows in their place
// then give the same pattern, and what was analysed for it holds.
func full(a Affine) Affine {
	a.vars = slices.Clone(a.vars)
	for k := range a.vars {
		if m := a.vars[k].mat; m != nil && m.dense != nil {
			a.vars[k].mat = &matrix{rows: m.rows, cols: m.cols, dense: m.dense, stride: m.stride, full: true}
		}
	}
	return a
}
