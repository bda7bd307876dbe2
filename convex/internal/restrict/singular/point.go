package singular

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/compile"
	"github.com/conetune/conetune/convex/internal/solve"
)

// complete extends the solution of the restricted program to the full one: X = sum_a c_a u_a v_a',
// and the multiplier Y of X in the nuclear norm cone from the gradient G of
// the rest of the Lagrangian in X. Stationarity asks for Y = G, the cone for |Y|_2 <= g.
func (w *Sets) complete(sol *backends.Solution) *fullPoint {
	f := w.expand(sol, true)
	f.measure(w.p)
	return f
}

// expand fills a point in, from a solution or, without objective, from a certificate of infeasibility.
func (w *Sets) expand(sol *backends.Solution, objective bool) *fullPoint {
	f := &fullPoint{l: w.full, at: w.s.State.Values, x: make([]float64, w.full.N), s: make([]float64, w.full.M),
		z: make([]float64, w.full.M), parts: make([]matrixPart, len(w.pairs))}
	w.carry(f, sol)
	for k := range w.pairs {
		w.slack(f, k)
	}
	f.stationarity(w.p, objective)
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

// slack fills in the rows (h, scale X) of the norms of matrix k, and what these exceed their bounds by.
func (w *Sets) slack(f *fullPoint, k int) {
	s, part := w.pairs[k], &f.parts[k]
	for _, use := range s.mv.Uses {
		z := f.rows(f.z, use.G)
		z[0] = max(0, z[0])
		part.g += math.Abs(use.Scale) * z[0]
		head := use.G.Expr.At(0)
		h := head.Constant(f.at)
		head.Forward(h, f.at, f.in(f.x))
		slack := f.rows(f.s, use.G)
		slack[0] = h[0]
		floats.AddScaled(slack[1:], use.Scale, f.of(f.x, s.mv.V))
		part.violated = max(part.violated, math.Abs(use.Scale)*floats.Sum(part.t.s)-h[0])
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
		Objective: sol.Objective + offset, DualObjective: sol.DualObjective + offset,
		Residuals: sol.Residuals, Radius: sol.Radius, Message: sol.Message,
		Assembled: &compile.Assembled{Layout: w.full}, Values: w.s.State.Values.Copy(nil),
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
