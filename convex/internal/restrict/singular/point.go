package singular

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
	"github.com/conetune/conetune/convex/internal/solve"
)

// fullPoint is a primal-dual point of a program with all its entries, and what is known about it.
type fullPoint struct {
	l       *compile.Layout
	x, s, z []float64
	dual    []float64 // Px + q + A'z, of a certificate of infeasibility A'z

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
}

// of returns the part of a vector of columns that belongs to a variable.
func (f *fullPoint) of(x []float64, v *affine.Variable) []float64 {
	return x[f.l.Start[v.ID] : f.l.Start[v.ID]+v.N]
}

// rows returns the part of a vector of rows that belongs to a group.
func (f *fullPoint) rows(z []float64, g *compile.Group) []float64 {
	return z[f.l.First[g.Index] : f.l.First[g.Index]+g.Expr.N]
}

// complete extends the solution of the restricted program to the full one: X = sum_a c_a u_a v_a',
// and the multiplier Y of X in the nuclear norm cone from the gradient G of
// the rest of the Lagrangian in X. Stationarity asks for Y = G, the cone for |Y|_2 <= g.
func (w *Sets) complete(sol *backends.Solution) *fullPoint {
	problem := w.numbers.Problem()
	f := w.expand(sol, problem)
	f.residuals, f.objective, f.dobj = backends.Recheck(problem, f.x, f.s, f.z)
	offset, _ := w.p.Offset(w.s.State.Values)
	f.residuals.Gap = backends.RelativeGap(f.objective+offset, f.dobj+offset)
	return f
}

// expand fills a point of the full problem in from a solution.
func (w *Sets) expand(sol *backends.Solution, problem *backends.Problem) *fullPoint {
	l := w.numbers.Assembled.Layout
	f := &fullPoint{l: l, x: make([]float64, l.N), s: make([]float64, l.M), z: make([]float64, l.M),
		parts: make([]matrixPart, len(w.pairs))}
	w.carry(f, sol)
	for k := range w.pairs {
		w.slack(f, k)
	}
	f.dual, _ = backends.Stationarity(problem, f.x, f.z)
	for k := range w.pairs {
		w.balance(f, k)
	}
	return f
}

// carry copies what the small program has, and makes X of c.
func (w *Sets) carry(f *fullPoint, sol *backends.Solution) {
	if sol.X != nil {
		for i, v := range w.p.Vars {
			if w.small.Vars[i] == v {
				copy(f.of(f.x, v), sol.X[w.layout.Start[i]:])
			}
		}
		for k, s := range w.pairs {
			t := triplets{slices.Clone(sol.X[w.layout.Start[s.mv.V.ID]:][:s.size()]), s.u, s.v}
			for a := range t.s {
				t.s[a] = max(0, t.s[a])
			}
			copy(f.of(f.x, s.mv.V), t.matrix(s.mv.Rows, s.mv.Cols))
			f.parts[k].t = t
		}
	}
	for i, g := range w.small.Groups {
		if g.From == nil {
			continue
		}
		n := g.Expr.N
		if sol.S != nil {
			copy(f.rows(f.s, g.From)[:n], sol.S[w.layout.First[i]:])
		}
		copy(f.rows(f.z, g.From)[:n], sol.Z[w.layout.First[i]:])
	}
}

// slack fills in the rows (h, scale X) of the norms of matrix k.
func (w *Sets) slack(f *fullPoint, k int) {
	s, part := w.pairs[k], &f.parts[k]
	for _, use := range s.mv.Uses {
		z := f.rows(f.z, use.G)
		z[0] = max(0, z[0])
		part.g += math.Abs(use.Scale) * z[0]
		slack := f.rows(f.s, use.G)
		slack[0] = use.G.Expr.At(0).Eval(w.s.State.Values, func(v *affine.Variable) []float64 { return f.of(f.x, v) })[0]
		floats.AddScaled(slack[1:], use.Scale, f.of(f.x, s.mv.V))
	}
}

// balance gives the norms of matrix k the multipliers that stationarity asks for, as far as the cone allows.
func (w *Sets) balance(f *fullPoint, k int) {
	s, part := w.pairs[k], &f.parts[k]
	left := f.of(f.dual, s.mv.V)
	part.gradient = slices.Clone(left)
	share := 1.0
	if bound := spectralBound(part.gradient, s.mv.Rows); bound > part.g {
		share = part.g / bound
		part.over = 1 - share
	}
	for _, use := range s.mv.Uses {
		if part.g > 0 {
			z := f.rows(f.z, use.G)
			floats.AddScaled(z[1:], math.Copysign(z[0]/part.g*share, use.Scale), part.gradient)
		}
	}
	for j, v := range left {
		left[j] = (1 - share) * v
		part.missed = max(part.missed, math.Abs(left[j]))
	}
}

// result makes a result of a point, which may be nil.
func (w *Sets) result(f *fullPoint, sol *backends.Solution) *solve.Outcome {
	offset, _ := w.p.Offset(w.s.State.Values)
	r := &solve.Outcome{
		Solution: backends.Solution{Objective: sol.Objective + offset, DualObjective: sol.DualObjective + offset,
			Residuals: sol.Residuals, Radius: sol.Radius, Message: sol.Message},
		Layout: w.numbers.Assembled.Layout, Values: w.s.State.Values.Copy(nil),
	}
	for _, s := range w.pairs {
		r.Active += s.size()
	}
	if f != nil {
		r.Objective, r.DualObjective, r.Residuals = f.objective+offset, f.dobj+offset, f.residuals
		r.X, r.S, r.Z, r.Stationarity, r.Distance = f.x, f.s, f.z, f.dual, math.NaN()
	}
	return r
}
