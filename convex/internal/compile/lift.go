package compile

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
)

// Derived returns a program with copies of the groups, which visit may replace by others. Every new group says where it
// comes from. Sparse variables become ordinary ones.
func (p *Program) Derived(visit func(d *Program, g *Group) []*Group) *Program {
	d := &Program{
		Vars: slices.Clone(p.Vars), Users: p.Users, Params: p.Params, Objective: p.Objective, Squares: p.Squares,
		Refs: map[*Constraint][]dualRef{}, weights: p.weights,
	}
	head := make(map[*Group]*Group, len(p.Groups)) // the group with the multipliers that constraints refer to
	for _, g := range p.Groups {
		list := visit(d, g)
		head[g] = list[0]
		d.Groups = append(d.Groups, list...)
	}
	for c, refs := range p.Refs {
		list := slices.Clone(refs)
		for k := range list {
			list[k].G = head[list[k].G]
		}
		d.Refs[c] = list
	}
	for _, c := range p.Curves {
		c.Cone = head[c.Cone]
		d.Curves = append(d.Curves, c)
	}
	return d
}

// Finish orders the groups of a derived program.
func (p *Program) Finish() *Program {
	p.order()
	p.SparseOf = slices.Repeat([]int{-1}, len(p.Vars))
	return p
}

// auxiliary adds a variable.
func (p *Program) auxiliary(name string, n int) *affine.Variable {
	v := &affine.Variable{ID: len(p.Vars), Name: name, N: n}
	p.Vars = append(p.Vars, v)
	return v
}

// Copied is the group with nothing changed.
func (g *Group) Copied() *Group {
	return &Group{Kind: g.Kind, Expr: g.Expr, shape: g.shape, From: g}
}

// Lift returns the program with semidefinite matrices in the place of nuclear
// norms: |X|_* <= h, with X of m x n, holds if and only if there are symmetric W1 and W2 with
//
//	(tr W1 + tr W2) / 2 <= h,   [W1 X; X' W2] positive semidefinite
//
// (Fazel, Hindi, Boyd 2001). With multipliers g of the first and Z of the second, Z = [g/2 I, Y/2; Y'/2, g/2 I] where
// (g, Y) are those of (h, X) in the nuclear norm cone. Each entry of W1 and W2 is a row of the semidefinite matrix by
// itself.
//
// With restricted, the norms of whole variables, which working sets restrict, stay. Otherwise squares on their entries
// get residuals of their own.
func (p *Program) Lift(restricted bool) *Program {
	matrices := make([]*MatrixVariable, len(p.Matrices))
	for k, mv := range p.Matrices {
		matrices[k] = &MatrixVariable{V: mv.V, Rows: mv.Rows, Cols: mv.Cols}
	}
	d := p.Derived(func(d *Program, g *Group) []*Group {
		use, k := p.Restricted(g)
		switch {
		case g.Kind != backends.NuclearNormCone:
			return []*Group{g.Copied()}
		case use != nil && restricted:
			own := g.Copied()
			matrices[k].Uses = append(matrices[k].Uses, nuclearUse{G: own, Scale: use.Scale})
			return []*Group{own}
		}
		m := g.shape.Cols
		n := (g.Expr.N - 1) / m
		w1 := d.auxiliary("W1 of a nuclear norm", m*(m+1)/2).Expr()
		w2 := d.auxiliary("W2 of a nuclear norm", n*(n+1)/2).Expr()
		trace1, trace2 := make([]float64, w1.N), make([]float64, w2.N)
		for j, k := 0, 0; j < m; k, j = k+m-j, j+1 {
			trace1[k] = .5
		}
		for j, k := 0, 0; j < n; k, j = k+n-j, j+1 {
			trace2[k] = .5
		}
		head := &Group{Kind: backends.NonnegativeCone, From: g,
			Expr: g.Expr.At(0).Minus(w1.Dot(trace1)).Minus(w2.Dot(trace2))}
		// The lower triangle by columns: what is below the diagonal in column j of W1, then column j of X'.
		x := g.Expr.Slice(1, g.Expr.N).Times(math.Sqrt2)
		var parts []affine.Expr
		for j, k := 0, 0; j < m; k, j = k+m-j, j+1 {
			parts = append(parts, w1.Slice(k, k+m-j), x.Slice(j*n, (j+1)*n))
		}
		return []*Group{head, {Kind: backends.PSDCone, Expr: affine.Stack(append(parts, w2)...)}}
	})
	if restricted {
		d.Matrices = matrices
	} else {
		p.residuals(d)
	}
	return d.Finish()
}

// MatrixOf says that the variable is that of a nuclear norm.
func (p *Program) MatrixOf(v *affine.Variable) bool {
	return slices.ContainsFunc(p.Matrices, func(mv *MatrixVariable) bool { return mv.V == v })
}

// residuals replaces squares in which matrices stand by squares of new variables e with a - e = 0, so that nothing
// quadratic stands on the semidefinite matrices.
func (p *Program) residuals(d *Program) {
	d.Squares = slices.Clone(p.Squares)
	for i := range d.Squares {
		q := &d.Squares[i]
		touched := slices.ContainsFunc(q.Arg.Vars, func(t affine.Term) bool { return p.MatrixOf(t.V) })
		if !touched || q.Arg.Whole() {
			continue
		}
		q.Arg = d.Residual(q.Arg)
	}
}

// Residual adds a variable e with a - e = 0, and returns it.
func (p *Program) Residual(a affine.Expr) affine.Expr {
	e := p.auxiliary("residuals", a.N).Expr()
	p.Groups = append(p.Groups, &Group{Kind: backends.ZeroCone, Expr: a.Minus(e)})
	return e
}
