//go:build osqp && cgo

package osqp

/*
#include "interrupt.h"
*/
import "C"

import (
	"time"

	"github.com/conetune/conetune/internal/mirror"
	"github.com/conetune/conetune/internal/mirror/osqp"
)

// The numbers of the mirror are those of C: a difference is an index out of range.
var same [1]struct{}

var (
	_ = same[osqp.LinearSolverError-C.OSQP_LINSYS_SOLVER_INIT_ERROR]
	_ = same[osqp.NonConvexError-C.OSQP_NONCVX_ERROR]
	_ = same[osqp.Solved-C.OSQP_SOLVED]
	_ = same[osqp.SolvedInaccurate-C.OSQP_SOLVED_INACCURATE]
	_ = same[osqp.PrimalInfeasible-C.OSQP_PRIMAL_INFEASIBLE]
	_ = same[osqp.PrimalInfeasibleInaccurate-C.OSQP_PRIMAL_INFEASIBLE_INACCURATE]
	_ = same[osqp.DualInfeasible-C.OSQP_DUAL_INFEASIBLE]
	_ = same[osqp.DualInfeasibleInaccurate-C.OSQP_DUAL_INFEASIBLE_INACCURATE]
	_ = same[osqp.MaxIterReached-C.OSQP_MAX_ITER_REACHED]
	_ = same[osqp.TimeLimitReached-C.OSQP_TIME_LIMIT_REACHED]
	_ = same[osqp.SigInt-C.OSQP_SIGINT]
)

func settingsOf(s *osqp.Settings) *C.OSQPSettings {
	c := new(C.OSQPSettings)
	C.osqp_set_default_settings(c)
	c.verbose = 0
	mirror.Set(&c.scaling, s.Scaling)
	mirror.Set(&c.rho, s.Rho)
	mirror.Set(&c.sigma, s.Sigma)
	mirror.Set(&c.alpha, s.Alpha)
	mirror.Set(&c.adaptive_rho_interval, s.AdaptiveRhoInterval)
	mirror.Set(&c.adaptive_rho_tolerance, s.AdaptiveRhoTolerance)
	mirror.Set(&c.max_iter, s.MaxIterations)
	mirror.Set(&c.eps_abs, s.EpsAbs)
	mirror.Set(&c.eps_rel, s.EpsRel)
	mirror.Set(&c.eps_prim_inf, s.EpsPrimalInfeasible)
	mirror.Set(&c.eps_dual_inf, s.EpsDualInfeasible)
	mirror.Set(&c.check_termination, s.CheckTermination)
	mirror.Set(&c.time_limit, s.TimeLimit.Seconds())
	mirror.Set(&c.delta, s.Delta)
	mirror.Set(&c.polish_refine_iter, s.PolishRefineIter)
	mirror.Off(&c.adaptive_rho, s.FixedRho)
	if s.Polishing {
		c.polishing = 1
	}
	return c
}

// Info returns what OSQP knows about the last call.
func (s solver) Info() osqp.Info {
	c := s.ptr.info
	seconds := func(v C.OSQPFloat) time.Duration { return time.Duration(float64(v) * float64(time.Second)) }
	return osqp.Info{
		Status: osqp.Status(c.status_val), Text: C.GoString(&c.status[0]), Polish: int(c.status_polish),
		PrimalResidual: float64(c.prim_res), DualResidual: float64(c.dual_res), Gap: float64(c.duality_gap),
		Iterations: int(c.iter), RhoEstimate: float64(c.rho_estimate),
		SetupTime: seconds(c.setup_time), SolveTime: seconds(c.solve_time), UpdateTime: seconds(c.update_time),
	}
}
