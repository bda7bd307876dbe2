//go:build highs && cgo

package highs

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	chighs "github.com/conetune/conetune/internal/cgo/highs"
)

// run is one call of Solve, which may take several runs of HiGHS.
type run struct {
	*solver
	begin      time.Time
	limit      time.Duration // of the options, or until the deadline of the context; 0 for none
	iterations int
	judge      *backends.Judge
	set        attempt
	// best is the point that is the least times worse than the tolerance.
	best   *backends.Solution
	excess float64
	// tried counts the ways that were taken, of those for quadratic programs or for linear ones.
	tried     int
	quadratic bool
	proved    bool // certificates of a quadratic program have been looked for
	message   string
}

// next says how a run goes on after HiGHS.
type next int

const (
	finished next = iota
	change        // HiGHS gave up, or its answer does not hold
)

// solve calls HiGHS until its answer passes on the caller's data, a limit is reached, or there is nothing left to try.
func (r *run) solve(ctx context.Context) (*backends.Solution, error) {
	interrupt := new(chighs.Interrupt)
	defer context.AfterFunc(ctx, func() {
		if _, timed := ctx.Deadline(); !timed || backends.EndedBy(ctx) == backends.Cancelled {
			interrupt.Raise() // a deadline is a limit, which leaves a point
		}
	})()
	r.excess = math.Inf(1)
	if r.highs == nil {
		if err := r.setup(); err != nil {
			return nil, err
		}
	}
	r.quadratic = r.solver.quadratic()
	r.set = attempt{Settings: mirror(r.options, r.settings, r.quadratic)}
	if err := r.start(); err != nil {
		return nil, err
	}
	for retries := r.settings.retries(); ; retries-- {
		out, then, err := r.once(ctx, interrupt)
		if err != nil || then == finished {
			return out, err
		}
		switch {
		case interrupt.Raised():
			return &backends.Solution{Status: backends.Cancelled}, nil
		case r.limit > 0 && time.Since(r.begin) >= r.limit:
			return r.at(backends.TimeLimit), nil
		case r.options.MaxIterations > 0 && r.iterations >= r.options.MaxIterations:
			return r.at(backends.IterationLimit), nil
		case retries == 0 || !r.prepare():
			return out, nil
		}
	}
}

// start gives HiGHS the basis of WarmStart, or none.
func (r *run) start() error {
	point := r.warm
	r.warm = nil
	if err := r.highs.Forget(); err != nil || point == nil || r.quadratic {
		return err
	}
	warm := *point
	basis := r.lastBasis
	if r.last == nil || !slices.Equal(warm.X, r.last.X) || !slices.Equal(warm.Z, r.last.Z) {
		basis = r.form.basis(r.data, r.scale.Scale(warm))
	}
	if r.highs.Start(basis) != nil {
		return r.highs.Forget() // what is no basis is no start
	}
	return nil
}

// once runs HiGHS once.
func (r *run) once(ctx context.Context, interrupt *chighs.Interrupt) (*backends.Solution, next, error) {
	set := r.set.Settings
	if r.options.MaxIterations > 0 {
		set.Iterations = min(r.options.MaxIterations-r.iterations, math.MaxInt32)
	}
	limit := time.Duration(0)
	if r.limit > 0 {
		limit = max(r.limit-time.Since(r.begin), time.Nanosecond)
	}
	n, m := r.data.Dims()
	point := chighs.NewSolution(n, m)
	info, err := r.call(&set, point, interrupt, limit)
	if err != nil { // numbers on which it should not have gone on
		r.drop()
		r.message = err.Error()
		return r.at(backends.Inaccurate), change, nil
	}
	r.iterations += info.Iterations
	if r.options.Logger != nil {
		r.options.Logger.DebugContext(ctx, "highs", "status", info.Status.String(), "iterations", info.Iterations,
			"presolve", set.Presolve, "method", set.Method, "tolerance", set.PrimalTolerance, "polish", r.set.polish)
	}
	out, then := r.outcome(ctx, &info, point, interrupt)
	return out, then, nil
}

// at returns the best point with a status, or no point.
func (r *run) at(status backends.Status) *backends.Solution {
	if r.best == nil {
		if status == backends.Inaccurate {
			status = backends.NumericalError
		}
		return &backends.Solution{Status: status, Message: r.message}
	}
	r.best.Status, r.best.Message = status, r.message
	return r.best
}

// outcome maps what HiGHS says.
func (r *run) outcome(ctx context.Context, info *chighs.Info, point *chighs.Solution, interrupt *chighs.Interrupt) (*backends.Solution, next) {
	n, m := r.data.Dims()
	if interrupt.Raised() {
		if status := backends.EndedBy(ctx); status != backends.Cancelled {
			return r.at(status), finished
		}
		return &backends.Solution{Status: backends.Cancelled}, finished
	}
	if info.DualRay {
		if out := r.certificate(point.Ray[:m], backends.PrimalInfeasible); out != nil {
			return out, finished
		}
	}
	if info.PrimalRay {
		if out := r.certificate(point.Ray[:n], backends.DualInfeasible); out != nil {
			return out, finished
		}
	}
	r.message = "HiGHS says " + info.Status.String()
	if info.HasPoint && info.Status != chighs.Infeasible {
		r.keep(point, info)
	}
	return r.verdict(info, interrupt)
}

// verdict says what a run without a certificate comes to.
func (r *run) verdict(info *chighs.Info, interrupt *chighs.Interrupt) (*backends.Solution, next) {
	switch {
	case r.excess <= 1:
		r.message = ""
		return r.at(backends.Optimal), finished
	case info.Status == chighs.TimeLimit:
		return r.at(backends.TimeLimit), finished
	case info.Status == chighs.IterationLimit && r.options.MaxIterations > 0 && r.iterations >= r.options.MaxIterations:
		return r.at(backends.IterationLimit), finished
	case r.quadratic && !r.proved:
		if out := r.prove(info, interrupt); out != nil {
			return out, finished
		}
	}
	return r.at(backends.Inaccurate), change
}

// keep looks at the point on the caller's data and keeps it if it is the best.
func (r *run) keep(point *chighs.Solution, info *chighs.Info) {
	out := &backends.Solution{X: slices.Clone(point.X), S: r.form.slack(r.data, point.X), Z: negated(point.Y)}
	r.scale.Unscale(out.X, out.S, out.Z)
	if !finite(out.X, out.S, out.Z) {
		return
	}
	if excess := r.judge.Excess(out.X, out.S, out.Z, r.options.Eps); r.best == nil || excess < r.excess {
		r.best, r.excess, r.last = out, excess, nil
		if info.HasBasis {
			r.last, r.lastBasis = &backends.Point{X: slices.Clone(out.X), Z: slices.Clone(out.Z)}, point.Basis
		}
	}
}

// finite says whether all numbers are.
func finite(parts ...[]float64) bool {
	for _, v := range parts {
		for _, x := range v {
			if math.IsNaN(x - x) {
				return false
			}
		}
	}
	return true
}
