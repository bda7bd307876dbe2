//go:build osqp && cgo

package osqp

/*
#include "interrupt.h"
*/
import "C"

import "time"

// Infinity is the size from which on a bound counts as infinite.
const Infinity = 1e30

// Matrix is an OSQPCscMatrix: compressed sparse column, with Ptr of length
// Cols+1 and increasing row indices in each column.
type Matrix struct {
	Rows, Cols int
	Ptr, Ind   []int
	Val        []float64
}

// Data is what osqp_setup takes: minimise 1/2 x'Px + q'x subject to l <= Ax <= u.
type Data struct {
	P *Matrix // upper triangle
	Q []float64
	A *Matrix
	L []float64
	U []float64
}

// RhoRule says when rho is adapted.
type RhoRule int

// The rules that do not look at the clock.
const (
	RhoFixed        RhoRule = C.OSQP_ADAPTIVE_RHO_UPDATE_DISABLED
	RhoByIterations RhoRule = C.OSQP_ADAPTIVE_RHO_UPDATE_ITERATIONS
	RhoByError      RhoRule = C.OSQP_ADAPTIVE_RHO_UPDATE_KKT_ERROR
)

// Settings is an OSQPSettings without its switches for printing, profiling and
// the indirect linear solver.
type Settings struct {
	WarmStarting         bool
	Scaling              int
	Polishing            bool
	Rho                  float64
	RhoIsVector          bool
	Sigma                float64
	Alpha                float64
	AdaptiveRho          RhoRule
	AdaptiveRhoInterval  int
	AdaptiveRhoFraction  float64
	AdaptiveRhoTolerance float64
	MaxIterations        int
	EpsAbs, EpsRel       float64
	EpsPrimalInfeasible  float64
	EpsDualInfeasible    float64
	ScaledTermination    bool
	CheckTermination     int
	CheckDualGap         bool
	// TimeLimit bounds a Solve together with the last update, and the first
	// Solve together with the setup.
	TimeLimit        time.Duration
	Delta            float64
	PolishRefineIter int
}

// DefaultSettings returns what osqp_set_default_settings sets.
func DefaultSettings() Settings {
	var c C.OSQPSettings
	C.osqp_set_default_settings(&c)
	return Settings{
		WarmStarting: c.warm_starting != 0, Scaling: int(c.scaling), Polishing: c.polishing != 0,
		Rho: float64(c.rho), RhoIsVector: c.rho_is_vec != 0, Sigma: float64(c.sigma), Alpha: float64(c.alpha),
		AdaptiveRho: RhoRule(c.adaptive_rho), AdaptiveRhoInterval: int(c.adaptive_rho_interval),
		AdaptiveRhoFraction: float64(c.adaptive_rho_fraction), AdaptiveRhoTolerance: float64(c.adaptive_rho_tolerance),
		MaxIterations: int(c.max_iter), EpsAbs: float64(c.eps_abs), EpsRel: float64(c.eps_rel),
		EpsPrimalInfeasible: float64(c.eps_prim_inf), EpsDualInfeasible: float64(c.eps_dual_inf),
		ScaledTermination: c.scaled_termination != 0, CheckTermination: int(c.check_termination), CheckDualGap: c.check_dualgap != 0,
		Delta: float64(c.delta), PolishRefineIter: int(c.polish_refine_iter),
	}
}

func (s *Settings) mirror() *C.OSQPSettings {
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

// Solution is an OSQPSolution: x and the certificate of dual infeasibility of
// length n, y and the certificate of primal infeasibility of length m. Only
// those that the status promises hold anything.
type Solution struct {
	X, Y                               []float64
	PrimalCertificate, DualCertificate []float64
}

// Status is the status of a solve.
type Status int

// The statuses.
const (
	Solved                     Status = C.OSQP_SOLVED
	SolvedInaccurate           Status = C.OSQP_SOLVED_INACCURATE
	PrimalInfeasible           Status = C.OSQP_PRIMAL_INFEASIBLE
	PrimalInfeasibleInaccurate Status = C.OSQP_PRIMAL_INFEASIBLE_INACCURATE
	DualInfeasible             Status = C.OSQP_DUAL_INFEASIBLE
	DualInfeasibleInaccurate   Status = C.OSQP_DUAL_INFEASIBLE_INACCURATE
	MaxIterReached             Status = C.OSQP_MAX_ITER_REACHED
	TimeLimitReached           Status = C.OSQP_TIME_LIMIT_REACHED
	NonConvex                  Status = C.OSQP_NON_CVX
	SigInt                     Status = C.OSQP_SIGINT
	Unsolved                   Status = C.OSQP_UNSOLVED
)

// PolishStatus says how polishing ended.
type PolishStatus int

// The outcomes of polishing.
const (
	PolishLinearSystemError PolishStatus = C.OSQP_POLISH_LINSYS_ERROR
	PolishFailed            PolishStatus = C.OSQP_POLISH_FAILED
	PolishNotPerformed      PolishStatus = C.OSQP_POLISH_NOT_PERFORMED
	PolishSuccess           PolishStatus = C.OSQP_POLISH_SUCCESS
	PolishNoActiveSet       PolishStatus = C.OSQP_POLISH_NO_ACTIVE_SET_FOUND
)

// Info is an OSQPInfo.
type Info struct {
	Status                                       Status
	Text                                         string // in the words of OSQP
	Polish                                       PolishStatus
	Objective, DualObjective                     float64
	PrimalResidual, DualResidual, Gap            float64
	Iterations, RhoUpdates                       int
	RhoEstimate                                  float64
	SetupTime, SolveTime, UpdateTime, PolishTime time.Duration
}

// Info returns what OSQP knows about the last call.
func (s *Solver) Info() Info {
	if s.ptr == nil {
		return Info{}
	}
	return infoOf(s.ptr.info)
}

func infoOf(c *C.OSQPInfo) Info {
	seconds := func(v C.OSQPFloat) time.Duration { return time.Duration(float64(v) * float64(time.Second)) }
	return Info{
		Status: Status(c.status_val), Text: C.GoString(&c.status[0]), Polish: PolishStatus(c.status_polish),
		Objective: float64(c.obj_val), DualObjective: float64(c.dual_obj_val),
		PrimalResidual: float64(c.prim_res), DualResidual: float64(c.dual_res), Gap: float64(c.duality_gap),
		Iterations: int(c.iter), RhoUpdates: int(c.rho_updates), RhoEstimate: float64(c.rho_estimate),
		SetupTime: seconds(c.setup_time), SolveTime: seconds(c.solve_time), UpdateTime: seconds(c.update_time), PolishTime: seconds(c.polish_time),
	}
}
