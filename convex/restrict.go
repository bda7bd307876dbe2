package convex

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
)

// atoms are the directions in which a matrix variable may move in a restricted
// program: X = U C V' with orthonormal columns u_a and v_a of U (m x k) and V (n x k). By default C
// is diagonal with nonnegative entries; with face it is symmetric and positive semidefinite, so that X
// runs through a face of the ball of the nuclear norm. In both cases
//
//	|X|_* = tr C,   |X - A|^2 = |C - (U'AV + V'A'U)/2|^2 + constant
//
// (in the first one with the diagonal of the second C). C is a vector of its entries on and
// below the diagonal, column by column, those below times sqrt 2; without face it is its diagonal.
type atoms struct {
	mv   *matrixVariable
	u, v *mat.Dense // nil where there are none
	face bool
}

// size is the number k of atoms.
func (s *atoms) size() int {
	if s.u == nil {
		return 0
	}
	_, k := s.u.Dims()
	return k
}

// length is the number of unknowns in C.
func (s *atoms) length() int {
	if k := s.size(); s.face {
		return k * (k + 1) / 2
	}
	return s.size()
}

// below is the number of unknowns in column b of C.
func (s *atoms) below(b int) int {
	if s.face {
		return s.size() - b
	}
	return 1
}

// trace returns the coefficients of f tr C.
func (s *atoms) trace(f float64) []float64 {
	out := make([]float64, s.length())
	for b, at := 0, 0; b < s.size(); at, b = at+s.below(b), b+1 {
		out[at] = f
	}
	return out
}

// along returns the C that is nearest to U'AV, for A by rows, without the bound on its eigenvalues.
func (s *atoms) along(a []float64) []float64 {
	out := make([]float64, 0, s.length())
	k := s.size()
	if k == 0 {
		return out
	}
	var av, c mat.Dense
	av.Mul(mat.NewDense(s.mv.rows, s.mv.cols, a), s.v)
	c.Mul(s.u.T(), &av)
	for b := range k {
		for a := b; a < b+s.below(b); a++ {
			if a == b {
				out = append(out, c.At(a, a))
			} else {
				out = append(out, (c.At(a, b)+c.At(b, a))/math.Sqrt2)
			}
		}
	}
	return out
}

// diagonalize returns the atoms turned so that C is diagonal, with its diagonal.
func (s *atoms) diagonalize(c []float64) triplets {
	k := s.size()
	if !s.face || k == 0 {
		return triplets{slices.Clone(c), s.u, s.v}
	}
	full := mat.NewSymDense(k, nil)
	for b, at := 0, 0; b < k; b++ {
		for a := b; a < k; a, at = a+1, at+1 {
			if a == b {
				full.SetSym(a, a, c[at])
			} else {
				full.SetSym(a, b, c[at]/math.Sqrt2)
			}
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(full, true) {
		return triplets{make([]float64, k), s.u, s.v}
	}
	var q, u, v mat.Dense
	eig.VectorsTo(&q)
	u.Mul(s.u, &q)
	v.Mul(s.v, &q)
	return triplets{eig.Values(nil), &u, &v}
}

// matrix returns the sum of the triplets by rows.
func (t triplets) matrix(rows, cols int) []float64 {
	if len(t.s) == 0 {
		return make([]float64, rows*cols)
	}
	var x mat.Dense
	uc := mat.DenseCopyOf(t.u)
	scaleColumns(uc, func(a int) float64 { return t.s[a] })
	x.Mul(uc, t.v.T())
	return x.RawMatrix().Data
}

// addEntry adds f times the coefficients of C in entry e of X to row.
func (s *atoms) addEntry(row []float64, f float64, e int) {
	ui, vj := s.u.RawRowView(e/s.mv.cols), s.v.RawRowView(e%s.mv.cols)
	if !s.face {
		for a, x := range ui {
			row[a] += f * x * vj[a]
		}
		return
	}
	at := 0
	for b := range ui {
		row[at] += f * ui[b] * vj[b]
		at++
		for a := b + 1; a < len(ui); a, at = a+1, at+1 {
			row[at] += f * (ui[a]*vj[b] + ui[b]*vj[a]) / math.Sqrt2
		}
	}
}

// term rewrites a term in X as one in c.
func (s *atoms) term(t *term, c *Variable) term {
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
// atoms. Constants of the objective are not kept.
func (p *Program) restrictTo(all []*atoms) *Program {
	small := make(map[*Variable]*Variable)
	space := make(map[*Variable]*atoms)
	own := make(map[*group]*atoms)
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
		c := &group{kind: backends.NonnegativeCone, from: g, part: headRow, expr: rewrite(g.expr.At(0))}
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
