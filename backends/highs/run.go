//go:build highs && cgo

package highs

import (
	"context"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
	chighs "github.com/conetune/conetune/internal/cgo/highs"
)

// run is one call of Solve, which may take several runs of HiGHS.
type run struct {
	*solver
	*adapter.Run
	set chighs.Settings
	// tried counts the ways that were taken, of those for quadratic programs or for linear ones.
	tried     int
	quadratic bool
	proved    bool // certificates of a quadratic program have been looked for
}

// Run runs HiGHS, and again where its answer does not hold on the caller's data.
func (s *solver) Run(ctx context.Context, of *adapter.Run) (*backends.Solution, error) {
	r := &run{solver: s, Run: of, quadratic: s.Data.Quadratic()}
	r.set = given(s.Options, s.settings, r.quadratic)
	if err := r.start(); err != nil {
		return nil, err
	}
	return r.Attempts(adapter.Retries(s.settings.Retries, defaultRetries),
		func() (*backends.Solution, bool, error) { return r.once(ctx) }, r.prepare)
}

// start gives HiGHS the basis of WarmStart, or none.
func (r *run) start() error {
	point := r.Warm
	r.Warm = nil
	if err := r.highs.Forget(); err != nil || point == nil || r.quadratic {
		return err
	}
	warm := *point
	basis := r.lastBasis
	if r.last == nil || !slices.Equal(warm.X, r.last.X) || !slices.Equal(warm.Z, r.last.Z) {
		basis = r.basis(r.Scale.Scale(warm))
	}
	if r.highs.Start(basis) != nil {
		return r.highs.Forget() // what is no basis is no start
	}
	return nil
}

// once runs HiGHS once.
func (r *run) once(ctx context.Context) (*backends.Solution, bool, error) {
	set := r.set
	set.Iterations = r.MaxIterations(DefaultMaxIterations)
	n, m := r.Data.Dims()
	point := chighs.NewSolution(n, m)
	info, err := r.highs.Solve(&set, point, r.Stop, r.Left())
	if err != nil { // numbers on which it should not have gone on
		r.Drop()
		r.Message = err.Error()
		return r.At(backends.Inaccurate), false, nil
	}
	r.Iterations += info.Iterations
	r.Log(ctx, "highs", "status", info.Status.String(), "iterations", info.Iterations,
		"presolve", set.Presolve, "method", set.Method, "tolerance", set.PrimalTolerance)
	out, finished := r.outcome(ctx, &info, point)
	return out, finished, nil
}

// outcome maps what HiGHS says, and says whether that is the end.
func (r *run) outcome(ctx context.Context, info *chighs.Info, point *chighs.Solution) (*backends.Solution, bool) {
	if r.Stop.Raised() {
		return r.Interrupted(ctx), true
	}
	n, m := r.Data.Dims()
	if info.DualRay {
		if out := r.certificate(point.Ray[:m], backends.PrimalInfeasible); out != nil {
			return out, true
		}
	}
	if info.PrimalRay {
		if out := r.certificate(point.Ray[:n], backends.DualInfeasible); out != nil {
			return out, true
		}
	}
	r.Message = "HiGHS says " + info.Status.String()
	if info.HasPoint && info.Status != chighs.Infeasible {
		r.keep(point, info)
		if r.quadratic {
			r.Polish() // where a row binds whose multiplier is zero, interior points come near slowly
		}
	}
	switch {
	case r.Excess <= 1:
		return r.At(backends.Optimal), true
	case info.Status == chighs.TimeLimit:
		return r.At(backends.TimeLimit), true
	case info.Status == chighs.IterationLimit && r.Spent():
		return r.At(backends.IterationLimit), true
	case r.quadratic && !r.proved:
		if out := r.prove(info); out != nil {
			return out, true
		}
	}
	return r.At(backends.Inaccurate), false
}

// keep looks at the point on the caller's data and keeps it if it is the best.
func (r *run) keep(point *chighs.Solution, info *chighs.Info) {
	if _, best := r.Keep(slices.Clone(point.X), r.rows.Slack(r.Data, point.X), negated(point.Y)); best {
		r.last = nil
		if info.HasBasis {
			r.last, r.lastBasis = &backends.Point{X: slices.Clone(r.Best.X), Z: slices.Clone(r.Best.Z)}, point.Basis
		}
	}
}
