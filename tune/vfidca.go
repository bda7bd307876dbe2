package tune

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
)

// Run selects the hyperparameters of m by the method of the configuration. The
// error is for a configuration, a model or a backend without meaning; limits and
// cancellation are in the status of the result, which then holds what was reached.
func Run(ctx context.Context, m Model, c Config) (*Result, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return VFiDCA(ctx, m, c)
}

// VFiDCA runs the value-function based difference-of-convex algorithm of package dca.
func VFiDCA(ctx context.Context, m Model, c Config) (*Result, error) {
	start := time.Now()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	backend, err := backends.Open(c.backend())
	if err != nil {
		return nil, err
	}
	if c.TimeLimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.TimeLimit)
		defer cancel()
	}
	p, s := m.Program(), c.settings(m)
	s.Backend = backend
	if c.Init != nil {
		if p.H0, err = spread(c.Init, p.Radii, p.H0); err != nil {
			return nil, err
		}
		s.PathStart = false
	}

	out := &Result{Model: m.Name(), Method: MethodVFiDCA, Backend: backend.Name(), Seed: c.Seed, Names: m.Names()}
	s.Observe = func(it *dca.Iteration, x, refit [][]float64) {
		e := Event{Iteration: *it, Errors: m.Evaluate(x)}
		if refit != nil {
			r := m.Evaluate(refit)
			e.Refit = &r
		}
		e.Elapsed = time.Since(start)
		out.Trace = append(out.Trace, e)
		if c.Progress != nil {
			c.Progress(e)
		}
	}
	r, err := dca.Solve(ctx, p, s)
	if err != nil {
		return nil, err
	}
	out.fill(m, r, p.Radii)
	out.TimeSeconds = time.Since(start).Seconds()
	return out, nil
}

// spread sets the first entries of h0, the radii, to init, whose last entry repeats.
func spread(init []float64, radii int, h0 []float64) ([]float64, error) {
	if len(init) == 0 || len(init) > radii {
		return nil, fmt.Errorf("tune: init has %d radii, expected 1 to %d", len(init), radii)
	}
	h := slices.Clone(h0)
	for j := range radii {
		h[j] = init[min(j, len(init)-1)]
	}
	return h, nil
}

// fill copies the outcome of the algorithm and scores it.
func (out *Result) fill(m Model, r *dca.Result, radii int) {
	out.Status, out.Message = r.Status, r.Message
	out.Iterations = r.Iterations
	out.Radii = slices.Clone(r.H[:radii])
	out.LowerGap, out.Stationarity, out.Alpha = r.Gap, r.KKT.Stationarity(), r.Alpha
	out.BackendSetups, out.BackendUpdates, out.SolverIterations = r.Stats.Setups, r.Stats.Updates, r.Stats.Iterations
	out.SetupSeconds = r.Stats.SetupTime.Seconds()
	out.LeastNorm = r.LeastNorm
	out.Errors, out.Iterate = m.Evaluate(r.X), m.Fit(r.X)
	if r.Refit == nil {
		return
	}
	e := m.Evaluate(r.Refit)
	out.Refit, out.RefitFit = &e, m.Fit(r.Refit)
	out.Lambda = r.Lambda
	out.Hyperparameters = make(map[string]float64, radii)
	for j, name := range out.Names {
		out.Hyperparameters[name] = r.Lambda[j]
	}
}
