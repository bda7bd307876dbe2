package singular

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// term rewrites a term in X as one in c. A sum without weights is one row, <F, X> with F the sum of its factors by
// entry.
func (s *pairs) term(t *affine.Term, c *affine.Variable) affine.Term {
	out, sum := *t, t.Sum && t.W == nil
	if sum {
		out.Rows, out.Sum = 1, false
	}
	m := &affine.Matrix{Rows: out.Rows, Cols: c.N, Dense: make([]float64, out.Rows*c.N), Stride: c.N}
	t.EachEntry(func(r, e int, v float64) {
		if sum {
			r = 0
		}
		s.addEntry(m.Row(r), v, e)
	})
	out.V, out.Idx, out.First, out.Scale, out.Coef, out.Mat = c, nil, 0, 1, nil, m
	return out
}

// pairing is a program in the making in which the variable of every matrix is the c of its pairs.
type pairing struct {
	p, d  *compile.Program
	at    affine.Values
	space map[*affine.Variable]*pairs
	small map[*affine.Variable]*affine.Variable // c
}

// restrictTo returns the program in which the variable of every matrix is the c of its
// pairs. Constants of the objective are not kept.
func restrictTo(p *compile.Program, at affine.Values, all []*pairs) *compile.Program {
	f := &pairing{p: p, at: at, space: make(map[*affine.Variable]*pairs),
		small: make(map[*affine.Variable]*affine.Variable)}
	for _, s := range all {
		v := s.mv.V
		f.small[v] = &affine.Variable{ID: v.ID, Name: v.Name, N: s.size()}
		f.space[v] = s
	}
	f.d = p.Derived(func(_ *compile.Program, g *compile.Group) []*compile.Group { return []*compile.Group{f.group(g)} })
	for _, s := range all {
		c := f.small[s.mv.V]
		f.d.Vars[c.ID] = c
		if c.N > 0 {
			f.d.Groups = append(f.d.Groups, &compile.Group{Kind: backends.NonnegativeCone, Expr: c.Expr()})
		}
	}
	f.d.Objective = f.rewrite(p.Objective)
	f.d.Squares = nil
	for _, q := range p.Squares {
		q.Arg = f.square(q.Arg)
		f.d.Squares = append(f.d.Squares, q)
	}
	return f.d.Finish()
}

// rewrite puts c in the place of X.
func (f *pairing) rewrite(a affine.Expr) affine.Expr {
	out := a
	out.Vars = make([]affine.Term, 0, len(a.Vars))
	for _, t := range a.Vars {
		switch s := f.space[t.V]; {
		case s == nil:
			out.Vars = append(out.Vars, t)
		case f.small[t.V].N > 0:
			out.Vars = append(out.Vars, s.term(&t, f.small[t.V]))
		}
	}
	return out
}

// group rewrites a group: |scale X|_* <= h becomes |scale| sum_a c_a <= h.
func (f *pairing) group(g *compile.Group) *compile.Group {
	use, k := f.p.Restricted(g)
	if use == nil {
		c := g.Copied()
		c.Expr = f.rewrite(g.Expr)
		return c
	}
	v := f.p.Matrices[k].V
	c := &compile.Group{Kind: backends.NonnegativeCone, From: g, Expr: f.rewrite(g.Expr.At(0))}
	if s := f.space[v]; s.size() > 0 {
		c.Expr = c.Expr.Minus(f.small[v].Expr().Sum().Times(math.Abs(use.Scale)))
	}
	return c
}

// square rewrites the argument of a square: that of a whole X is one of c, and other ones with X get residuals.
func (f *pairing) square(arg affine.Expr) affine.Expr {
	touched := slices.ContainsFunc(arg.Vars, func(t affine.Term) bool { return f.space[t.V] != nil })
	switch {
	case !touched:
		return arg
	case arg.Whole():
		t := arg.Vars[0]
		c := f.small[t.V]
		out := c.Expr().Times(t.Scale)
		if c.N > 0 {
			out.C = f.space[t.V].along(arg.Constant(f.at))
		}
		return out
	}
	return f.d.Residual(f.rewrite(arg))
}
