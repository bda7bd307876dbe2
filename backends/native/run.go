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
	// Certificates are measured by the recheck itself.
	acceptProof = 0.9
	// Up to furtherIterations more are made from a point that is optimal but not settled, as long as they lead to better
	// ones.
	furtherIterations = 5
	// So many iterations without a better point, late in the run, mean a stall.
	stallIterations = 10
	stallMu         = 1e-6
	// Without the embedding, what is left of the residuals and of mu counts, too; it must fall by lessLeft.
	lessLeft = 0.9
	// The error of a run that did not begin anew must fall by lessError, as another start is still to come.
	lessError = 0.99
	// A run from a given point has this part of the iterations, and the usual start the rest.
	warmPart = 4
	// Where the embedding with a good point gains less than 1/slowFactor in slowIterations, and root is at hand, that
	// takes over.
	slowIterations = 15
	slowError      = 1e-5
	slowFactor     = 0.1
	// Where the direct method with root ends as near as this, the embedding does not come nearer.
	nearSolved = 1e-6
)

// runner solves a problem, repeatedly if wished.
type runner struct {
	*iterate
	embedding *embedding
	direct    *direct
	strategy  strategy // at work, or the last one
	anew      bool     // its attempt did not begin where another solve has ended

	// of one solve
	options    backends.Options
	iterations int
	watch      watch
	history    []backends.Iteration
	answer     *backends.Solution // the last one that passed as optimal
	list       []attempt
}

// watch sees whether a run gets on.
type watch struct {
	worse, slow, further int
	stalled              bool
	nearest              float64 // to a certificate
	smallest             float64 // part of the start that is left
	least                float64 // error that counted as progress
	before               float64 // the best error slowIterations ago
	finished             float64 // the error where finish was last tried
	primal, dual         float64 // residuals of the iteration before
	stuck                int     // iterations in which one of these did not fall
}

func newRunner(f *form) (*runner, error) {
	it, err := newIterate(f)
	if err != nil {
		return nil, err
	}
	return &runner{iterate: it, embedding: newEmbedding(it), direct: &direct{iterate: it}}, nil
}

// run solves the problem and returns the best point met. It goes on with the
// iterate of the last run if resume is set, else it starts from warm if that is
// given. Where such a run gets stuck, the usual start is taken. The point is overwritten by the next run.
func (r *runner) run(ctx context.Context, o backends.Options, warm *backends.Point, resume bool) *backends.Solution {
	if r.options = o; o.MaxIterations == 0 {
		r.options.MaxIterations = defaultMaxIterations
	}
	r.iterations, r.history, r.answer, r.f.given = 0, nil, nil, 0
	r.proof = nil
	from, unused := resumed, ""
	resume, r.direct.left = resume && !r.direct.left, false
	if !resume {
		from, r.best.error, r.best.isPoint = fresh, math.Inf(1), false
		r.k.regularise(1)
		r.embedding.differences, r.embedding.constant = len(r.nonsymmetric) == 0, false
		var ok bool
		if ok, unused = r.embedding.load(warm); ok && (warm.Z == nil || !r.reach()) {
			ok, unused = r.embedding.warm(o.Eps)
		}
		if ok {
			from = warmed
		}
	}
	status, err := backends.Optimal, error(nil)
	if r.answer == nil {
		status, err = r.try(ctx, r.attempts(from))
	}
	sol := r.solution(status)
	sol.Iterations, sol.Fresh = r.iterations, r.anew
	if err != nil {
		sol.Message = err.Error()
	}
	r.polish(sol)
	if unused != "" {
		sol.Message = strings.TrimPrefix(sol.Message+"; "+unused, "; ")
	}
	return sol
}

// loop iterates until the tolerances are met or a limit is reached. Where neither will be the status is
// backends.Unsolved, and the error says why.
func (r *runner) loop(ctx context.Context) (backends.Status, error) {
	inf := math.Inf(1)
	r.nearPrimal, r.nearDual = inf, inf
	r.watch = watch{nearest: inf, smallest: inf, least: inf, before: inf, finished: inf, primal: inf, dual: inf}
	for ; ; r.iterations++ {
		r.residuals()
		p := r.measure()
		if r.stopped() { // the start, or these, are unfinished
			return r.ended(), nil
		}
		if err := r.gains(p); err != nil {
			return backends.Unsolved, err
		}
		r.keep(p.worst)
		r.log(ctx, p)
		if sol := r.finish(p); sol != nil {
			r.answer = sol
			return backends.Optimal, nil
		}
		if status := r.verdict(p); status != backends.Unsolved {
			return status, nil
		}
		switch {
		case r.f.stop.Look():
			return r.ended(), nil
		case r.iterations >= r.options.MaxIterations:
			return backends.IterationLimit, nil
		case !r.anew && r.iterations >= r.options.MaxIterations/warmPart:
			return backends.Unsolved, errSlow
		case r.watch.stalled:
			return backends.Unsolved, errStalled
		}
		length, err := r.step(ctx, p)
		switch {
		case r.stopped(): // and nothing was moved
			return r.ended(), nil
		case err != nil:
			return backends.Unsolved, err
		case length < minStep:
			return backends.Unsolved, errShort
		}
	}
}

// step makes one iteration and returns the length of the step.
func (r *runner) step(ctx context.Context, p progress) (float64, error) {
	if err := r.rescale(); err != nil {
		return 0, err
	}
	err := r.strategy.aim(p, r.options.Eps)
	if err != nil && r.strategy.relief() {
		if l := r.options.Logger; l != nil {
			l.DebugContext(ctx, "native", "attempt", r.strategy.String(), "because", err.Error())
		}
		err = r.strategy.aim(p, r.options.Eps)
	}
	if r.stopped() { // the direction is unfinished
		return 0, errStopped
	}
	if err != nil && err != errStruggling {
		return 0, err
	}
	return r.strategy.move(), nil
}

// gains notes whether the iterate is better than those before, and returns an error where root would gain more.
func (r *runner) gains(p progress) error {
	w := &r.watch
	left, late := r.strategy.standing()
	near := min(p.noPoint, p.noBound)
	better := p.worst < r.best.error || near < w.nearest
	if !r.anew {
		better = p.worst < lessError*w.least || near < lessError*w.nearest
	}
	if better || left < lessLeft*w.smallest {
		w.worse, w.nearest, w.smallest, w.least = 0, min(near, w.nearest), min(left, w.smallest), min(p.worst, w.least)
	} else {
		w.worse++
	}
	if w.slow++; w.slow == slowIterations {
		ready := r.strategy == strategy(r.embedding) && r.direct.root != nil && r.direct.root.fits()
		if ready && r.best.error < slowError && r.best.error > slowFactor*w.before {
			return errSlow
		}
		w.slow, w.before = 0, r.best.error
	}
	w.stalled = late && w.worse >= stallIterations
	return nil
}

// stay says which residuals have not fallen since the iteration before, and whether this is one of the fewer and fewer
// times that deserve a closer look.
func (w *watch) stay(p progress, eps float64) (primal, dual, look bool) {
	primal, dual = p.primal > max(eps, lessLeft*w.primal), p.dual > max(eps, lessLeft*w.dual)
	if w.primal, w.dual = p.primal, p.dual; primal || dual {
		w.stuck++
	}
	return primal, dual, w.stuck&(w.stuck-1) == 0
}

func (r *runner) log(ctx context.Context, p progress) {
	if r.options.History {
		r.history = append(r.history, backends.Iteration{Objective: p.objective, DualObjective: p.bound,
			Residuals: backends.Residuals{Primal: p.primal, Dual: p.dual, Gap: p.gap}})
	}
	if l := r.options.Logger; l != nil {
		l.DebugContext(ctx, "native", "iteration", r.iterations, "objective", p.objective, "bound", p.bound,
			"primal", p.primal, "dual", p.dual, "gap", p.gap, "mu", r.mu, "tau", r.tau, "kappa", r.kappa)
	}
}

// verdict says whether the iterate is a solution or a certificate.
func (r *runner) verdict(p progress) backends.Status {
	o := &r.options
	if p.worst <= o.Eps {
		if sol := r.accepted(); sol != nil {
			if r.answer = sol; r.settle(sol) <= 1 || r.strategy == strategy(r.direct) {
				return backends.Optimal
			}
		}
	}
	if r.answer != nil {
		if r.watch.further++; r.watch.further > furtherIterations || p.worst > r.best.error {
			return backends.Inaccurate
		}
	}
	eps := acceptProof * o.EpsInfeasible
	status := r.infeasible(p.noPoint, p.noBound, eps)
	if status == backends.Unsolved && r.strategy == strategy(r.embedding) {
		primal, dual, look := r.watch.stay(p, eps)
		status = r.embedding.inconsistent(primal, dual, look, eps)
	}
	return status
}

// accepted returns the best point if it passes as optimal on the caller's data.
func (r *runner) accepted() *backends.Solution {
	b := &r.best
	x, s, ok := b.x, b.s, true
	if len(r.direct.faced) > 0 {
		x, s, ok = r.direct.unreduced()
	}
	if !ok {
		return nil
	}
	sol := r.f.expand(x, s, b.z, b.tau)
	if !r.judge.Optimal(sol.X, sol.S, sol.Z, r.options.Eps) {
		return nil
	}
	return sol
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

// polish makes a point that misses the tolerance one that meets it, where the judge finds one near.
func (r *runner) polish(sol *backends.Solution) {
	if sol.Status != backends.Inaccurate && sol.Status != backends.IterationLimit || sol.X == nil {
		return
	}
	if pt, ok := r.judge.Polish(backends.Point{X: sol.X, S: sol.S, Z: sol.Z}, r.options.Eps); ok {
		sol.Status, sol.X, sol.S, sol.Z = backends.Optimal, pt.X, pt.S, pt.Z
		sol.Message = strings.TrimPrefix(sol.Message+"; the last digits are of the equations of the rows that are tight",
			"; ")
	}
}

// solution writes the outcome in the caller's variables.
func (r *runner) solution(status backends.Status) *backends.Solution {
	b := &r.best
	switch status {
	case backends.PrimalInfeasible:
		return &backends.Solution{Status: status, Z: r.proof}
	case backends.DualInfeasible:
		return &backends.Solution{Status: status, X: r.proof}
	case backends.Unsolved:
		status = backends.Inaccurate
	}
	if r.answer != nil {
		r.answer.Status = status
		return r.answer
	}
	if math.IsInf(b.error, 1) {
		if status == backends.Inaccurate {
			status = backends.NumericalError
		}
		return &backends.Solution{Status: status}
	}
	sol := r.f.expand(b.x, b.s, b.z, b.tau)
	sol.Status = status
	return sol
}
