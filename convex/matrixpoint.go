package convex

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
)

// start is a point of the restricted program near one of the full program.
func (w *matrixSets) start(f *fullPoint) backends.Point {
	pt := backends.Point{X: make([]float64, w.layout.n), S: make([]float64, w.layout.m), Z: make([]float64, w.layout.m)}
	for i, v := range w.p.vars {
		if w.small.vars[i] == v {
			copy(pt.X[w.layout.start[i]:], f.of(f.x, v))
		}
	}
	slope := make(map[*Variable][]float64)
	for k, s := range w.pairs {
		v := w.small.vars[s.mv.v.id]
		copy(pt.X[w.layout.start[v.id]:], s.along(f.of(f.x, s.mv.v)))
		slope[v] = s.along(f.parts[k].gradient)
		trace := s.trace(f.parts[k].g)
		floats.Add(slope[v], trace)
	}
	for i, g := range w.small.groups {
		s, z := pt.S[w.layout.first[i]:][:g.expr.n], pt.Z[w.layout.first[i]:][:g.expr.n]
		switch {
		case g.from != nil:
			copy(s, f.rows(f.s, g.from))
			copy(z, f.rows(f.z, g.from))
			if norm, own := f.norm(w.p, g.from); own {
				s[0] = max(0, s[0]-norm)
			}
		case len(g.expr.vars) == 1 && slope[g.expr.vars[0].v] != nil: // C in its cone
			v := g.expr.vars[0].v
			copy(s, pt.X[w.layout.start[v.id]:])
			copy(z, slope[v])
		}
	}
	return pt
}

// complete extends the solution of the restricted program to the full one: X = sum_a c_a u_a v_a',
// and the multiplier Y of X in the nuclear norm cone from the gradient G of
// the rest of the Lagrangian in X. Stationarity asks for Y = G, the cone for |Y|_2 <= g.
func (w *matrixSets) complete(sol *backends.Solution) *fullPoint {
	f := w.expand(sol, true)
	f.measure(w.p)
	return f
}

// expand fills a point in, from a solution or, without objective, from a certificate of infeasibility.
func (w *matrixSets) expand(sol *backends.Solution, objective bool) *fullPoint {
	f := &fullPoint{l: w.full, x: make([]float64, w.full.n), s: make([]float64, w.full.m), z: make([]float64, w.full.m), parts: make([]matrixPart, len(w.pairs))}
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

// carry copies what the small program has, and makes X of C.
func (w *matrixSets) carry(f *fullPoint, sol *backends.Solution) {
	if sol.X != nil {
		for i, v := range w.p.vars {
			if w.small.vars[i] == v {
				copy(f.of(f.x, v), sol.X[w.layout.start[i]:])
			}
		}
		for k, s := range w.pairs {
			t := s.diagonalize(sol.X[w.layout.start[s.mv.v.id]:][:s.length()])
			for a := range t.s {
				t.s[a] = max(0, t.s[a])
			}
			copy(f.of(f.x, s.mv.v), t.matrix(s.mv.rows, s.mv.cols))
			f.parts[k].t = t
		}
	}
	for i, g := range w.small.groups {
		if g.from == nil {
			continue
		}
		n := g.expr.n
		if sol.S != nil {
			copy(f.rows(f.s, g.from)[:n], sol.S[w.layout.first[i]:])
		}
		copy(f.rows(f.z, g.from)[:n], sol.Z[w.layout.first[i]:])
	}
}

// slack fills in the rows (h, scale X) of the norms of matrix k, and what these exceed their bounds by.
func (w *matrixSets) slack(f *fullPoint, k int) {
	s, part := w.pairs[k], &f.parts[k]
	for _, use := range s.mv.uses {
		z := f.rows(f.z, use.g)
		z[0] = max(0, z[0])
		part.g += math.Abs(use.scale) * z[0]
		head := use.g.expr.At(0)
		h := head.constant()
		head.forward(h, f.in(f.x))
		slack := f.rows(f.s, use.g)
		slack[0] = h[0]
		floats.AddScaled(slack[1:], use.scale, f.of(f.x, s.mv.v))
		part.violated = max(part.violated, math.Abs(use.scale)*floats.Sum(part.t.s)-h[0])
	}
}

// balance gives the norms of matrix k the multipliers that stationarity asks for, as far as the cone allows.
func (w *matrixSets) balance(f *fullPoint, k int) {
	s, part := w.pairs[k], &f.parts[k]
	left := f.of(f.dual, s.mv.v)
	part.gradient = slices.Clone(left)
	share := 1.0
	if bound := spectralBound(part.gradient, s.mv.rows, part.g); bound > part.g {
		share = part.g / bound
		part.over = 1 - share
	}
	for _, use := range s.mv.uses {
		if part.g > 0 {
			z := f.rows(f.z, use.g)
			floats.AddScaled(z[1:], math.Copysign(z[0]/part.g*share, use.scale), part.gradient)
		}
	}
	for j, v := range left {
		left[j] = (1 - share) * v
		part.missed = max(part.missed, math.Abs(left[j]))
	}
}

// result makes a result of a point, which may be nil.
func (w *matrixSets) result(f *fullPoint, sol *backends.Solution) *Result {
	offset := w.p.offset()
	r := &Result{
		Objective: sol.Objective + offset, DualObjective: sol.DualObjective + offset,
		Residuals: sol.Residuals, SetupTime: sol.SetupTime, SolveTime: sol.SolveTime, Message: sol.Message,
		as: &assembled{layout: w.full},
	}
	for _, s := range w.pairs {
		r.Active += s.size()
	}
	if f != nil {
		r.Objective, r.DualObjective, r.Residuals = f.objective+offset, f.dobj+offset, f.residuals
		r.x, r.s, r.z, r.dual = f.x, f.s, f.z, f.dual
		r.keepSquares(w.p)
	}
	return r
}
