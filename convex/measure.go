package convex

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
)

// fullPoint is a primal-dual point of a program with all its entries, and what is
// known about it. It is measured without ever building the matrix A.
type fullPoint struct {
	l          *layout
	x, s, z    []float64
	grad, dual []float64 // Px + q and Px + q + A'z
	scale      float64   // the largest entry of q and Px, after measure also of A'z, at least 1

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
func (f *fullPoint) of(x []float64, v *Variable) []float64 {
	return x[f.l.start[v.id] : f.l.start[v.id]+v.n]
}

// rows returns the part of a vector of rows that belongs to a group.
func (f *fullPoint) rows(z []float64, g *group) []float64 {
	return z[f.l.first[g.index] : f.l.first[g.index]+g.expr.n]
}

// norm is |scale X|_* for the group (h, scale X) of a restricted matrix, and own says whether the group is one.
func (f *fullPoint) norm(p *Program, g *group) (norm float64, own bool) {
	use, k := p.restricted(g)
	if use == nil {
		return 0, false
	}
	return math.Abs(use.scale) * floats.Sum(f.parts[k].t.s), true
}

// stationarity computes grad and dual from x and z. Without an objective, for a
// certificate of infeasibility, they are 0 and A'z.
func (f *fullPoint) stationarity(p *Program, objective bool) {
	f.grad = make([]float64, f.l.n)
	xPx, qx := 0.0, 0.0
	if objective {
		one := []float64{1}
		for k := range p.objective.vars {
			t := &p.objective.vars[k]
			t.adjoint(f.of(f.grad, t.v), 1, one)
		}
		px := make([]float64, f.l.n)
		for i := range p.squares {
			f.square(p, i, f.grad, px)
		}
		for j, q := range f.grad {
			qx += q * f.x[j]
			xPx += px[j] * f.x[j]
			f.scale = max(f.scale, math.Abs(q), math.Abs(px[j]))
		}
		floats.Add(f.grad, px)
		f.objective = xPx/2 + qx
	}
	f.dobj = -xPx / 2
	f.dual = slices.Clone(f.grad)
	for _, g := range p.groups {
		z := f.rows(f.z, g)
		for k := range g.expr.vars {
			t := &g.expr.vars[k]
			t.adjoint(f.of(f.dual, t.v), -1, z) // s = b - Ax = expr
		}
		f.dobj -= floats.Dot(g.expr.constant(), z)
	}
}

// square adds the linear and the quadratic part of the gradient of square i.
func (f *fullPoint) square(p *Program, i int, q, px []float64) {
	sq := &p.squares[i]
	w, d := 2*sq.weight(), sq.arg.constant()
	for k := range sq.arg.vars {
		t := &sq.arg.vars[k]
		x, qv, pv := f.of(f.x, t.v), f.of(q, t.v), f.of(px, t.v)
		for r := range t.rows {
			j, c := t.entry(r), t.fixed(r)
			qv[j] += w * c * d[t.off+r]
			pv[j] += w * c * c * x[j]
		}
	}
}

// measure computes the residuals as package backends defines them. The
// violation of nuclear norms whose matrices are restricted is given.
func (f *fullPoint) measure(p *Program) {
	own := make(map[*group]float64)
	for k, mv := range p.matrices {
		for _, use := range mv.uses {
			own[use.g] = f.parts[k].violated
		}
	}
	var rp, rpScale, rd float64
	rdScale := f.scale
	for _, g := range p.groups {
		b := g.expr.constant()
		value := make([]float64, g.expr.n)
		for k := range g.expr.vars {
			t := &g.expr.vars[k]
			t.forward(value, f.of(f.x, t.v))
		}
		s, z := f.rows(f.s, g), f.rows(f.z, g)
		for r, ax := range value { // -Ax
			rp = max(rp, math.Abs(s[r]-b[r]-ax))
			rpScale = max(rpScale, math.Abs(b[r]), math.Abs(ax), math.Abs(s[r]))
		}
		if violation, ok := own[g]; ok {
			rp = max(rp, violation)
			rd = max(rd, -z[0])
			continue
		}
		cone := g.cone(g.expr.n)
		rp, rd = max(rp, cone.Distance(s)), max(rd, cone.DualDistance(z))
	}
	for j, r := range f.dual {
		rd = max(rd, math.Abs(r))
		rdScale = max(rdScale, math.Abs(r-f.grad[j]))
	}
	f.scale = max(1, rdScale)
	f.residuals = backends.Residuals{
		Primal: rp / max(1, rpScale), Dual: rd / f.scale,
		Gap: math.Abs(f.objective-f.dobj) / max(1, min(math.Abs(f.objective), math.Abs(f.dobj))),
	}
}
