package convex

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
)

// derived returns a program with copies of the groups, which visit may replace by
// others. Every new group says where it comes from. Sparse variables become
// ordinary ones.
func (p *Program) derived(visit func(d *Program, g *group) []*group) *Program {
	d := &Program{
		vars: slices.Clone(p.vars), users: p.users, params: p.params, objective: p.objective, squares: p.squares,
		refs: map[*Constraint][]dualRef{}, weights: p.weights,
	}
	head := make(map[*group]*group, len(p.groups)) // the group with the multipliers that constraints refer to
	for _, g := range p.groups {
		list := visit(d, g)
		head[g] = list[0]
		d.groups = append(d.groups, list...)
	}
	for c, refs := range p.refs {
		list := slices.Clone(refs)
		for k := range list {
			list[k].g = head[list[k].g]
		}
		d.refs[c] = list
	}
	for _, c := range p.curves {
		c.cone, c.rows = head[c.cone], head[c.rows]
		d.curves = append(d.curves, c)
	}
	return d
}

// finish orders the groups of a derived program.
func (p *Program) finish() *Program {
	p.order()
	p.sparseOf = make([]int, len(p.vars))
	for i := range p.sparseOf {
		p.sparseOf[i] = -1
	}
	return p
}

// auxiliary adds a variable of a derived program.
func (p *Program) auxiliary(m *Model, name string, n int) *Variable {
	v := &Variable{m: m, id: len(p.vars), name: name, n: n}
	p.vars = append(p.vars, v)
	return v
}

// copied is the group with nothing changed.
func (g *group) copied() *group {
	return &group{kind: g.kind, expr: g.expr, rows: g.rows, from: g}
}

// lift returns the program with semidefinite matrices in the place of nuclear
// norms: |X|_* <= h, with X of m x n, holds if and only if there are symmetric W1 and W2 with
//
//	(tr W1 + tr W2) / 2 <= h,   [W1 X; X' W2] positive semidefinite
//
// (Fazel, Hindi, Boyd 2001). With multipliers g of the first and Z of the second,
// Z = [g/2 I, Y/2; Y'/2, g/2 I] where (g, Y) are those of (h, X) in the nuclear norm cone.
// Each entry of W1 and W2 is a row of the semidefinite matrix by itself.
//
// With restricted, the norms of whole variables, which working sets restrict, stay. Otherwise squares on their entries get
// residuals of their own.
func (p *Program) lift(restricted bool) *Program {
	matrices := make([]*matrixVariable, len(p.matrices))
	for k, mv := range p.matrices {
		matrices[k] = &matrixVariable{v: mv.v, rows: mv.rows, cols: mv.cols}
	}
	d := p.derived(func(d *Program, g *group) []*group {
		use, k := p.restricted(g)
		switch {
		case g.kind != backends.NuclearNormCone:
			return []*group{g.copied()}
		case use != nil && restricted:
			own := g.copied()
			matrices[k].uses = append(matrices[k].uses, nuclearUse{g: own, scale: use.scale})
			return []*group{own}
		}
		m := g.rows
		n := (g.expr.n - 1) / m
		model := g.expr.m
		w1 := d.auxiliary(model, "W1 of a nuclear norm", m*(m+1)/2).Expr()
		w2 := d.auxiliary(model, "W2 of a nuclear norm", n*(n+1)/2).Expr()
		trace1, trace2 := make([]float64, w1.n), make([]float64, w2.n)
		for j, k := 0, 0; j < m; k, j = k+m-j, j+1 {
			trace1[k] = .5
		}
		for j, k := 0, 0; j < n; k, j = k+n-j, j+1 {
			trace2[k] = .5
		}
		head := &group{kind: backends.NonnegativeCone, from: g,
			expr: g.expr.At(0).Minus(w1.Dot(trace1)).Minus(w2.Dot(trace2))}
		// The lower triangle by columns: what is below the diagonal in column j of
		// W1, then column j of X'.
		x := g.expr.Slice(1, g.expr.n).Scale(math.Sqrt2)
		var parts []Affine
		for j, k := 0, 0; j < m; k, j = k+m-j, j+1 {
			parts = append(parts, w1.Slice(k, k+m-j), x.Slice(j*n, (j+1)*n))
		}
		return []*group{head, {kind: backends.PSDCone, expr: Stack(append(parts, w2)...)}}
	})
	if restricted {
		d.matrices = matrices
	} else {
		p.residuals(d)
	}
	return d.finish()
}
