package convex

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
)

// term rewrites a term in X as one in c.
func (s *pairs) term(t *term, c *Variable) term {
	out := *t
	out.v, out.idx, out.first = c, nil, 0
	if t.sum && t.w == nil { // one row, <F, X> with F the sum of its factors by entry
		f := make([]float64, t.v.n)
		one := make([]float64, t.off+1)
		one[t.off] = 1
		t.adjoint(f, 1, one)
		out.mat = &matrix{rows: 1, cols: c.n, dense: s.along(f), stride: c.n}
		out.rows, out.scale, out.coef, out.sum = 1, 1, nil, false
		return out
	}
	m := &matrix{rows: t.rows, cols: c.n, dense: make([]float64, t.rows*c.n), stride: c.n}
	out.mat = m
	switch {
	case t.mat == nil:
		for r := range t.rows {
			s.addEntry(m.row(r), 1, t.entry(r))
		}
	case t.mat.dense != nil:
		x := make([]float64, t.v.n)
		for r := range t.rows {
			clear(x)
			copy(x[t.first:], t.mat.row(r))
			copy(m.row(r), s.along(x))
		}
	default:
		for j := range t.mat.cols {
			for k := t.mat.ptr[j]; k < t.mat.ptr[j+1]; k++ {
				s.addEntry(m.row(t.mat.ind[k]), t.mat.val[k], t.first+j)
			}
		}
	}
	return out
}

// pairing is a program in the making in which the variable of every matrix is the C of its pairs.
type pairing struct {
	p, d  *Program
	space map[*Variable]*pairs
	small map[*Variable]*Variable // C
}

// restrictTo returns the program in which the variable of every matrix is the C of its
// pairs. Constants of the objective are not kept.
func (p *Program) restrictTo(all []*pairs) *Program {
	f := &pairing{p: p, space: make(map[*Variable]*pairs), small: make(map[*Variable]*Variable)}
	for _, s := range all {
		v := s.mv.v
		f.small[v] = &Variable{m: v.m, id: v.id, name: v.name, n: s.length()}
		f.space[v] = s
	}
	f.d = p.derived(func(_ *Program, g *group) []*group { return []*group{f.group(g)} })
	for _, s := range all {
		c := f.small[s.mv.v]
		f.d.vars[c.id] = c
		if c.n > 0 {
			cone := &group{kind: backends.NonnegativeCone, expr: c.Expr()}
			if s.face {
				cone.kind = backends.PSDCone
			}
			f.d.groups = append(f.d.groups, cone)
		}
	}
	f.d.objective = f.rewrite(p.objective)
	f.d.squares = nil
	for _, q := range p.squares {
		q.arg = f.square(q.arg)
		f.d.squares = append(f.d.squares, q)
	}
	return f.d.finish()
}

// rewrite puts C in the place of X.
func (f *pairing) rewrite(a Affine) Affine {
	out := a
	out.vars = make([]term, 0, len(a.vars))
	for k := range a.vars {
		t := &a.vars[k]
		switch s := f.space[t.v]; {
		case s == nil:
			out.vars = append(out.vars, *t)
		case f.small[t.v].n > 0:
			out.vars = append(out.vars, s.term(t, f.small[t.v]))
		}
	}
	return out
}

// group rewrites a group: |scale X|_* <= h becomes |scale| tr C <= h.
func (f *pairing) group(g *group) *group {
	use, k := f.p.restricted(g)
	if use == nil {
		c := g.copied()
		c.expr = f.rewrite(g.expr)
		return c
	}
	v := f.p.matrices[k].v
	c := &group{kind: backends.NonnegativeCone, from: g, expr: f.rewrite(g.expr.At(0))}
	if s := f.space[v]; s.size() > 0 {
		c.expr = c.expr.Minus(f.small[v].Expr().Dot(s.trace(math.Abs(use.scale))))
	}
	return c
}

// square rewrites the argument of a square: that of a whole X is one of C, and other ones with X get residuals.
func (f *pairing) square(arg Affine) Affine {
	touched := slices.ContainsFunc(arg.vars, func(t term) bool { return f.space[t.v] != nil })
	switch {
	case !touched:
		return arg
	case wholeVariable(arg):
		t := arg.vars[0]
		c := f.small[t.v]
		out := c.Expr().Scale(t.scale)
		if c.n > 0 {
			out.c = f.space[t.v].along(arg.constant())
		}
		return out
	}
	return f.d.residual(f.rewrite(arg))
}

// wholeVariable says that the expression is a multiple of a whole variable plus a
// constant or parameters.
func wholeVariable(a Affine) bool {
	return len(a.vars) == 1 && a.vars[0].identity() && a.vars[0].off == 0 && a.n == a.vars[0].rows
}

// scaleColumns multiplies column j by f(j).
func scaleColumns(x *mat.Dense, f func(j int) float64) {
	rows, cols := x.Dims()
	factors := make([]float64, cols)
	for j := range factors {
		factors[j] = f(j)
	}
	for i := range rows {
		floats.Mul(x.RawRowView(i), factors)
	}
}
