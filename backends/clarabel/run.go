//go:build clarabel && cgo

package clarabel

import (
	"context"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
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
	*adapter.Run
	then next // after the last run of Clarabel
	// tighter divides the tolerances.
	tighter, tighterInfeasible float64
	// tried counts the ways of the list of ways that were taken.
	tried int
}

// ways are what a retry changes after Clarabel gave up, one after the other. Each is for a cause that was seen: a
// decomposition whose completed multipliers lose digits, an equilibration that makes small numbers smaller, and steps
// so near to the boundary that the next one is short. The regularisation is a bound on the accuracy of the directions.
var ways = []func(set *Settings){
	func(set *Settings) { set.NoChordal = true },
	func(set *Settings) { set.MaxStep, set.Refinements, set.StaticRegularization = 0.9, 50, 1e-10 },
	func(set *Settings) { set.NoEquilibration = true },
	func(set *Settings) { set.MaxStep, set.StaticRegularization, set.LinearSolver = 0.7, 1e-7, "qdldl" },
}

// Run runs Clarabel, and again where its answer does not hold on the caller's data.
func (s *solver) Run(ctx context.Context, of *adapter.Run) (*backends.Solution, error) {
	r := &run{solver: s, Run: of, tighter: 1, tighterInfeasible: 1}
	out, err := r.Attempts(adapter.Retries(s.settings.Retries, defaultRetries),
		func() (*backends.Solution, bool, error) { return r.once(ctx) }, r.prepare)
	if s.with != s.settings { // what helped here is not for other numbers
		s.Drop()
		s.with = s.settings
	}
	return out, err
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
func (r *run) prepare() bool {
	switch r.then {
	case tighten:
		if factor := max(smallestFactor, tightenFraction/r.Excess); r.tighter > smallestGap/r.Options.Eps && factor < 1 {
			r.tighter = max(r.tighter*factor, smallestGap/r.Options.Eps)
			return true
		}
	case doubt:
		if r.tighterInfeasible > smallestFactor {
			r.tighterInfeasible *= 1e-2
			return true
		}
	}
	if r.updated {
		return r.renew(r.with) == nil // with a scaling of its own
	}
	for r.tried < len(ways) {
		set := r.with
		ways[r.tried](&set)
		r.tried++
		if set != r.with && !(set.NoChordal && !r.with.NoChordal && r.clarabel != nil && r.clarabel.Updatable()) &&
			r.renew(set) == nil {
			return true
		}
	}
	return false
}

// once runs Clarabel once.
func (r *run) once(ctx context.Context) (*backends.Solution, bool, error) {
	if r.clarabel == nil {
		if err := r.renew(r.with); err != nil {
			return nil, false, err
		}
	}
	set := given(r.Options, r.with)
	set.TolFeas = max(set.TolFeas*r.tighter, min(set.TolFeas, smallestEps))
	set.TolGapAbs, set.TolGapRel = set.TolGapAbs*r.tighter, set.TolGapRel*r.tighter
	set.TolInfeasRel *= r.tighterInfeasible
	bounded := r.Options.MaxIterations > 0
	if bounded {
		set.MaxIter = r.MaxIterations(0)
	}
	if err := r.clarabel.Set(&set); err != nil {
		return nil, false, err
	}
	n := len(r.Data.Q)
	point := &cclarabel.Solution{X: make([]float64, n), S: make([]float64, len(r.form.List)),
		Z: make([]float64, len(r.form.List))}
	info, err := r.clarabel.Solve(point, r.Stop, r.Left())
	if err != nil { // numbers on which it should not have gone on
		r.Drop()
		r.then, r.Message = change, err.Error()
		return r.At(backends.Inaccurate), false, nil
	}
	r.Iterations += info.Iterations
	r.Log(ctx, "clarabel", "status", info.Status.String(), "iterations", info.Iterations, "eps", set.TolFeas,
		"primal", info.ResPrimal, "dual", info.ResDual, "gap", info.GapRel, "mu", info.Mu)
	out, then := r.outcome(ctx, &info, point, bounded && info.Iterations >= set.MaxIter)
	r.then = then
	return out, then == finished, nil
}

// outcome maps what Clarabel says.
func (r *run) outcome(ctx context.Context, info *cclarabel.Info, point *cclarabel.Solution,
	spent bool) (*backends.Solution, next) {
	switch info.Status {
	case cclarabel.PrimalInfeasible, cclarabel.AlmostPrimalInfeasible:
		return r.certificate(r.form.Dual(point.Z), backends.PrimalInfeasible, info.Status == cclarabel.PrimalInfeasible)
	case cclarabel.DualInfeasible, cclarabel.AlmostDualInfeasible:
		return r.certificate(point.X, backends.DualInfeasible, info.Status == cclarabel.DualInfeasible)
	}
	if info.Interrupted {
		return r.Interrupted(ctx), finished
	}
	r.Keep(slices.Clone(point.X), r.form.Slack(point.S, r.Data, point.X), r.form.Dual(point.Z))
	switch {
	case r.Excess <= 1:
		return r.At(backends.Optimal), finished
	case info.TimedOut:
		return r.At(backends.TimeLimit), finished
	case spent:
		return r.At(backends.IterationLimit), finished
	case info.Status == cclarabel.Solved:
		return r.At(backends.Inaccurate), tighten
	}
	r.Message = "Clarabel says " + info.Status.String()
	return r.At(backends.Inaccurate), change
}

// certificate returns a certificate that holds.
func (r *run) certificate(v []float64, claim backends.Status, sure bool) (*backends.Solution, next) {
	if out, excess := r.Certificate(claim, v); excess <= 1 {
		return out, finished
	}
	r.Message = "a certificate of " + claim.String() + " does not hold"
	if !sure {
		return r.At(backends.Inaccurate), change
	}
	return r.At(backends.Inaccurate), doubt
}
