//go:build osqp && cgo

package osqp

/*
#include "interrupt.h"
*/
import "C"

import (
	"time"

	"github.com/conetune/conetune/internal/mirror/osqp"
)

// The numbers of the mirror are those of C: a difference is an index out of range.
var same [1]struct{}

var (
	_ = same[osqp.LinearSolverError-C.OSQP_LINSYS_SOLVER_INIT_ERROR]
	_ = same[osqp.NonConvexError-C.OSQP_NONCVX_ERROR]
	_ = same[osqp.RhoFixed-C.OSQP_ADAPTIVE_RHO_UPDATE_DISABLED]
	_ = same[osqp.RhoByIterations-C.OSQP_ADAPTIVE_RHO_UPDATE_ITERATIONS]
	_ = same[osqp.RhoByError-C.OSQP_ADAPTIVE_RHO_UPDATE_KKT_ERROR]
	_ = same[osqp.Solved-C.OSQP_SOLVED]
	_ = same[osqp.SolvedInaccurate-C.OSQP_SOLVED_INACCURATE]
	_ = same[osqp.PrimalInfeasible-C.OSQP_PRIMAL_INFEASIBLE]
	_ = same[osqp.PrimalInfeasibleInaccurate-C.OSQP_PRIMAL_INFEASIBLE_INACCURATE]
	_ = same[osqp.DualInfeasible-C.OSQP_DUAL_INFEASIBLE]
	_ = same[osqp.DualInfeasibleInaccurate-C.OSQP_DUAL_INFEASIBLE_INACCURATE]
	_ = same[osqp.MaxIterReached-C.OSQP_MAX_ITER_REACHED]
	_ = same[osqp.TimeLimitReached-C.OSQP_TIME_LIMIT_REACHED]
	_ = same[osqp.NonConvex-C.OSQP_NON_CVX]
	_ = same[osqp.SigInt-C.OSQP_SIGINT]
	_ = same[osqp.Unsolved-C.OSQP_UNSOLVED]
)

// DefaultSettings returns what osqp_set_default_settings sets.
func (Library) DefaultSettings() osqp.Settings {
	var c C.OSQPSettings
	C.osqp_set_default_settings(&c)
	return osqp.Settings{
		Scaling: int(c.scaling), Polishing: c.polishing != 0, Rho: float64(c.rho), Sigma: float64(c.sigma), Alpha: float64(c.alpha),
		AdaptiveRho: osqp.RhoRule(c.adaptive_rho), AdaptiveRhoInterval: int(c.adaptive_rho_interval),
		AdaptiveRhoTolerance: float64(c.adaptive_rho_tolerance),
		MaxIterations:        int(c.max_iter), EpsAbs: float64(c.eps_abs), EpsRel: float64(c.eps_rel),
		EpsPrimalInfeasible: float64(c.eps_prim_inf), EpsDualInfeasible: float64(c.eps_dual_inf),
		CheckTermination: int(c.check_termination), Delta: float64(c.delta), PolishRefineIter: int(c.polish_refine_iter),
	}
}

func settingsOf(s *osqp.Settings) *C.OSQPSettings {
	c := new(C.OSQPSettings)
	C.osqp_set_default_settings(c)
	c.verbose = 0
	c.scaling, c.polishing = C.OSQPInt(s.Scaling), 0
	if s.Polishing {
		c.polishing = 1
	}
	c.rho, c.sigma, c.alpha = C.OSQPFloat(s.Rho), C.OSQPFloat(s.Sigma), C.OSQPFloat(s.Alpha)
	c.adaptive_rho, c.adaptive_rho_interval = C.OSQPInt(s.AdaptiveRho), C.OSQPInt(s.AdaptiveRhoInterval)
	c.adaptive_rho_tolerance = C.OSQPFloat(s.AdaptiveRhoTolerance)
	c.max_iter, c.eps_abs, c.eps_rel = C.OSQPInt(s.MaxIterations), C.OSQPFloat(s.EpsAbs), C.OSQPFloat(s.EpsRel)
	c.eps_prim_inf, c.eps_dual_inf = C.OSQPFloat(s.EpsPrimalInfeasible), C.OSQPFloat(s.EpsDualInfeasible)
	c.check_termination = C.OSQPInt(s.CheckTermination)
	if s.TimeLimit > 0 {
		c.time_limit = C.OSQPFloat(s.TimeLimit.Seconds())
	}
	c.delta, c.polish_refine_iter = C.OSQPFloat(s.Delta), C.OSQPInt(s.PolishRefineIter)
	return c
}

// Info returns what OSQP knows about the last call.
func (s solver) Info() osqp.Info {
	c := s.ptr.info
	seconds := func(v C.OSQPFloat) time.Duration { return time.Duration(float64(v) * float64(time.Second)) }
	return osqp.Info{
		Status: osqp.Status(c.status_val), Text: C.GoString(&c.status[0]), Polish: int(c.status_polish), Objective: float64(c.obj_val),
		PrimalResidual: float64(c.prim_res), DualResidual: float64(c.dual_res), Gap: float64(c.duality_gap),
		Iterations: int(c.iter), RhoEstimate: float64(c.rho_estimate),
		SetupTime: seconds(c.setup_time), SolveTime: seconds(c.solve_time), UpdateTime: seconds(c.update_time),
	}
}
