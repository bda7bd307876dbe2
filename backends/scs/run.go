//go:build (scs && cgo) || scs_go

package scs

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
	"github.com/conetune/conetune/internal/finite"
	cscs "github.com/conetune/conetune/internal/mirror/scs"
)

const (
	defaultRetries = 5
	// A tolerance is tightened to this part of what would just have been enough,
	// and to no less than smallestFactor of itself; the residuals of SCS and ours
	// differ by a factor that changes little from one iterate to the next.
	tightenFraction = 0.3
	smallestFactor  = 1e-3
	smallestEps     = 1e-14
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
	*adapter.Run
	point cscs.Solution // in SCS's rows
}

// Run runs SCS, and again with tighter tolerances where the caller's data ask for it, until its answer passes on these,
// a limit is reached, or there is nothing more to gain.
func (s *solver) Run(ctx context.Context, of *adapter.Run) (*backends.Solution, error) {
	r := &run{solver: s, Run: of}
	if err := r.limits(); err != nil {
		return nil, err
	}
	if r.Limit > 0 {
		defer time.AfterFunc(r.Limit, r.Stop.Finish).Stop()
		defer time.AfterFunc(r.Limit+max(r.Limit/hardLimitShare, hardLimitLeast), r.Stop.Raise).Stop()
	}
	warm := r.start()
	for retries := adapter.Retries(r.settings.Retries, defaultRetries); ; retries-- {
		info, err := r.work.Solve(&r.point, warm, r.Stop)
		if err != nil {
			return nil, err
		}
		r.Iterations += max(0, info.Iterations) // -1 if it was stopped within
		r.Log(ctx, "scs", "status", info.Text, "iterations", info.Iterations, "eps", r.current.EpsAbs,
			"primal", info.PrimalResidual, "dual", info.DualResidual, "gap", info.Gap, "scale", info.Scale,
			"setup", info.SetupTime, "time", info.SolveTime)
		if r.Stop.Raised() && (info.Status == cscs.SigInt || info.Status == cscs.Failed) {
			return r.stopped(ctx), nil
		}
		r.last = nil
		out, excess := r.outcome(&info)
		if math.IsNaN(excess) || !finite.Every([][]float64{r.point.X, r.point.Y, r.point.S}) {
			r.Drop()
			if r.Best != nil {
				out = r.At(backends.Inaccurate)
			}
			return out, nil
		}
		if info.Status == cscs.Solved || info.Status == cscs.SolvedInaccurate {
			r.last = &r.point
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
		if warm = info.Status == cscs.Solved; !warm {
			r.zero() // a certificate is nothing to start from
		}
	}
}

// limits tells SCS those of this Solve, and the tolerance where that has changed: the last Solve may have ended with
// others.
func (r *run) limits() error {
	base := r.mirror(r.Options)
	next := r.current
	if base.EpsAbs != r.base.EpsAbs || base.EpsRel != r.base.EpsRel {
		next.EpsAbs, next.EpsRel = base.EpsAbs, base.EpsRel
	}
	r.base = base
	next.MaxIters, next.TimeLimit = base.MaxIters, r.Limit
	return r.adjust(next)
}

// stopped is what is left when a solve was interrupted: by the caller, or by the
// clock because SCS did not see in time that its limit was over.
func (r *run) stopped(ctx context.Context) *backends.Solution {
	if ctx.Err() != nil && backends.EndedBy(ctx) == backends.Cancelled {
		return &backends.Solution{Status: backends.Cancelled}
	}
	if r.Best == nil {
		r.Message = "the time was over before SCS looked for a point"
	}
	return r.At(backends.TimeLimit)
}

// start writes the point of WarmStart in SCS's rows, or the last one if only the
// tolerance has changed, and says whether there is one.
func (r *run) start() bool {
	if r.GoOn && r.last != nil {
		r.point = *r.last
		return true
	}
	r.zero()
	warm := r.Warm
	r.Warm = nil
	if warm == nil || r.tower != nil { // the variables of a tower are in no point
		return false
	}
	p := *warm
	if p.S == nil && p.X != nil {
		p.S = r.User.Slack(p.X)
	}
	p = r.Scale.Scale(p)
	if p.X != nil {
		copy(r.point.X, p.X)
	}
	if p.S != nil {
		copy(r.point.S, r.form.Vector(p.S))
	}
	if p.Z != nil {
		copy(r.point.Y, r.form.multipliers(p.Z))
	}
	return true
}

func (r *run) zero() {
	n, m := len(r.seen.Q), len(r.form.List)
	r.point = cscs.Solution{X: make([]float64, n), Y: make([]float64, m), S: make([]float64, m)}
}

// claims says whether SCS is sure of its answer, rather than at a limit.
func (r *run) claims(info *cscs.Info) bool {
	return info.Status == cscs.Solved || info.Status == cscs.Infeasible || info.Status == cscs.Unbounded
}

// outcome maps what SCS says. The second result is the residual on the caller's
// data in units of the tolerance; above one the claim does not hold, and none is where SCS broke down.
func (r *run) outcome(info *cscs.Info) (*backends.Solution, float64) {
	limit := backends.TimeLimit
	if info.Iterations >= r.current.MaxIters {
		limit = backends.IterationLimit
		if r.iterationsLeft() > 0 {
			limit = backends.Inaccurate // the bound was that of a retry
		}
	}
	switch info.Status {
	case cscs.Solved, cscs.SolvedInaccurate:
		excess := r.keep()
		if info.Status == cscs.SolvedInaccurate {
			return r.At(limit), excess
		}
		return r.At(backends.Optimal), excess
	case cscs.Infeasible, cscs.InfeasibleInaccurate:
		return r.certificate(info, limit, r.tower.Recover(backends.Point{Z: r.form.Dual(r.point.Y)}).Z,
			backends.PrimalInfeasible)
	case cscs.Unbounded, cscs.UnboundedInaccurate:
		return r.certificate(info, limit, r.tower.Recover(backends.Point{X: r.point.X}).X, backends.DualInfeasible)
	}
	r.Message = "SCS says " + info.Text
	return r.At(backends.NumericalError), math.NaN()
}

// keep looks at the point on the caller's data and keeps it if it is the best. It returns its excess.
func (r *run) keep() float64 {
	x := r.point.X
	p := r.tower.Recover(backends.Point{X: slices.Clone(x), S: r.form.Slack(r.point.S, r.seen, x),
		Z: r.form.Dual(r.point.Y)})
	excess, _ := r.Keep(p.X, p.S, p.Z)
	return excess
}

// certificate returns a certificate with the residual in units of the tolerance. One at a limit counts only where it
// holds.
func (r *run) certificate(info *cscs.Info, limit backends.Status, v []float64,
	claim backends.Status) (*backends.Solution, float64) {
	out, excess := r.Certificate(claim, v)
	if excess > 1 && !r.claims(info) {
		return &backends.Solution{Status: limit}, math.Inf(1)
	}
	return out, excess
}

func (r *run) iterationsLeft() int { return r.MaxIterations(DefaultMaxIterations - r.Iterations) }

// tighter returns settings for another run after a residual that many times too
// large, and false if the limits or the floating-point numbers leave none.
func (r *run) tighter(info *cscs.Info, excess float64) (cscs.Settings, bool) {
	next := r.current
	factor := max(tightenFraction/excess, smallestFactor)
	left := true
	tighten := func(eps *float64, by float64) {
		left = left && *eps > smallestEps
		*eps = max(*eps*by, smallestEps)
	}
	if info.Status == cscs.Solved {
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
	next.MaxIters = min(r.iterationsLeft(), retryFactor*r.Iterations+retryIterations)
	next.TimeLimit = r.Left()
	return next, next.MaxIters > 0 && !r.Over()
}
