package dca

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/outcome"
)

// run is the state of Algorithm 1.
type run struct {
	program  *Program
	settings Settings
	low      *Constrained
	sub      *subproblem
	centre   iterate   // z_k
	current  *Solution // the lower level at h_k
	alpha    float64
	moved    float64   // |z_k - z_{k-1}|, 0 before the first iteration
	reported *Solution // the lower level at the point of the result
	best     *Solution // of the plain iterations, by validation value
	found    *Solution // by pathStart
	// accelerated says that the iterations are those of accelerate.go.
	accelerated bool
	extra       convex.Stats // of solvers closed already
	result      Result
	at          int // the iteration, 0 for the start
}

// Solve runs VF-iDCA on p. The error is for a program or settings without meaning and for broken backends; limits,
// cancellation and failed solves are in the status, and the result then holds the last completed iteration.
func Solve(ctx context.Context, p Program, s Settings) (*Result, error) {
	s, err := p.prepared(s)
	if err != nil {
		return nil, err
	}
	r := &run{program: &p, settings: s, alpha: s.Alpha0}
	defer r.close()
	going, err := r.start(ctx)
	for k := 1; going && err == nil; k++ {
		if k > s.MaxIter {
			r.result.Status = outcome.IterationLimit
			break
		}
		going, err = r.iterate(ctx, k)
	}
	if err == nil {
		err = r.finish(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &r.result, nil
}

// lower solves the lower level at h and scores its solution.
func (r *run) lower(ctx context.Context, h []float64) (*Solution, error) {
	r.begin(StageConstrained, 0, 0)
	l, err := r.low.solve(ctx, h)
	if err == nil && l.X != nil {
		if l.Validation, _, _ = r.sub.values(iterate{l.X, l.h}); !finite.All(l.Validation) {
			l.refuse()
		}
	}
	return l, err
}

// radiusFloor keeps radii above this share of the largest one at the start. At a radius of 0 the lower
// level has no interior and its multipliers are not bounded, so that those of an interior-point solver
// are far too large; the theory asks for radii above some positive number, too.
const radiusFloor = 1e-6

// start compiles the programs, finds z_0 and solves the lower level there.
func (r *run) start(ctx context.Context) (going bool, err error) {
	p, s := r.program, &r.settings
	if r.low, err = newConstrained(p, s); err != nil {
		return false, err
	}
	r.centre.h = slices.Clone(p.H0)
	r.result.H = r.centre.h
	r.centre.x = r.low.zeros()
	lo, hi := p.bounds()
	var from *line
	switch {
	case !s.PathStart || ctx.Err() != nil:
	case len(p.Path) > 0 && p.Radii == len(p.H0):
		err = r.pathStart(ctx)
	default:
		from, err = p.newLine(ctx, s)
	}
	if err != nil {
		return false, err
	}
	if ctx.Err() != nil { // before the second program is compiled for nothing
		r.fail(ctx, conic{}, "", false)
		r.takeStart()
		return false, nil
	}
	if p.Radii > 0 {
		top := cmp.Or(slices.Max(r.centre.h[:p.Radii]), 1)
		for j := range p.Radii {
			if from != nil {
				top = from.scale[j]
			}
			lo[j] = math.Max(lo[j], math.Min(hi[j], radiusFloor*top))
			r.centre.h[j] = math.Max(r.centre.h[j], lo[j])
		}
	}
	if r.sub, err = newSubproblem(p, s, lo, hi, r.low.joint); err != nil {
		return false, err
	}
	if r.found != nil {
		if err := r.low.joint.begin(ctx, r.found.Lambda, r.found.X); err != nil {
			return false, err
		}
	}
	if err := r.first(ctx, from); err != nil {
		return false, err
	}
	r.result.X, r.result.H, r.result.Alpha = r.centre.x, r.centre.h, r.alpha
	if r.current.X == nil {
		r.fail(ctx, r.current.conic, "lower level at the start", true)
		if ctx.Err() != nil {
			r.takeStart()
		}
		return false, nil
	}
	if r.accelerated = r.settings.accelerates() && !r.settings.PlainFirst; r.accelerated {
		r.centre.x = r.current.X
	}
	r.best = r.current
	if !r.accepts(r.centre.x, r.current.X) {
		r.result.X = nil
		return false, nil
	}
	r.result.X, r.result.H = r.centre.x, r.centre.h
	validation, train, _ := r.sub.values(r.centre)
	r.settle(train, validation, r.current)
	return true, nil
}

// first solves the lower level at the start: that of a line, and also of one where another has no feasible point.
func (r *run) first(ctx context.Context, from *line) (err error) {
	if from != nil {
		r.result.Lo, r.result.Hi = r.sub.lo, r.sub.hi
		err = r.lineStart(ctx, from)
	}
	if err == nil {
		err = r.sub.move(ctx, r.centre.h)
	}
	if err == nil {
		r.current, err = r.lower(ctx, r.centre.h)
	}
	if err != nil || from != nil || r.current.Status != backends.PrimalInfeasible {
		return err
	}
	if from, err = r.program.newLine(ctx, &r.settings); from == nil {
		return err
	}
	return r.first(ctx, from)
}

// iterate does iteration k, counted from 1.
func (r *run) iterate(ctx context.Context, k int) (going bool, err error) {
	r.at = k
	if r.short() {
		r.result.Status = outcome.Converged
		return false, nil
	}
	before := r.stats()
	res, next, err := r.step(ctx, k)
	if err != nil || next == nil {
		return false, err
	}

	z := res.z
	e := r.sub.evaluate(z)
	kkt := r.sub.kkt(res, e, next)
	it := Iteration{
		K: k, Objective: e.objective, UpperValue: e.validation, TrainValue: e.train, LowerValue: next.Value,
		Step: r.low.joint.relativeStep(z, r.centre), T: e.t, Alpha: r.alpha, Gap: gap(e.train, next.Value),
		Distance: res.distance(r.settings.Rho), Bound: math.Sqrt2 / 2 * r.settings.Rho * r.moved,
		Stationarity: kkt.Stationarity(),
		SubSeconds:   r.sub.taken.Seconds(), LowerSeconds: r.low.taken.Seconds(),
		SubIterations: res.iterations, LowerIterations: next.conic.iterations,
		SubActive: res.active, LowerActive: next.conic.active,
		SubEngine: res.engine, LowerEngine: next.conic.engine,
		Residual: largest(res.residual, next.Residual),
		H:        z.h, Lambda: next.Lambda,
	}
	if !it.finite() {
		r.notNumbers(fmt.Sprintf("iteration %d", k))
		return false, nil
	}
	if !r.accepts(z.x, next.X) {
		return false, nil
	}
	r.moved = math.Sqrt(r.low.joint.squaredDistance(z, r.centre))
	r.result.Iterations, r.result.Alpha, r.result.KKT = k, r.alpha, kkt
	r.result.X, r.result.H = z.x, z.h
	r.settle(e.train, e.validation, next)

	done := math.Max(it.Step, it.T) < r.settings.Tol
	if r.accelerated {
		done, err = r.accelerate(ctx, z, next, &it)
		if err != nil {
			return false, err
		}
	} else {
		if r.score(next) < r.score(r.best) {
			r.best = next
		}
		r.centre, r.current = z, next
		r.alpha = r.settings.grow(r.alpha, it.T, it.Step)
		if done && r.settings.accelerates() {
			done, r.accelerated = false, true
			r.current, r.centre = r.best, iterate{r.best.X, r.best.h}
		}
	}
	after := r.stats()
	it.Setups, it.Updates = after.Setups-before.Setups, after.Updates-before.Updates
	r.result.Trace = append(r.result.Trace, it)
	if r.settings.Observe != nil {
		refit := next.X
		if r.interpolates(next) {
			refit = nil
		}
		r.settings.Observe(&r.result.Trace[k-1], z.x, refit)
	}
	if done {
		r.converged(res, next)
	}
	return !done, nil
}

// converged is the end of a run by its stopping test, after programs that may have missed their tolerances.
func (r *run) converged(res *answer, next *Solution) {
	r.result.Status = outcome.Converged
	missed := func(status backends.Status, residual float64) bool {
		return status != backends.Optimal && !(residual <= Nearly*r.settings.Solver.WithDefaults().Eps)
	}
	if missed(res.status, res.residual) || missed(next.Status, next.Residual) {
		r.result.Status = Inaccurate
		r.result.Message = fmt.Sprintf("last conic residual %.1e", largest(res.residual, next.Residual))
	}
}

// largest is the larger one of two residuals, NaN where none was computed.
func largest(a, b float64) float64 { return floats.Max([]float64{a, b}) }

// step solves the subproblem of iteration k and the lower level at its h. next is nil after a failure, which is in the
// result. The accelerated iteration, whose steps are shorter with larger penalties, does not take a step to where the
// lower level cannot be solved, as with a radius next to zero, but grows the penalty.
func (r *run) step(ctx context.Context, k int) (res *answer, next *Solution, err error) {
	where := fmt.Sprintf("subproblem of iteration %d", k)
	for try, missed := 0, math.Inf(1); ; try++ {
		if r.sub.moved = r.moved; r.accelerated {
			r.sub.moved = 0
		}
		r.sub.set(r.centre, r.current, r.alpha)
		r.begin(StageSubproblem, 0, 0)
		res, err = r.sub.solve(ctx)
		again := r.accelerated && try < maxRetries && ctx.Err() == nil
		switch {
		case errors.Is(err, errOverflow) || err == nil && res.z.h == nil && res.usable:
			r.notNumbers(where)
			return nil, nil, nil
		case err != nil:
			return nil, nil, err
		case res.z.h == nil && again && r.low.joint.retries(res.residual, missed):
			// With a larger penalty fewer variables leave their zeros.
			r.alpha *= maxFactor
			missed = res.residual
			continue
		case res.z.h == nil:
			r.fail(ctx, res.conic, where, false)
			return nil, nil, nil
		}
		if next, err = r.lower(ctx, res.z.h); err != nil || next.X != nil {
			return res, next, err
		}
		if !again || ctx.Err() != nil || next.Status == backends.TimeLimit {
			r.fail(ctx, next.conic, fmt.Sprintf("lower level after iteration %d", k), true)
			return nil, nil, nil
		}
		r.alpha *= rejectFactor
	}
}

// gap is (l - v) / max(1, |v|).
func gap(train, value float64) float64 { return (train - value) / math.Max(1, math.Abs(value)) }

// settle records the values of the result's point; low is the lower level's solution at its h.
func (r *run) settle(train, validation float64, low *Solution) {
	r.result.LowerValue = low.Value
	r.result.TrainValue, r.result.UpperValue = train, validation
	r.result.Gap = gap(train, low.Value)
	r.result.Lambda = low.Lambda
	r.result.Refit, r.result.RefitValue = low.X, low.Validation
	r.reported = low
}

// fail turns a conic result of no use into the status of the run.
func (r *run) fail(ctx context.Context, res conic, where string, lower bool) {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || res.status == backends.TimeLimit:
		r.result.Status = outcome.TimeLimit
	case ctx.Err() != nil || res.status == backends.Cancelled:
		r.result.Status = outcome.Cancelled
	case lower && res.status == backends.PrimalInfeasible:
		r.result.Status = LowerInfeasible
		r.result.Message = where + " has no feasible point"
	default:
		r.result.Status = outcome.NumericalError
		if res.note != "" {
			r.result.Message = where + ": " + res.note
			return
		}
		r.result.Message = fmt.Sprintf("%s: %s, residual %.1e", where, res.status, res.residual)
	}
}

// close frees the solvers.
func (r *run) close() {
	if r.low != nil {
		r.low.Close()
	}
	if r.sub != nil {
		r.sub.close()
	}
}

func (r *run) stats() convex.Stats {
	s := r.extra
	s.Add(r.low.Stats())
	if r.sub != nil && r.sub.solver != nil {
		s.Add(r.sub.solver.Stats())
	}
	return s
}

// finish takes the best refit of accelerated iterations, replaces one that is not unique and adds up the statistics.
func (r *run) finish(ctx context.Context) error {
	if r.result.Lo != nil && r.accelerated && r.reported != nil && r.score(r.current) < r.score(r.reported) {
		r.stay()
	}
	if r.reported != nil && r.interpolates(r.reported) {
		if err := r.leastNorm(ctx, r.reported); err != nil {
			return err
		}
	}
	r.result.Stats = r.stats()
	return nil
}

// grow is rule 4: the next penalty after one with violation t and relative step delta.
// With max{alpha, 1/t} < c / step multiplied by t and step, t = 0 and step = 0 are in order.
func (s *Settings) grow(alpha, t, step float64) float64 {
	if max(alpha*t, 1)*step < s.CAlpha*t {
		return alpha + s.Delta
	}
	return alpha
}
