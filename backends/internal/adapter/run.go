package adapter

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/internal/mirror"
)

// Run is one Solve, in which a library may run several times.
type Run struct {
	Limit      time.Duration // of the options, or until the deadline of the context; 0 for none
	Iterations int           // of all runs
	Judge      *backends.Judge
	// Best is the point that is the least times worse than the tolerance, nil before one, and Excess that factor. It is
	// one at most where the point meets the tolerance.
	Best    *backends.Solution
	Excess  float64
	Message string // what the library has to say
	// Stop is raised when the context is cancelled. A deadline is a limit, which leaves a point.
	Stop *mirror.Interrupt

	solver *Solver
	begin  time.Time
}

// watch raises Stop when ctx is cancelled, until the function that it returns is called.
func (r *Run) watch(ctx context.Context) func() bool {
	return context.AfterFunc(ctx, func() {
		if _, timed := ctx.Deadline(); !timed || backends.EndedBy(ctx) == backends.Cancelled {
			r.Stop.Raise()
		}
	})
}

// Log writes a record of a run of the library.
func (r *Run) Log(ctx context.Context, library string, args ...any) {
	if l := r.solver.Options.Logger; l != nil {
		l.DebugContext(ctx, library, args...)
	}
}

// Interrupted is what is left after Stop.
func (r *Run) Interrupted(ctx context.Context) *backends.Solution {
	if status := backends.EndedBy(ctx); status != backends.Cancelled {
		return r.At(status)
	}
	return &backends.Solution{Status: backends.Cancelled}
}

// Left is what is left of Limit: 0 where there is none, else more than that.
func (r *Run) Left() time.Duration {
	if r.Limit == 0 {
		return 0
	}
	return max(r.Limit-time.Since(r.begin), time.Nanosecond)
}

// Over says whether the time is.
func (r *Run) Over() bool { return r.Limit > 0 && time.Since(r.begin) >= r.Limit }

// Spent says whether the iterations of Options.MaxIterations are.
func (r *Run) Spent() bool { return r.MaxIterations(math.MaxInt) == 0 }

// MaxIterations is what is left of Options.MaxIterations, in the integers of C, or what there is without a bound.
func (r *Run) MaxIterations(otherwise int) int {
	if most := r.solver.Options.MaxIterations; most > 0 {
		return max(0, min(most-r.Iterations, math.MaxInt32))
	}
	return otherwise
}

// Keep looks at a point in the scale of the library, which it changes to the caller's, and keeps it if it is the best.
// It returns how many times worse than the tolerance it is, at most one where it meets that, and whether it is the best
// so far.
func (r *Run) Keep(x, s, z []float64) (excess float64, best bool) {
	r.solver.Scale.Unscale(x, s, z)
	if !finite.Every([][]float64{x, s, z}) {
		return math.Inf(1), false
	}
	excess = factor(r.Judge.Excess(x, s, z, r.solver.Options.Eps), 1)
	if best = r.Best == nil || excess < r.Excess; best {
		r.Best, r.Excess = &backends.Solution{X: x, S: s, Z: z}, excess
	}
	return excess, best
}

// Polish looks near the best point for one that meets the tolerance, see [backends.Judge.Polish].
func (r *Run) Polish() {
	if r.Best == nil || r.Excess <= 1 {
		return
	}
	eps := r.solver.Options.Eps
	if pt, ok := r.Judge.Polish(backends.Point{X: r.Best.X, S: r.Best.S, Z: r.Best.Z}, eps); ok {
		r.Best, r.Excess = &backends.Solution{X: pt.X, S: pt.S, Z: pt.Z}, 1
	}
}

// At returns the best point with a status, or no point.
func (r *Run) At(status backends.Status) *backends.Solution {
	out := r.Best
	if out == nil {
		out = &backends.Solution{}
		if status == backends.Inaccurate {
			status = backends.NumericalError
		}
	}
	out.Status, out.Message = status, r.Message
	if status == backends.Optimal {
		out.Message = ""
	}
	return out
}

// Certificate returns the best of some vectors in the scale of the library as a certificate, and how many times larger
// than Options.EpsInfeasible its residual is: at most one where it holds.
func (r *Run) Certificate(claim backends.Status, vectors ...[]float64) (out *backends.Solution, excess float64) {
	eps := r.solver.Options.EpsInfeasible
	excess = math.Inf(1)
	for _, v := range vectors {
		found := &backends.Solution{Status: claim}
		var residual float64
		var err error
		v = slices.Clone(v)
		if claim == backends.PrimalInfeasible {
			r.solver.Scale.Unscale(nil, nil, v)
			found.Z, residual, err = r.Judge.ProvePrimalInfeasible(v, eps)
		} else {
			r.solver.Scale.Unscale(v, nil, nil)
			found.X, residual, err = r.Judge.ProveDualInfeasible(v, eps)
		}
		if err != nil {
			residual = math.Inf(1)
		}
		if by := factor(residual, eps); out == nil || by < excess {
			out, excess = found, by
		}
		if excess <= 1 {
			break
		}
	}
	return out, excess
}

// factor returns found / allowed, infinite if that is no number.
func factor(found, allowed float64) float64 {
	if by := found / allowed; by <= 1 || by > 1 {
		return by
	}
	if found <= allowed { // both are zero
		return 0
	}
	return math.Inf(1)
}

// Attempts runs a library once, and again, at most retries times, after what prepare changes, until it has finished, it
// is interrupted, a limit is reached, or there is nothing left to try.
func (r *Run) Attempts(retries int, once func() (out *backends.Solution, finished bool, err error),
	prepare func() bool) (*backends.Solution, error) {
	for ; ; retries-- {
		out, finished, err := once()
		switch {
		case err != nil || finished:
			return out, err
		case r.Stop.Raised():
			return &backends.Solution{Status: backends.Cancelled}, nil
		case r.Over():
			return r.At(backends.TimeLimit), nil
		case r.Spent():
			return r.At(backends.IterationLimit), nil
		case retries == 0 || !prepare():
			return out, nil
		}
	}
}
