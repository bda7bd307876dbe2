//go:build osqp && cgo

package osqp

/*
#include "interrupt.h"
*/
import "C"

import (
	"time"

	mirror "github.com/conetune/conetune/internal/mirror/osqp"
)

// The numbers of the mirror are those of C: a difference is an index out of range.
var same [1]struct{}

var (
	_ = same[mirror.LinearSolverError-C.OSQP_LINSYS_SOLVER_INIT_ERROR]
	_ = same[mirror.NonConvexError-C.OSQP_NONCVX_ERROR]
	_ = same[mirror.RhoFixed-C.OSQP_ADAPTIVE_RHO_UPDATE_DISABLED]
	_ = same[mirror.RhoByIterations-C.OSQP_ADAPTIVE_RHO_UPDATE_ITERATIONS]
	_ = same[mirror.RhoByError-C.OSQP_ADAPTIVE_RHO_UPDATE_KKT_ERROR]
	_ = same[mirror.Solved-C.OSQP_SOLVED]
	_ = same[mirror.SolvedInaccurate-C.OSQP_SOLVED_INACCURATE]
	_ = same[mirror.PrimalInfeasible-C.OSQP_PRIMAL_INFEASIBLE]
	_ = same[mirror.PrimalInfeasibleInaccurate-C.OSQP_PRIMAL_INFEASIBLE_INACCURATE]
	_ = same[mirror.DualInfeasible-C.OSQP_DUAL_INFEASIBLE]
	_ = same[mirror.DualInfeasibleInaccurate-C.OSQP_DUAL_INFEASIBLE_INACCURATE]
	_ = same[mirror.MaxIterReached-C.OSQP_MAX_ITER_REACHED]
	_ = same[mirror.TimeLimitReached-C.OSQP_TIME_LIMIT_REACHED]
	_ = same[mirror.NonConvex-C.OSQP_NON_CVX]
	_ = same[mirror.SigInt-C.OSQP_SIGINT]
	_ = same[mirror.Unsolved-C.OSQP_UNSOLVED]
	_ = same[mirror.PolishLinearSystemError-C.OSQP_POLISH_LINSYS_ERROR]
	_ = same[mirror.PolishFailed-C.OSQP_POLISH_FAILED]
	_ = same[mirror.PolishNotPerformed-C.OSQP_POLISH_NOT_PERFORMED]
	_ = same[mirror.PolishSuccess-C.OSQP_POLISH_SUCCESS]
	_ = same[mirror.PolishNoActiveSet-C.OSQP_POLISH_NO_ACTIVE_SET_FOUND]
)

// DefaultSettings returns what osqp_set_default_settings sets.
func (Library) DefaultSettings() mirror.Settings {
	var c C.OSQPSettings
	C.osqp_set_default_settings(&c)
	return mirror.Settings{
		WarmStarting: c.warm_starting != 0, Scaling: int(c.scaling), Polishing: c.polishing != 0,
		Rho: float64(c.rho), RhoIsVector: c.rho_is_vec != 0, Sigma: float64(c.sigma), Alpha: float64(c.alpha),
		AdaptiveRho: mirror.RhoRule(c.adaptive_rho), AdaptiveRhoInterval: int(c.adaptive_rho_interval),
		AdaptiveRhoFraction: float64(c.adaptive_rho_fraction), AdaptiveRhoTolerance: float64(c.adaptive_rho_tolerance),
		MaxIterations: int(c.max_iter), EpsAbs: float64(c.eps_abs), EpsRel: float64(c.eps_rel),
		EpsPrimalInfeasible: float64(c.eps_prim_inf), EpsDualInfeasible: float64(c.eps_dual_inf),
		ScaledTermination: c.scaled_termination != 0, CheckTermination: int(c.check_termination), CheckDualGap: c.check_dualgap != 0,
		Delta: float64(c.delta), PolishRefineIter: int(c.polish_refine_iter),
	}
}

func settingsOf(s *mirror.Settings) *C.OSQPSettings {
	c := new(C.OSQPSettings)
	C.osqp_set_default_settings(c)
	c.verbose = 0
	c.warm_starting, c.scaling, c.polishing = flagOf(s.WarmStarting), C.OSQPInt(s.Scaling), flagOf(s.Polishing)
	c.rho, c.rho_is_vec, c.sigma, c.alpha = C.OSQPFloat(s.Rho), flagOf(s.RhoIsVector), C.OSQPFloat(s.Sigma), C.OSQPFloat(s.Alpha)
	c.adaptive_rho, c.adaptive_rho_interval = C.OSQPInt(s.AdaptiveRho), C.OSQPInt(s.AdaptiveRhoInterval)
	c.adaptive_rho_fraction, c.adaptive_rho_tolerance = C.OSQPFloat(s.AdaptiveRhoFraction), C.OSQPFloat(s.AdaptiveRhoTolerance)
	c.max_iter, c.eps_abs, c.eps_rel = C.OSQPInt(s.MaxIterations), C.OSQPFloat(s.EpsAbs), C.OSQPFloat(s.EpsRel)
	c.eps_prim_inf, c.eps_dual_inf = C.OSQPFloat(s.EpsPrimalInfeasible), C.OSQPFloat(s.EpsDualInfeasible)
	c.scaled_termination, c.check_termination, c.check_dualgap = flagOf(s.ScaledTermination), C.OSQPInt(s.CheckTermination), flagOf(s.CheckDualGap)
	if s.TimeLimit > 0 {
		c.time_limit = C.OSQPFloat(s.TimeLimit.Seconds())
	}
	c.delta, c.polish_refine_iter = C.OSQPFloat(s.Delta), C.OSQPInt(s.PolishRefineIter)
	return c
}

func flagOf(b bool) C.OSQPInt {
	if b {
		return 1
	}
	return 0
}

// Info returns what OSQP knows about the last call.
func (s *solver) Info() mirror.Info {
	if s.ptr == nil {
		return mirror.Info{}
	}
	return infoOf(s.ptr.info)
}

func infoOf(c *C.OSQPInfo) mirror.Info {
	seconds := func(v C.OSQPFloat) time.Duration { return time.Duration(float64(v) * float64(time.Second)) }
	return mirror.Info{
		Status: mirror.Status(c.status_val), Text: C.GoString(&c.status[0]), Polish: mirror.PolishStatus(c.status_polish),
		Objective: float64(c.obj_val), DualObjective: float64(c.dual_obj_val),
		PrimalResidual: float64(c.prim_res), DualResidual: float64(c.dual_res), Gap: float64(c.duality_gap),
		Iterations: int(c.iter), RhoUpdates: int(c.rho_updates), RhoEstimate: float64(c.rho_estimate),
		SetupTime: seconds(c.setup_time), SolveTime: seconds(c.solve_time), UpdateTime: seconds(c.update_time), PolishTime: seconds(c.polish_time),
	}
}
