//go:build (scs && cgo) || scs_go

package scs

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/scaling"
	mirror "github.com/conetune/conetune/internal/mirror/scs"
)

const (
	defaultRetries = 5
	// A tolerance is tightened to this part of what would just have been enough,
	// and to no less than smallestFactor of itself; the residuals of SCS and ours
	// differ by a factor that changes little from one iterate to the next.
	tightenFraction = 0.3
	smallestFactor  = 1e-3
	smallestEps     = 1e-14
	// At tolerances up to roundedEps entries of that size may be rounding.
	roundedEps = 1e-12
	rounding   = 1e-13
	// A retry may take so many times the iterations so far, and some: if the
	// tighter tolerance takes more it is out of reach.
	retryFactor, retryIterations = 10, 10_000
	// SCS looks at its clock every 25 iterations; ours ends the iterations through
	// Interrupt.Finish. Where even that takes longer than this share of the limit, or
	// this, or the library does not know it, the solve is stopped without a point.
	hardLimitShare = 5
	hardLimitLeast = 200 * time.Millisecond
)

// run is one call of Solve.
type run struct {
	*solver
	begin      time.Time
	limit      time.Duration // of the options, or until the deadline of the context; 0 for none
	iterations int
	point      mirror.Solution // in SCS's rows
	judge      *backends.Judge
	// best is the point with the smallest residual so far, which says how many
	// times too large that is.
	best       *backends.Solution
	bestExcess float64
}

// solve calls SCS until its answer passes on the caller's data, a limit is
// reached, or there is nothing more to gain.
func (r *run) solve(ctx context.Context) (*backends.Solution, error) {
	stop := new(mirror.Interrupt)
	defer context.AfterFunc(ctx, func() {
		if _, timed := ctx.Deadline(); !timed || backends.EndedBy(ctx) == backends.Cancelled {
			stop.Raise() // a deadline is a limit, which leaves a point
		}
	})()
	if r.limit > 0 {
		defer time.AfterFunc(r.limit, stop.Finish).Stop()
		defer time.AfterFunc(r.limit+max(r.limit/hardLimitShare, hardLimitLeast), stop.Raise).Stop()
	}
	warm := r.start()
	r.bestExcess = math.Inf(1)
	for retries := r.retries(); ; retries-- {
		info, err := r.work.Solve(&r.point, warm, stop)
		if err != nil {
			return nil, err
		}
		r.iterations += max(0, info.Iterations) // -1 if it was stopped within
		if r.options.Logger != nil {
			r.options.Logger.DebugContext(ctx, "scs", "status", info.Text, "iterations", info.Iterations, "eps", r.current.EpsAbs,
				"primal", info.PrimalResidual, "dual", info.DualResidual, "gap", info.Gap, "scale", info.Scale, "setup", info.SetupTime, "time", info.SolveTime)
		}
		if stop.Raised() && (info.Status == mirror.SigInt || info.Status == mirror.Failed) {
			return r.stopped(ctx), nil
		}
		out, excess := r.outcome(&info)
		r.last = nil
		if out.Status == backends.NumericalError || !finite(r.point.X, r.point.Y, r.point.S) {
			r.drop()
			if r.best != nil {
				r.best.Status = backends.Inaccurate
				return r.best, nil
			}
			return out, nil
		}
		if info.Status == mirror.Solved || info.Status == mirror.SolvedInaccurate {
			r.last = &r.point
			r.keep(out, excess)
			out = r.best
		}
		if !r.claims(&info) || excess <= 1 || retries == 0 {
			return out, nil
		}
		next, left := r.tighter(&info, excess)
		if !left {
			return out, nil
		}
		if err := r.adjust(next); err != nil {
			return nil, err
		}
		if warm = info.Status == mirror.Solved; !warm {
			r.zero() // a certificate is nothing to start from
		}
	}
}

// stopped is what is left when a solve was interrupted: by the caller, or by the
// clock because SCS did not see in time that its limit was over.
func (r *run) stopped(ctx context.Context) *backends.Solution {
	switch {
	case ctx.Err() != nil && backends.EndedBy(ctx) == backends.Cancelled:
		return &backends.Solution{Status: backends.Cancelled}
	case r.best != nil:
		r.best.Status = backends.TimeLimit
		return r.best
	}
	return &backends.Solution{Status: backends.TimeLimit, Message: "the time was over before SCS looked for a point"}
}

func (r *run) retries() int {
	if r.settings.Retries != 0 {
		return max(0, r.settings.Retries)
	}
	return defaultRetries
}

// keep makes out the best point, or gives the best point its status.
func (r *run) keep(out *backends.Solution, excess float64) {
	if r.best == nil || excess < r.bestExcess {
		r.best, r.bestExcess = out, excess
		return
	}
	if r.bestExcess > 1 {
		r.best.Status = out.Status
	}
}

// start writes the point of WarmStart in SCS's rows, or the last one if only the
// tolerance has changed, and says whether there is one.
func (r *run) start() bool {
	if r.goOn {
		r.point, r.goOn = *r.last, false
		return true
	}
	r.zero()
	if r.warm == nil {
		return false
	}
	p := *r.warm
	r.warm = nil
	if p.S == nil && p.X != nil {
		p.S = r.user.Slack(p.X)
	}
	p = r.tower.Extend(r.scale.Scale(p))
	if p.X != nil {
		copy(r.point.X, p.X)
	}
	if p.S != nil {
		copy(r.point.S, r.form.slacks(p.S))
	}
	if p.Z != nil {
		copy(r.point.Y, r.form.multipliers(p.Z))
	}
	return true
}

func (r *run) zero() {
	n, m := len(r.data.Q), r.form.height()
	r.point = mirror.Solution{X: make([]float64, n), Y: make([]float64, m), S: make([]float64, m)}
}

// claims says whether SCS is sure of its answer, rather than at a limit.
func (r *run) claims(info *mirror.Info) bool {
	return info.Status == mirror.Solved || info.Status == mirror.Infeasible || info.Status == mirror.Unbounded
}

// outcome maps what SCS says. The second result is the residual on the caller's
// data in units of the tolerance; above one the claim does not hold.
func (r *run) outcome(info *mirror.Info) (*backends.Solution, float64) {
	out := &backends.Solution{}
	limit := backends.TimeLimit
	if info.Iterations >= r.current.MaxIters {
		limit = backends.IterationLimit
		if r.iterations < r.base.MaxIters {
			limit = backends.Inaccurate // the bound was that of a retry
		}
	}
	switch info.Status {
	case mirror.Solved, mirror.SolvedInaccurate:
		out.Status = backends.Optimal
		if info.Status == mirror.SolvedInaccurate {
			out.Status = limit
		}
		p := r.tower.Recover(backends.Point{X: slices.Clone(r.point.X), S: r.form.slack(r.point.S, r.data, r.point.X), Z: r.form.dual(r.point.Y)})
		out.X, out.S, out.Z = p.X, p.S, p.Z
		r.scale.Unscale(out.X, out.S, out.Z)
		found := excess(r.judge.Excess(out.X, out.S, out.Z, r.options.Eps), 1)
		if found > 1 && r.current.EpsAbs <= roundedEps && finite(r.point.X, r.point.S) {
			found = r.withoutRounding(out, found)
		}
		return out, found
	case mirror.Infeasible, mirror.InfeasibleInaccurate:
		return r.certificate(info, limit, r.tower.Recover(backends.Point{Z: r.form.dual(r.point.Y)}).Z, backends.PrimalInfeasible)
	case mirror.Unbounded, mirror.UnboundedInaccurate:
		return r.certificate(info, limit, r.tower.Recover(backends.Point{X: r.point.X}).X, backends.DualInfeasible)
	}
	out.Status, out.Message = backends.NumericalError, "SCS says "+info.Text
	return out, math.NaN()
}

// withoutRounding makes entries of x and s zero that are the rounding of SCS, for whose objective numbers are near one, if
// that takes the point nearer to the tolerance than the residual found, and returns that of out then.
func (r *run) withoutRounding(out *backends.Solution, found float64) float64 {
	x := scaling.Drop(r.point.X, rounding)
	p := r.tower.Recover(backends.Point{X: x, S: r.form.slack(scaling.Drop(r.point.S, rounding), r.data, x)})
	r.scale.Unscale(p.X, p.S, nil)
	if better := excess(r.judge.Excess(p.X, p.S, out.Z, r.options.Eps), 1); better < found {
		out.X, out.S = p.X, p.S
		return better
	}
	return found
}

// certificate returns a certificate, as it is or without its rounding, with the
// residual in units of the tolerance. One at a limit counts only if it holds.
func (r *run) certificate(info *mirror.Info, limit backends.Status, v []float64, claim backends.Status) (*backends.Solution, float64) {
	out, least := &backends.Solution{Status: claim}, math.Inf(1)
	for _, v := range [][]float64{slices.Clone(v), scaling.Clean(v)} {
		var found float64
		var err error
		if claim == backends.PrimalInfeasible {
			r.scale.Unscale(nil, nil, v)
			v, found, err = r.judge.ProvePrimalInfeasible(v, r.options.EpsInfeasible)
		} else {
			r.scale.Unscale(v, nil, nil)
			v, found, err = r.judge.ProveDualInfeasible(v, r.options.EpsInfeasible)
		}
		if err != nil {
			found = math.Inf(1)
		}
		if e := excess(found, r.options.EpsInfeasible); e < least || least == math.Inf(1) {
			least = e
			if claim == backends.PrimalInfeasible {
				out.Z = v
			} else {
				out.X = v
			}
		}
	}
	if least > 1 && !r.claims(info) {
		return &backends.Solution{Status: limit}, math.Inf(1)
	}
	return out, least
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

// excess returns found / allowed, infinite if that is no number.
func excess(found, allowed float64) float64 {
	if found <= allowed {
		return 0
	}
	if e := found / allowed; e > 1 {
		return e
	}
	return math.Inf(1)
}

// tighter returns settings for another run after a residual that many times too
// large, and false if the limits or the floating-point numbers leave none.
func (r *run) tighter(info *mirror.Info, excess float64) (mirror.Settings, bool) {
	next := r.current
	factor := max(tightenFraction/excess, smallestFactor)
	left := true
	tighten := func(eps *float64, by float64) {
		left = left && *eps > smallestEps
		*eps = max(*eps*by, smallestEps)
	}
	if info.Status == mirror.Solved {
		if info.Iterations == 0 && next.EpsAbs > 0 { // the last tolerance was met from the start, and by so much
			factor *= min(1, max(info.PrimalResidual, info.DualResidual, info.Gap)/next.EpsAbs)
		}
		tighten(&next.EpsAbs, factor)
		tighten(&next.EpsRel, factor)
	} else {
		tighten(&next.EpsInfeas, factor)
	}
	if !left {
		return next, false
	}
	next.MaxIters = min(r.base.MaxIters-r.iterations, retryFactor*r.iterations+retryIterations)
	if r.limit > 0 {
		next.TimeLimit = r.limit - time.Since(r.begin)
		if next.TimeLimit <= 0 {
			return next, false
		}
	}
	return next, next.MaxIters > 0
}
