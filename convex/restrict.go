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

// restrictTo returns the program in which the variable of every matrix is the C of its
// pairs. Constants of the objective are not kept.
func (p *Program) restrictTo(all []*pairs) *Program {
	small := make(map[*Variable]*Variable)
	space := make(map[*Variable]*pairs)
	own := make(map[*group]*pairs)
	scale := make(map[*group]float64)
	for _, s := range all {
		v := s.mv.v
		small[v] = &Variable{m: v.m, id: v.id, name: v.name, n: s.length()}
		space[v] = s
		for _, use := range s.mv.uses {
			own[use.g], scale[use.g] = s, use.scale
		}
	}
	rewrite := func(a Affine) Affine {
		out := a
		out.vars = make([]term, 0, len(a.vars))
		for k := range a.vars {
			t := &a.vars[k]
			switch s := space[t.v]; {
			case s == nil:
				out.vars = append(out.vars, *t)
			case small[t.v].n > 0:
				out.vars = append(out.vars, s.term(t, small[t.v]))
			}
		}
		return out
	}
	d := p.derived(func(_ *Program, g *group) []*group {
		s := own[g]
		if s == nil {
			c := g.copied()
			c.expr = rewrite(g.expr)
			return []*group{c}
		}
		// |scale| tr C <= h
		c := &group{kind: backends.NonnegativeCone, from: g, expr: rewrite(g.expr.At(0))}
		if s.size() > 0 {
			c.expr = c.expr.Minus(small[s.mv.v].Expr().Dot(s.trace(math.Abs(scale[g]))))
		}
		return []*group{c}
	})
	for _, s := range all {
		c := small[s.mv.v]
		d.vars[c.id] = c
		if c.n > 0 {
			cone := &group{kind: backends.NonnegativeCone, expr: c.Expr()}
			if s.face {
				cone.kind = backends.PSDCone
			}
			d.groups = append(d.groups, cone)
		}
	}
	d.objective = rewrite(p.objective)
	d.squares = nil
	for i := range p.squares {
		q := p.squares[i]
		touched := slices.IndexFunc(q.arg.vars, func(t term) bool { return space[t.v] != nil })
		switch {
		case touched < 0:
		case wholeVariable(q.arg):
			t, s := q.arg.vars[0], space[q.arg.vars[0].v]
			c := small[t.v]
			q.arg = c.Expr().Scale(t.scale)
			if c.n > 0 {
				q.arg.c = s.along(p.squares[i].arg.constant())
			}
		default:
			e := d.auxiliary(q.arg.m, "residuals", q.arg.n)
			d.groups = append(d.groups, &group{kind: backends.ZeroCone, expr: rewrite(q.arg).Minus(e.Expr())})
			q.arg = e.Expr()
		}
		d.squares = append(d.squares, q)
	}
	return d.finish()
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
