//go:build (osqp && cgo) || osqp_go

package osqp

import (
	"context"
	"slices"
	"strings"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
	cosqp "github.com/conetune/conetune/internal/mirror/osqp"
)

const (
	// From one round to the next the tolerances fall by this factor.
	tightenFactor = 0.1
	smallestEps   = 1e-14
	// The step size changes only by more than this factor, and within these
	// bounds, which are OSQP's own.
	adaptRatio              = 5.0
	smallestRho, largestRho = 1e-6, 1e6
)

// run is one call of Solve. It calls OSQP again and again, each call going on
// where the last one ended.
type run struct {
	*solver
	*adapter.Run
	eps, epsInf float64 // the tolerances of the round
	target      float64 // the tolerance that should be enough
	retries     int     // rounds below it that are left
	patience    int     // the iterations until the step size is looked at
	polishing   bool    // whether the call polishes
	point       cosqp.Solution
	// before is the point before polishing, to which the iterations return.
	before struct{ x, y []float64 }
}

// Run runs OSQP in rounds of tighter and tighter tolerances.
func (s *solver) Run(ctx context.Context, of *adapter.Run) (*backends.Solution, error) {
	n, m := s.User.Dims()
	// eps / 2 (1 + size) <= eps max(1, size)
	r := &run{
		solver: s, Run: of, target: s.Options.Eps / 2, epsInf: s.Options.ClaimEps() / 2, retries: s.settings.Retries,
		patience: s.settings.Patience,
	}
	r.eps = max(r.target, s.settings.StartEps)
	if s.GoOn && s.lastEps > 0 {
		r.eps = max(r.target, min(r.eps, tightenFactor*s.lastEps))
	}
	r.point = cosqp.Solution{
		X: make([]float64, n), Y: make([]float64, m), PrimalCertificate: make([]float64, m), DualCertificate: make([]float64,
			n),
	}
	out, err := r.solve(ctx)
	if err != nil {
		return nil, err
	}
	switch out.Status {
	case backends.Inaccurate, backends.IterationLimit, backends.NumericalError:
		s.forget()
	}
	return out, nil
}

// next says how a run goes on after a call of OSQP.
type next int

const (
	finished  next = iota
	polish         // the iterations have converged, but not to what the caller asked for
	tighter        // and polishing did not help
	doubt          // a certificate does not hold on the caller's data
	impatient      // the iterations were enough to judge the step size
)

func (r *run) solve(ctx context.Context) (*backends.Solution, error) {
	if err := r.start(); err != nil {
		return nil, err
	}
	for {
		if !r.limits() {
			return r.At(backends.TimeLimit), nil
		}
		info, err := r.osqp.Solve(&r.point, r.Stop)
		unpolished := err != nil && r.polishing && info.Status == cosqp.Solved
		if err != nil && !unpolished {
			return r.lost(err), nil
		}
		if info.Status != cosqp.SigInt {
			r.charged = 0
		}
		r.Iterations += info.Iterations
		r.Log(ctx, "osqp", "status", info.Text, "iterations", info.Iterations, "eps", r.eps, "rho", r.rho,
			"primal", info.PrimalResidual, "dual", info.DualResidual, "gap", info.Gap, "polish", info.Polish,
			"setup", info.SetupTime, "time", info.SolveTime)
		out, then := r.Best, tighter // if the equations of polishing could not be factored
		if !unpolished {
			out, then = r.outcome(ctx, &info)
		}
		if then != finished && r.iterationsLeft() == 0 {
			return r.At(backends.IterationLimit), nil
		}
		switch then {
		case finished:
			if info.Status == cosqp.Solved {
				r.lastEps = r.eps
			}
			return out, nil
		case polish:
			r.polishing = true
			r.before.x, r.before.y = slices.Clone(r.point.X), slices.Clone(r.point.Y)
		case tighter:
			if err := r.unpolish(); err != nil {
				return nil, err
			}
			if !r.tighten(&r.eps, r.target) {
				return r.At(backends.Inaccurate), nil
			}
		case doubt:
			if !r.tighten(&r.epsInf, r.Options.EpsInfeasible/2) {
				return out, nil
			}
		case impatient:
			if err := r.settle(&info); err != nil {
				return r.lost(err), nil
			}
		}
	}
}

// unpolish goes away from a polished point that is none.
func (r *run) unpolish() error {
	if !r.polishing {
		return nil
	}
	r.polishing = false
	return r.osqp.WarmStart(r.before.x, r.before.y)
}

// start puts the point of WarmStart, or zero, where OSQP begins, unless it goes on.
func (r *run) start() error {
	goOn := r.GoOn && r.lastEps > 0
	r.lastEps = 0
	if goOn {
		return nil
	}
	if err := r.osqp.ColdStart(); err != nil || r.Warm == nil {
		return err
	}
	p := r.Scale.Scale(*r.Warm)
	r.Warm = nil
	return r.osqp.WarmStart(p.X, p.Z)
}

// limits tells OSQP the tolerances of the call and what is left of the limits,
// and returns false if no time is left.
func (r *run) limits() bool {
	set := r.mirror(r.eps, r.epsInf)
	set.Polishing = r.polishing
	set.MaxIterations = min(r.iterationsLeft(), r.patience)
	if r.Limit > 0 {
		if r.Over() && r.Iterations > 0 {
			return false
		}
		set.TimeLimit = r.Left() + r.charged
	}
	return r.osqp.UpdateSettings(&set) == nil
}

func (r *run) iterationsLeft() int { return r.MaxIterations(DefaultMaxIterations - r.Iterations) }

// tighten lowers a tolerance, first to the target, then as often as there are
// retries.
func (r *run) tighten(eps *float64, target float64) bool {
	if *eps > target {
		*eps = max(target, tightenFactor**eps)
		return true
	}
	if r.retries == 0 || *eps <= smallestEps {
		return false
	}
	r.retries--
	*eps = max(smallestEps, tightenFactor**eps)
	return true
}

// lost is what is left when a new step size could not be factored: the best point so
// far, if there is one. The next Solve starts afresh.
func (r *run) lost(err error) *backends.Solution {
	r.Drop()
	r.Message = strings.Join(strings.Fields(err.Error()), " ")
	return r.At(backends.NumericalError)
}

// outcome maps what OSQP says.
func (r *run) outcome(ctx context.Context, info *cosqp.Info) (*backends.Solution, next) {
	switch info.Status {
	case cosqp.Solved, cosqp.SolvedInaccurate, cosqp.MaxIterReached, cosqp.TimeLimitReached:
		r.keep()
		switch {
		case r.Excess <= 1:
			return r.At(backends.Optimal), finished
		case info.Status != cosqp.Solved:
			return r.atLimit(info)
		case r.polishing || r.settings.NoPolishing:
			return r.Best, tighter
		}
		return r.Best, polish
	case cosqp.PrimalInfeasible, cosqp.PrimalInfeasibleInaccurate:
		return r.certificate(info, r.point.PrimalCertificate, backends.PrimalInfeasible)
	case cosqp.DualInfeasible, cosqp.DualInfeasibleInaccurate:
		return r.certificate(info, r.point.DualCertificate, backends.DualInfeasible)
	case cosqp.SigInt:
		return r.Interrupted(ctx), finished
	}
	return &backends.Solution{Status: backends.NumericalError, Message: "OSQP says " + info.Text}, finished
}

// atLimit tells what ended a call before the tolerances were met.
func (r *run) atLimit(info *cosqp.Info) (*backends.Solution, next) {
	switch {
	case r.iterationsLeft() == 0:
		return r.At(backends.IterationLimit), finished
	case info.Iterations >= r.patience:
		return r.Best, impatient
	}
	return r.At(backends.TimeLimit), finished
}

// keep looks at the point on the caller's data and keeps it if it is the best.
func (r *run) keep() {
	r.Keep(slices.Clone(r.point.X), r.rows.Slack(r.Data, r.point.X), slices.Clone(r.point.Y))
}

// certificate returns a certificate that holds.
func (r *run) certificate(info *cosqp.Info, v []float64, claim backends.Status) (*backends.Solution, next) {
	out, excess := r.Certificate(claim, v)
	if excess <= 1 {
		return out, finished
	}
	if info.Status == cosqp.PrimalInfeasible || info.Status == cosqp.DualInfeasible {
		return out, doubt
	}
	return r.atLimit(info)
}

// settle takes the step size out of OSQP's hands. OSQP adapts it every so many
// iterations for ever, which can cycle, on linear programs above all; with a
// step size that is fixed for longer and longer the iterations converge.
func (r *run) settle(info *cosqp.Info) error {
	r.patience *= 2
	if info.RhoEstimate > adaptRatio*r.rho || info.RhoEstimate < r.rho/adaptRatio {
		r.rho = min(max(info.RhoEstimate, smallestRho), largestRho)
		if r.settled {
			return r.osqp.UpdateRho(r.rho)
		}
	}
	if r.settled {
		return nil
	}
	r.settled = true
	if err := r.Renew(); err != nil {
		return err
	}
	switch info.Status {
	case cosqp.SolvedInaccurate, cosqp.MaxIterReached:
		return r.osqp.WarmStart(r.point.X, r.point.Y)
	}
	return nil
}
