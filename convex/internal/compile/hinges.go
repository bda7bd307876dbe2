package compile

import (
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
)

// Hinge is an epigraph u >= max(0, a).
type Hinge struct {
	U           *affine.Variable
	A           affine.Expr
	Zero, Slope *Group // the rows u >= 0 and u - a >= 0
	Uses        []hingeUse
}

// hingeUse is a place where the entries of u are summed, with weights that are not negative: u stands in row
// row of a group with minus the weights, or in the objective with the weights.
type hingeUse struct {
	Group, Row int // group is -1 for the objective
	Weight     []float64
}

// noteHinge records the epigraph u >= max(0, arg) whose rows start at the given group.
func (c *compiler) noteHinge(a *Atom, u *affine.Variable, first int) {
	if a.Kind == PosAtom && a.Arg.Fixed() && !a.Arg.Weighted() {
		c.Kinks = append(c.Kinks, &Hinge{U: u, A: a.Arg, Zero: c.Groups[first], Slope: c.Groups[first+1]})
	}
}

// findHinges keeps the hinges whose uses are of a kind that can be handled. With sparse variables there are none.
func (p *Program) findHinges() {
	if len(p.Sparse) > 0 {
		p.Kinks = nil
		return
	}
	p.Kinks = slices.DeleteFunc(p.Kinks, func(h *Hinge) bool { return !p.findUses(h) })
}

// findUses fills in the uses of a hinge and says whether they are of the kind that can be handled.
func (p *Program) findUses(h *Hinge) bool {
	for i := range p.Squares {
		if slices.ContainsFunc(p.Squares[i].Arg.Vars, func(t affine.Term) bool { return t.V == h.U }) {
			return false
		}
	}
	use := func(group int, t *affine.Term, sign float64) bool {
		if t.Mat != nil || t.W != nil || !t.Sum && t.Rows != 1 {
			return false
		}
		weight := make([]float64, h.U.N)
		for r := range t.Rows {
			weight[t.Entry(r)] += sign * t.Fixed(r)
		}
		h.Uses = append(h.Uses, hingeUse{Group: group, Row: t.Off, Weight: weight})
		return !slices.ContainsFunc(weight, func(w float64) bool { return !(w >= 0) })
	}
	for i, g := range p.Groups {
		for _, t := range g.Expr.Vars {
			if t.V != h.U || g == h.Zero || g == h.Slope {
				continue
			}
			if g.Kind != backends.NonnegativeCone || !use(i, &t, -1) {
				return false
			}
		}
	}
	for k := range p.Objective.Vars {
		if t := &p.Objective.Vars[k]; t.V == h.U && !use(-1, t, 1) {
			return false
		}
	}
	return true
}
