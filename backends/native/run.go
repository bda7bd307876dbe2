package native

import (
	"context"
	"math"
	"time"

	"github.com/conetune/conetune/backends"
)

const (
	defaultMaxIterations = 200
	// Points are accepted a little inside the tolerance, so that the recheck on
	// the caller's data agrees in spite of rounding.
	acceptFraction = 0.5
	// With many variables residuals within the tolerance may add up to a wrong
	// objective. Where they could by more than doubtful times the tolerance, up to
	// furtherIterations more are made.
	doubtful          = 100
	furtherIterations = 5
	// So many iterations without a better point, late in the run, mean a stall.
	stallIterations = 10
	stallMu         = 1e-6
	// Without the embedding, what is left of the residuals and of mu counts, too; it must fall by lessLeft.
	lessLeft = 0.9
	// Where the embedding with a good point gains less than 1/slowFactor in slowIterations, and root is at hand, that takes over.
	slowIterations = 15
	slowError      = 1e-5
	slowFactor     = 0.1
	// Where the direct method with root ends as near as this, the embedding does not come nearer.
	nearSolved = 1e-6
)

func (it *iterate) keep(worst float64) {
	if worst < it.bestError {
		it.bestError, it.bestTau, it.bestIsPoint = worst, it.tau, it.tau >= pointness*it.kappa
		copy(it.bestX, it.x)
		copy(it.bestS, it.s)
		copy(it.bestZ, it.z)
	}
}

// run solves the problem and returns the best point met. It goes on with the
// iterate of the last run if resume is set, else it starts from warm if that is
// given. Where such a run gets stuck, the usual start is taken.
func (it *iterate) run(ctx context.Context, o backends.Options, set Settings, warm *backends.Point, resume bool) *backends.Solution {
	r := &runner{iterate: it, options: o, begin: time.Now()}
	if r.options.MaxIterations == 0 {
		r.options.MaxIterations = defaultMaxIterations
	}
	status := backends.Unsolved
	if !resume {
		it.bestError, it.bestIsPoint, it.constant = math.Inf(1), false, false
		it.direct, it.rooted, it.differences = false, false, len(it.nonsymmetric) == 0
	}
	if resume || it.warm(warm, set, acceptFraction*o.Eps) {
		status = r.loop(ctx)
	} else if it.canDirect() {
		it.direct = true
		it.startDirect()
		if status = r.loop(ctx); status == backends.Unsolved && (!it.rooted || r.bestError > nearSolved) {
			it.direct, it.rooted = false, false
		}
	}
	if status == backends.Unsolved && !it.rooted {
		if it.start() {
			status = r.loop(ctx)
		} else {
			r.message = "the starting point could not be computed"
		}
		if status == backends.Unsolved && !it.differences && it.start() {
			it.differences, it.constant = true, false
			status = r.loop(ctx)
		}
		if status == backends.Unsolved && it.canDirect() {
			copy(it.x, it.bestX)
			copy(it.s, it.bestS)
			copy(it.z, it.bestZ)
			scaleBy(it.x, 1/it.bestTau)
			scaleBy(it.s, 1/it.bestTau)
			scaleBy(it.z, 1/it.bestTau)
			it.tau, it.kappa = 1, 0
			it.direct = true
			it.takeRoot()
			status = r.loop(ctx)
		}
	}
	sol := r.solution(status)
	sol.Iterations, sol.Message = r.iterations, r.message
	return sol
}

// runner is one call of run.
type runner struct {
	*iterate
	options    backends.Options
	begin      time.Time
	iterations int
	message    string
}

// loop iterates until the tolerances are met, a limit is reached, or nothing
// more is gained; the last is backends.Unsolved, and message says why.
func (r *runner) loop(ctx context.Context) backends.Status {
	o := &r.options
	r.message = ""
	further := 0
	nearest := math.Inf(1)  // to a certificate
	smallest := math.Inf(1) // what is left of the start, without the embedding
	var first progressDirect
	before := math.Inf(1) // the best error slowIterations ago
	for worse, slow := 0, 0; ; r.iterations++ {
		r.residuals()
		p := r.measure()
		worst := p.worst()
		noPoint, noBound := r.proofs()
		left := math.Inf(1)
		if r.direct {
			left = r.leftDirect(&first)
		}
		if near := min(noPoint, noBound); worst < r.bestError || near < nearest || left < lessLeft*smallest {
			worse, nearest, smallest = 0, min(near, nearest), min(left, smallest)
		} else {
			worse++
		}
		if slow++; slow == slowIterations {
			if !r.direct && r.root != nil && r.root.rows > 0 && r.bestError < slowError && r.bestError > slowFactor*before {
				r.message = "little progress"
				return backends.Unsolved
			}
			slow, before = 0, r.bestError
		}
		r.keep(worst)
		if o.Logger != nil {
			o.Logger.DebugContext(ctx, "native", "iteration", r.iterations, "objective", p.objective, "bound", p.bound,
				"primal", p.primal, "dual", p.dual, "gap", p.gap, "mu", r.mu, "tau", r.tau, "kappa", r.kappa)
		}
		if worst <= acceptFraction*o.Eps {
			if p.doubt <= doubtful*o.Eps || further == furtherIterations {
				return backends.Optimal
			}
			further++
		}
		if status := r.infeasible(noPoint, noBound, acceptFraction*o.EpsInfeasible); status != backends.Unsolved {
			return status
		}
		switch {
		case ctx.Err() != nil:
			return backends.Cancelled
		case o.TimeLimit > 0 && time.Since(r.begin) >= o.TimeLimit:
			return backends.TimeLimit
		case r.iterations >= o.MaxIterations:
			return backends.IterationLimit
		case worse >= stallIterations && (r.mu < stallMu || r.direct):
			r.message = "no further progress"
			return backends.Unsolved
		}
		var step float64
		if r.direct {
			step = r.advanceDirect(o.Eps)
		} else {
			r.target = accuracy{residualLeft, min(max(refineTarget, refineShare*min(worst, noPoint, noBound)), refineStart)}
			if r.whole() {
				r.target = accuracy{refineTarget, refineTarget}
			} else if left, now := toleranceLeft*o.Eps, max(p.dual, p.hidden); now*residualLeft < left {
				r.target.columns = min(left/now, 1e6) // now may be 0
			}
			step = r.advance()
		}
		if step < minStep {
			r.message = "the steps became too short"
			return backends.Unsolved
		}
	}
}

// solution writes the outcome in the caller's variables.
func (r *runner) solution(status backends.Status) *backends.Solution {
	switch status {
	case backends.PrimalInfeasible:
		sol := r.f.expand(r.x, r.s, r.z, 1)
		sol.Status, sol.X, sol.S = status, nil, nil
		return sol
	case backends.DualInfeasible:
		sol := r.f.expand(r.x, r.s, r.z, 1)
		sol.Status, sol.Z = status, nil
		return sol
	case backends.Unsolved:
		status = backends.Inaccurate
		if r.bestError <= r.options.Eps {
			status = backends.Optimal
		}
	}
	if math.IsInf(r.bestError, 1) {
		if status == backends.Inaccurate {
			status = backends.NumericalError
		}
		return &backends.Solution{Status: status}
	}
	sol := r.f.expand(r.bestX, r.bestS, r.bestZ, r.bestTau)
	sol.Status = status
	return sol
}
