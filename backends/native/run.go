package native

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/stop"
)

const (
	defaultMaxIterations = 200
	// Points are accepted a little inside the tolerance, so that the recheck on
	// the caller's data agrees in spite of rounding.
	acceptFraction = 0.5
	// Certificates are measured by the recheck itself.
	acceptProof = 0.9
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
	r := &runner{iterate: it, options: o}
	if r.options.MaxIterations == 0 {
		r.options.MaxIterations = defaultMaxIterations
	}
	it.proof, it.nearPrimal, it.nearDual = nil, math.Inf(1), math.Inf(1)
	status := backends.Unsolved
	if !resume {
		it.bestError, it.bestIsPoint, it.constant = math.Inf(1), false, false
		it.direct, it.rooted, it.differences = false, false, len(it.nonsymmetric) == 0
		it.k.regularise(1)
	}
	begun, unused := resume, ""
	if !resume {
		begun, unused = it.warm(warm, set, acceptFraction*o.Eps)
	}
	if begun {
		status = r.loop(ctx)
	} else if it.canDirect() {
		it.direct = true
		it.startDirect()
		if status = r.loop(ctx); status == backends.Unsolved && (!it.rooted || r.bestError > nearSolved) {
			it.direct, it.rooted = false, false
		}
	}
	if status == backends.Unsolved && !it.rooted {
		if it.start() || it.f.stop.Reached(0) {
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
	if unused != "" {
		sol.Message = strings.TrimPrefix(r.message+"; "+unused, "; ")
	}
	return sol
}

// runner is one call of run.
type runner struct {
	*iterate
	options    backends.Options
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
		if r.stopped() { // the start is unfinished
			return r.ended()
		}
		r.residuals()
		p := r.measure()
		worst := p.worst()
		noPoint, noBound := r.proofs()
		if r.stopped() { // so are the residuals
			return r.ended()
		}
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
		if r.f.stop.Reached(r.f.n + 2*r.f.m) {
			return r.ended()
		}
		r.keep(worst)
		r.f.stop.Reached(r.f.n + 2*r.f.m)
		if o.Logger != nil {
			o.Logger.DebugContext(ctx, "native", "iteration", r.iterations, "objective", p.objective, "bound", p.bound,
				"primal", p.primal, "dual", p.dual, "gap", p.gap, "mu", r.mu, "tau", r.tau, "kappa", r.kappa)
		}
		if worst <= acceptFraction*o.Eps {
			if (p.doubt <= doubtful*o.Eps || further >= furtherIterations) && r.accepted() {
				return backends.Optimal
			}
			further++
		}
		if status := r.infeasible(noPoint, noBound, acceptProof*o.EpsInfeasible); status != backends.Unsolved {
			return status
		}
		switch {
		case r.f.stop.Look():
			return r.ended()
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
		if r.stopped() { // and nothing was moved
			return r.ended()
		}
		if step < minStep {
			r.message = "the steps became too short"
			return backends.Unsolved
		}
	}
}

// accepted says whether the best point passes as optimal on the caller's data.
func (r *runner) accepted() bool {
	sol := r.f.expand(r.bestX, r.bestS, r.bestZ, r.bestTau)
	return r.judge.Optimal(sol.X, sol.S, sol.Z, r.options.Eps)
}

// stopped says whether the context or the time has ended, and what was under way is unfinished.
func (r *runner) stopped() bool { return r.f.stop.Reached(0) }

// ended returns the status of a run that stopped.
func (r *runner) ended() backends.Status { return endOf(r.f.stop) }

// endOf says what has ended a Solve.
func endOf(s *stop.Stop) backends.Status {
	if errors.Is(s.Cause(), context.DeadlineExceeded) {
		return backends.TimeLimit
	}
	return backends.Cancelled
}

// solution writes the outcome in the caller's variables.
func (r *runner) solution(status backends.Status) *backends.Solution {
	switch status {
	case backends.PrimalInfeasible:
		return &backends.Solution{Status: status, Z: r.proof}
	case backends.DualInfeasible:
		return &backends.Solution{Status: status, X: r.proof}
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
