package dca

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// The accelerated iteration.
//
// Around a point (x~, h) with x~ a lower-level solution, a large penalty lets x move by
// -(alpha H)^{-1} grad L, with H the Hessian of the lower level's Lagrangian on the free entries, and the radii follow:
// d h = P'(x) d x. In h this is a step of length 1/alpha along the gradient of F(h) = L(x~(h), h), preconditioned by
// the inverse Hessian of v. Plain DCA takes that step as it is, and creeps when alpha is large; when alpha is small,
// the gap l - v, of order 1/alpha^2, is large. So
//   - z_k is the refit (x~(h_k), h_k): as it has no gap, phi_k(z_k) = L(x~(h_k), h_k), and the subproblem
//     gives gap <= t <= (L(z_k) - L(z_{k+1})) / alpha;
//   - the step in h is doubled as long as F falls, at the price of one lower-level solve for each try;
//   - a step after which F has not fallen is not taken;
//   - alpha is multiplied where the gap or the agreement misses its tolerance, or F has not fallen.
//
// The bound on the gap and the growth of alpha make the run reach any GapTol.
const (
	// maxFactor bounds the growth of the penalty in one iteration, rejectFactor is the growth after
	// a step that was not taken, and margin is put on top of the estimate of what is needed.
	maxFactor, rejectFactor, margin = 8, 4, 1.2
	// maxRetries bounds the steps that are not taken because the lower level cannot be solved at their ends.
	maxRetries = 3
	// maxDoublings bounds the search along one step.
	maxDoublings = 12
	// shrink bounds the search: it leaves every radius this share of what it was, as one that hits 0
	// has no clear multiplier to bring it back.
	shrink = 0.1
	// worthwhile is the relative decrease of F below which the search along a step ends.
	worthwhile = 1e-6
	// resolution times Eps of the conic solver is what t can be told from.
	resolution = 10
	// agreement bounds |L(x~, h) - L(x, h)| / |L(x~, h)| of the refit x~ and the iterate x at the end.
	agreement = 0.01
	// settled times Tol is the relative decrease of F below which an iteration counts as none.
	settled = 0.01
)

// accelerate decides about the step to z, and moves the centre. next is the lower level's solution at z.h.
func (r *run) accelerate(ctx context.Context, z iterate, next *Solution, it *Iteration) (done bool, err error) {
	f0, f1 := r.score(r.current), r.score(next)
	best, fbest := next, f1
	if f1 < f0 {
		if best, fbest, err = r.search(ctx, next, f1, it); err != nil {
			return false, err
		}
	}
	centre, gain := r.centre, 0.0
	if fbest < f0 {
		gain = (f0 - fbest) / math.Max(math.Abs(fbest), math.SmallestNonzeroFloat64) // +Inf from f0 = +Inf
		r.current, r.centre = best, iterate{best.X, best.h}
	}
	tol := r.settings.Tol
	need, flat := r.need(next, it)
	done = need <= 1 && it.T < tol && (flat || it.Step < tol) && r.low.joint.relativeStep(r.centre, centre) < tol &&
		gain < settled*tol
	if done && r.result.Message != "" { // of the lower level's solutions take the refit
		r.result.Message += "; the refit is reported for both"
		r.stay()
	}
	if gain < settled*tol {
		if !(f1 < f0) {
			need = math.Max(need, rejectFactor)
		}
		if need > 1 {
			r.alpha *= math.Min(margin*need, maxFactor)
		}
	}
	return done, nil
}

// stay makes the refit at the centre the point of the result.
func (r *run) stay() {
	r.result.X, r.result.H = r.centre.x, r.centre.h
	_, train, _ := r.sub.values(r.centre)
	r.settle(train, r.current.Validation, r.current)
}

// need estimates the factor for the penalty at which the gap, of order 1/alpha^2, and the relative
// difference of iterate and refit, of order 1/alpha, meet their tolerances; 1 or less where they do. It
// is flat where no penalty brings iterate and refit closer together, as both are solutions of the lower level; the
// message says so unless they agree.
func (r *run) need(next *Solution, it *Iteration) (need float64, flat bool) {
	r.result.Message = ""
	violation := math.Max(it.Gap, it.T/math.Max(1, math.Abs(next.Value)))
	need = math.Sqrt(math.Max(0, violation) / r.settings.GapTol)
	upper := math.Abs(next.Validation)
	difference := math.Abs(next.Validation-it.UpperValue) / math.Max(upper, math.SmallestNonzeroFloat64)
	same := it.T <= resolution*r.settings.Solver.WithDefaults().Eps // as far as the conic solver can tell
	switch {
	case difference <= agreement:
		return need, need <= 1 && same
	case need <= 1 && r.interpolates(next) && r.interpolates(r.current):
		r.result.Message = "the lower level interpolates, so that its solution is not unique: iterate and refit did not " +
			"agree; start from smaller radii"
		return need, true
	case need <= 1 && same:
		r.result.Message = fmt.Sprintf("validation values of iterate and refit were %s %% apart, as the lower level is too "+
			"flat to bring them together", percent(difference))
		return need, true
	}
	return math.Max(need, difference/agreement), false
}

// percent writes a share in percent, by two digits at least.
func percent(share float64) string {
	if share >= 0.1 {
		return fmt.Sprintf("%.0f", 100*share)
	}
	return fmt.Sprintf("%.2g", 100*share)
}

// score is F(h) = L(x~(h), h), and +Inf where x~ is not unique, so that F means nothing.
func (r *run) score(l *Solution) float64 {
	if r.interpolates(l) {
		return math.Inf(1)
	}
	return l.Validation
}

// search doubles the step from the current h to that of next as long as F falls.
func (r *run) search(ctx context.Context, next *Solution, f float64, it *Iteration) (*Solution, float64,
	error) {
	from := r.current.h
	best := next
	for i := 1; i <= maxDoublings; i++ {
		h := mixed(from, next.h, math.Ldexp(1, i))
		for j := range r.program.Radii + r.program.Bounds {
			h[j] = math.Max(h[j], math.Min(next.h[j], shrink*from[j]))
		}
		if err := r.sub.move(ctx, h); err != nil {
			return nil, 0, err
		}
		if slices.Equal(h, best.h) {
			break
		}
		trial, err := r.lower(ctx, h)
		it.Searches++
		it.LowerSeconds += r.low.taken.Seconds()
		if err != nil {
			return nil, 0, err
		}
		if trial.X == nil {
			break
		}
		v := r.score(trial)
		if !(v < f-worthwhile*math.Abs(f)) {
			break
		}
		best, f = trial, v
	}
	return best, f, nil
}
