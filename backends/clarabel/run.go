//go:build clarabel && cgo

package clarabel

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/scaling"
	cclarabel "github.com/conetune/conetune/internal/cgo/clarabel"
)

const (
	// A tolerance is tightened to this part of what would just have been enough, and to no less than
	// smallestFactor of itself: the residuals of Clarabel and ours differ by a factor, which the terms that
	// each divides by explain. Residuals are bounded by the rounding of terms near one, the gap is not where
	// both objectives are small.
	tightenFraction = 0.3
	smallestFactor  = 1e-4
	smallestEps     = 1e-13
	smallestGap     = 1e-20
)

// run is one call of Solve, which may take several runs of Clarabel.
type run struct {
	*solver
	begin      time.Time
	limit      time.Duration // of the options, or until the deadline of the context; 0 for none
	iterations int
	judge      *backends.Judge
	// best is the point that is the least times worse than the tolerance.
	best   *backends.Solution
	excess float64
	// lost is what is said where there is no point.
	lost backends.Solution
	// tighter divides the tolerances.
	tighter, tighterInfeasible float64
	// tried counts the ways of the list of ways that were taken.
	tried int
}

// ways are what a retry changes after Clarabel gave up, one after the other. Each is for a cause that
// was seen: a decomposition whose completed multipliers lose digits, an equilibration that makes small numbers smaller, and steps so near to the boundary
// that the next one is short. The regularisation is a bound on the accuracy of the directions.
var ways = []func(set *Settings){
	func(set *Settings) { set.NoChordal = true },
	func(set *Settings) { set.MaxStep, set.Refinements, set.StaticRegularization = 0.9, 50, 1e-10 },
	func(set *Settings) { set.NoEquilibration = true },
	func(set *Settings) { set.MaxStep, set.StaticRegularization, set.LinearSolver = 0.7, 1e-7, "qdldl" },
}

// solve calls Clarabel until its answer passes on the caller's data, a limit is reached, or there is
// nothing left to try.
func (r *run) solve(ctx context.Context) (*backends.Solution, error) {
	interrupt := new(cclarabel.Interrupt)
	defer context.AfterFunc(ctx, func() {
		if _, timed := ctx.Deadline(); !timed || backends.EndedBy(ctx) == backends.Cancelled {
			interrupt.Raise() // a deadline is a limit, which leaves a point
		}
	})()
	r.excess, r.tighter, r.tighterInfeasible = math.Inf(1), 1, 1
	r.lost = backends.Solution{Status: backends.NumericalError}
	if r.clarabel == nil {
		if err := r.setup(r.settings); err != nil {
			return nil, err
		}
	}
	for retries := r.settings.retries(); ; retries-- {
		out, then, err := r.once(ctx, interrupt)
		if err != nil {
			return nil, err
		}
		if then == finished || retries == 0 || !r.prepare(then) {
			return out, nil
		}
		switch {
		case interrupt.Raised():
			return &backends.Solution{Status: backends.Cancelled}, nil
		case r.limit > 0 && time.Since(r.begin) >= r.limit:
			return r.at(backends.TimeLimit), nil
		case r.options.MaxIterations > 0 && r.iterations >= r.options.MaxIterations:
			return r.at(backends.IterationLimit), nil
		}
	}
}

// next says how a run goes on after Clarabel.
type next int

const (
	finished next = iota
	tighten       // solved, but not as accurately as the caller asked for
	doubt         // a certificate does not hold on the caller's data
	change        // Clarabel gave up
)

// prepare makes the solver ready for another run, and returns false if there is nothing left to try.
func (r *run) prepare(then next) bool {
	switch then {
	case tighten:
		if factor := max(smallestFactor, tightenFraction/r.excess); r.tighter > smallestGap/r.options.Eps && factor < 1 {
			r.tighter = max(r.tighter*factor, smallestGap/r.options.Eps)
			return true
		}
	case doubt:
		if r.tighterInfeasible > smallestFactor {
			r.tighterInfeasible *= 1e-2
			return true
		}
	}
	if r.updated {
		return r.setup(r.with) == nil // with a scaling of its own
	}
	for r.tried < len(ways) {
		set := r.with
		ways[r.tried](&set)
		r.tried++
		if set != r.with && !(set.NoChordal && !r.with.NoChordal && r.clarabel != nil && r.clarabel.Updatable()) && r.setup(set) == nil {
			return true
		}
	}
	return false
}

// once runs Clarabel once.
func (r *run) once(ctx context.Context, interrupt *cclarabel.Interrupt) (*backends.Solution, next, error) {
	if r.clarabel == nil {
		if err := r.setup(r.with); err != nil {
			return nil, finished, err
		}
	}
	set := mirror(r.options, r.with)
	set.TolFeas = max(set.TolFeas*r.tighter, min(set.TolFeas, smallestEps))
	set.TolGapAbs, set.TolGapRel = set.TolGapAbs*r.tighter, set.TolGapRel*r.tighter
	set.TolInfeasRel *= r.tighterInfeasible
	bounded := r.options.MaxIterations > 0
	if bounded {
		set.MaxIter = uint32(min(r.options.MaxIterations-r.iterations, math.MaxInt32))
	}
	limit := time.Duration(0)
	if r.limit > 0 {
		limit = max(r.limit-time.Since(r.begin), time.Nanosecond)
	}
	if err := r.clarabel.Set(&set); err != nil {
		return nil, finished, err
	}
	n := len(r.data.Q)
	point := &cclarabel.Solution{X: make([]float64, n), S: make([]float64, len(r.form.rows)), Z: make([]float64, len(r.form.rows))}
	info, err := r.clarabel.Solve(point, interrupt, limit)
	if err != nil { // numbers on which it should not have gone on
		r.drop()
		r.lost.Message = err.Error()
		return r.at(backends.Inaccurate), change, nil
	}
	r.iterations += info.Iterations
	if r.options.Logger != nil {
		r.options.Logger.DebugContext(ctx, "clarabel", "status", info.Status.String(), "iterations", info.Iterations, "eps", set.TolFeas,
			"primal", info.ResPrimal, "dual", info.ResDual, "gap", info.GapRel, "mu", info.Mu)
	}
	out, then := r.outcome(ctx, &info, point, bounded && info.Iterations >= int(set.MaxIter))
	return out, then, nil
}

// at returns the best point with a status, or no point.
func (r *run) at(status backends.Status) *backends.Solution {
	if r.best == nil {
		out := r.lost
		if status != backends.Inaccurate {
			out.Status = status
		}
		return &out
	}
	r.best.Status = status
	return r.best
}

// outcome maps what Clarabel says.
func (r *run) outcome(ctx context.Context, info *cclarabel.Info, point *cclarabel.Solution, spent bool) (*backends.Solution, next) {
	switch info.Status {
	case cclarabel.PrimalInfeasible, cclarabel.AlmostPrimalInfeasible:
		return r.certificate(r.form.dual(point.Z), backends.PrimalInfeasible, info.Status == cclarabel.PrimalInfeasible)
	case cclarabel.DualInfeasible, cclarabel.AlmostDualInfeasible:
		return r.certificate(slices.Clone(point.X), backends.DualInfeasible, info.Status == cclarabel.DualInfeasible)
	}
	if info.Interrupted {
		if status := backends.EndedBy(ctx); status != backends.Cancelled {
			return r.at(status), finished
		}
		return &backends.Solution{Status: backends.Cancelled}, finished
	}
	r.keep(point)
	switch {
	case r.excess <= 1:
		return r.at(backends.Optimal), finished
	case info.TimedOut:
		return r.at(backends.TimeLimit), finished
	case spent:
		return r.at(backends.IterationLimit), finished
	case info.Status == cclarabel.Solved:
		return r.at(backends.Inaccurate), tighten
	}
	r.lost.Message = "Clarabel says " + info.Status.String()
	if r.best != nil {
		r.best.Message = r.lost.Message
	}
	return r.at(backends.Inaccurate), change
}

// keep looks at the point on the caller's data and keeps it if it is the best.
func (r *run) keep(point *cclarabel.Solution) {
	out := &backends.Solution{X: slices.Clone(point.X), S: r.form.slack(point.S, r.data, point.X), Z: r.form.dual(point.Z)}
	r.scale.Unscale(out.X, out.S, out.Z)
	if !finite(out.X, out.S, out.Z) {
		return
	}
	if excess := r.judge.Excess(out.X, out.S, out.Z, r.options.Eps); r.best == nil || excess < r.excess {
		r.best, r.excess = out, excess
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

// certificate returns a certificate that holds, as it is or without its rounding.
func (r *run) certificate(v []float64, claim backends.Status, sure bool) (*backends.Solution, next) {
	out := &backends.Solution{Status: claim}
	for _, v := range [][]float64{scaling.Clean(v), v} {
		var residual float64
		var err error
		if claim == backends.PrimalInfeasible {
			r.scale.Unscale(nil, nil, v)
			v, residual, err = r.judge.ProvePrimalInfeasible(v, r.options.EpsInfeasible)
			out.Z = v
		} else {
			r.scale.Unscale(v, nil, nil)
			v, residual, err = r.judge.ProveDualInfeasible(v, r.options.EpsInfeasible)
			out.X = v
		}
		if err == nil && residual <= r.options.EpsInfeasible {
			return out, finished
		}
	}
	r.lost.Message = "a certificate of " + claim.String() + " does not hold"
	if !sure {
		return r.at(backends.Inaccurate), change
	}
	return r.at(backends.Inaccurate), doubt
}
