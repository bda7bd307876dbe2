package singular

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// fullPoint is a primal-dual point of a program with all its entries, and what is
// known about it. It is measured without ever building the matrix A.
type fullPoint struct {
	l       *compile.Layout
	at      affine.Values
	x, s, z []float64
	q, px   []float64 // zero for a certificate of infeasibility
	dual    []float64 // Px + q + A'z

	// parts are what is known in the matrix variables, in the order of Program.matrices.
	parts []matrixPart

	residuals       backends.Residuals
	objective, dobj float64 // without the constant
}

// matrixPart is what a restricted program says about a matrix variable.
type matrixPart struct {
	t        triplets  // X
	gradient []float64 // G by rows, of the Lagrangian without the nuclear norm
	g        float64   // the multiplier of |X|_*
	over     float64   // the share of |G|_2 above g
	missed   float64   // the largest entry of G - Y, which no multiplier removes
	violated float64   // what |X|_* exceeds its bound by
}

// of returns the part of a vector of columns that belongs to a variable.
func (f *fullPoint) of(x []float64, v *affine.Variable) []float64 {
	return x[f.l.Start[v.ID] : f.l.Start[v.ID]+v.N]
}

// in is of for one vector.
func (f *fullPoint) in(x []float64) func(*affine.Variable) []float64 {
	return func(v *affine.Variable) []float64 { return f.of(x, v) }
}

// rows returns the part of a vector of rows that belongs to a group.
func (f *fullPoint) rows(z []float64, g *compile.Group) []float64 {
	return z[f.l.First[g.Index] : f.l.First[g.Index]+g.Expr.N]
}

// stationarity computes q, Px and their sum with A'z, without an objective only A'z.
func (f *fullPoint) stationarity(p *compile.Program, objective bool) {
	f.q, f.px = make([]float64, f.l.N), make([]float64, f.l.N)
	if objective {
		p.Objective.Adjoint(1, []float64{1}, f.at, f.in(f.q))
		for i := range p.Squares {
			f.square(&p.Squares[i])
		}
	}
	f.dual = slices.Clone(f.q)
	floats.Add(f.dual, f.px)
	for _, g := range p.Groups {
		g.Expr.Adjoint(-1, f.rows(f.z, g), f.at, f.in(f.dual)) // s = b - Ax = expr
	}
}

// square adds a square to q and Px.
func (f *fullPoint) square(sq *compile.Square) {
	w, v := 2*sq.Weight(f.at), make([]float64, sq.Arg.N)
	sq.Arg.Adjoint(w, sq.Arg.Constant(f.at), f.at, f.in(f.q))
	sq.Arg.Forward(v, f.at, f.in(f.x))
	sq.Arg.Adjoint(w, v, f.at, f.in(f.px))
}

// measure computes the residuals. Those of nuclear norms whose matrices are restricted are known: their matrices A and
// multipliers are never built, so that the point cannot go through [backends.Recheck].
func (f *fullPoint) measure(p *compile.Program) {
	var t backends.Tally
	for _, g := range p.Groups {
		ax := make([]float64, g.Expr.N)
		g.Expr.Forward(ax, f.at, f.in(f.x))
		floats.Scale(-1, ax)
		s, z := f.rows(f.s, g), f.rows(f.z, g)
		t.Rows(g.Expr.Constant(f.at), ax, s, z)
		if use, k := p.Restricted(g); use != nil {
			t.Outside(f.parts[k].violated, -z[0])
		} else {
			t.Cone(g.Cone(g.Expr.N), s, z)
		}
	}
	atz := make([]float64, f.l.N)
	floats.SubTo(atz, f.dual, f.q)
	floats.Sub(atz, f.px)
	t.Columns(f.q, f.px, atz, f.x)
	f.residuals, f.objective, f.dobj = t.Residuals()
	offset, _ := p.Offset(f.at)
	f.residuals.Gap = backends.RelativeGap(f.objective+offset, f.dobj+offset)
}
