package tune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
)

// earlyTol is the tolerance of [MethodVFiDCAT], which ends earlier than [MethodVFiDCA] on the same way (paper).
const earlyTol = 0.1

// checkInit accepts every model.
func (t *task) checkInit() error {
	if n := len(t.Config.Init); t.Config.Init != nil && (n == 0 || n > t.Program.Radii) {
		return fmt.Errorf("tune: init has %d radii, expected 1 to %d", n, t.Program.Radii)
	}
	return nil
}

// vfidca runs the value-function based difference-of-convex algorithm of package dca. It starts at the radii of the
// task's start, if there is one.
func (t *task) vfidca(ctx context.Context) (*Result, error) {
	if rungs := t.ladder(); rungs != nil {
		return t.climb(ctx, rungs)
	}
	if p, err := t.paths(ctx); p != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return t.searchPaths(ctx, p)
	}
	p, s := t.Program, t.settings()
	if t.tuner.name == MethodVFiDCAT && t.Config.Tol == 0 {
		s.Tol = earlyTol
	}
	if from := t.Start; from != nil {
		p.H0 = p.StartAt(from.Radii, from.Upper)
	}
	if init := t.Config.Init; init != nil {
		p.H0 = slices.Clone(p.H0)
		for j := range p.Radii {
			p.H0[j] = init[min(j, len(init)-1)]
		}
	}
	s.PathStart = s.PathStart && t.Start == nil && t.Config.Init == nil
	if err := t.solvers(ctx, &p); err != nil {
		return nil, err
	}
	t.watch(&s)
	r, err := dca.Solve(ctx, p, s)
	if err != nil {
		return nil, err
	}
	out := t.result()
	out.fill(t.Model, r, p.Radii)
	out.atEnds(r, &p)
	if err := t.common(ctx, out, r.StartWeights); err != nil {
		return nil, err
	}
	stats := r.Stats
	stats.Add(t.stats)
	out.count(stats)
	return out, nil
}

// atEnds says which hyperparameters are at an end of the ranges that a program without a path has for them.
func (out *Result) atEnds(r *dca.Result, p *dca.Program) {
	if r.Lo == nil || r.Refit == nil {
		return
	}
	near := func(v, end float64) bool { return !math.IsInf(end, 0) && math.Abs(v-end) <= endShare*math.Abs(end) }
	var zero, least, largest []string
	for j, v := range r.H {
		name := fmt.Sprintf("h%d", j+1)
		if j < len(out.Names) {
			name = out.Names[j]
		}
		switch {
		case j < p.Radii && v <= endFactor*r.Lo[j] && (p.Lo == nil || p.Lo[j] == 0):
			zero = append(zero, name)
		case near(v, r.Lo[j]):
			least = append(least, name)
		case near(v, r.Hi[j]):
			largest = append(largest, name)
		}
	}
	out.sayOf("the radii are at their floor, which holds the penalties at zero", zero)
	out.sayOf("at their least values", least)
	out.sayOf("at their largest values", largest)
}

// sayOf says something of hyperparameters, if there are any.
func (out *Result) sayOf(what string, names []string) {
	if len(names) > 0 {
		out.say(what + ": " + first(names))
	}
}

// endFactor times the floor of a radius, and the share endShare of another end, is what counts as there.
const endFactor, endShare = 10, 1e-3

// watch scores the iterates of a run and notes them in the trace.
func (t *task) watch(s *dca.Settings) {
	var iterate, solution problems.Errors // of the last point accepted
	if t.Config.Begin != nil {
		s.Begin = t.begin
	}
	s.Accept = func(x, refit [][]float64) bool {
		a, ok := t.score(x)
		b, fits := t.score(refit)
		if !ok || !fits {
			return false
		}
		iterate, solution = a, b
		return true
	}
	s.Observe = func(it *dca.Iteration, x, refit [][]float64) {
		e := Event{Method: t.tuner.name, Iteration: *it, Errors: iterate, iterates: true}
		if refit != nil {
			r := solution
			e.Refit = &r
			if t.Config.KeepFits {
				fit := t.Model.Fit(refit)
				e.Fit = &fit
			}
		}
		e.Elapsed = t.elapsed()
		t.add(e)
	}
}

// solvers gives a program a fit in the place of conic programs, where those would be at accuracies that it reaches.
func (t *task) solvers(ctx context.Context, p *dca.Program) error {
	if !t.Config.quick() || p.Radii+p.Bounds < len(p.H0) || t.Config.Eps != 0 && t.Config.Eps < directGap {
		return nil
	}
	fit, err := t.penalised(ctx)
	if fit == nil || err != nil {
		return err
	}
	if p.Bounds > 0 && fit.Traits().Parts == nil {
		return nil
	}
	p.Fit, p.FitTol = fit, gapOf(fit.Traits())
	return nil
}

// VFiDCA is [Run] with the method vf-idca.
func VFiDCA(ctx context.Context, m problems.Model, c Config) (*Result, error) {
	c.Method = MethodVFiDCA
	return Run(ctx, m, c)
}

// fill copies the outcome of the algorithm and scores it.
func (out *Result) fill(m problems.Model, r *dca.Result, radii int) {
	out.Status, out.Message = r.Status, r.Message
	out.Iterations = r.Iterations
	out.Radii = slices.Clone(r.H[:radii])
	out.Alpha = r.Alpha
	out.LeastNorm = r.LeastNorm
	if r.X == nil {
		out.Errors.Validation = math.NaN()
		if r.Status == outcome.NumericalError {
			out.Message = notFinite
		}
		return
	}
	out.Errors, out.Iterate = m.Evaluate(r.X), m.Fit(r.X)
	out.LowerGap = r.Gap
	if out.measured = r.Iterations > 0; out.measured {
		out.Stationarity = r.KKT.Stationarity()
	}
	if r.Refit == nil {
		return
	}
	e := m.Evaluate(r.Refit)
	out.Refit, out.RefitFit = &e, m.Fit(r.Refit)
	out.selected(Selection{Lambda: r.Lambda, Radii: out.Radii, Upper: slices.Clone(r.H[radii:]), X: r.Refit,
		Weighted: r.Weighted})
}
