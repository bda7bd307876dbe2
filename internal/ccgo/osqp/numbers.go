//go:build osqp_go

package osqp

import (
	"github.com/conetune/conetune/internal/ccgo/osqp/lib"
	mirror "github.com/conetune/conetune/internal/mirror/osqp"
)

// The numbers of the mirror are those of C: a difference is an index out of range.
var same [1]struct{}

var (
	_ = same[mirror.LinearSolverError-lib.EOSQP_LINSYS_SOLVER_INIT_ERROR]
	_ = same[mirror.NonConvexError-lib.EOSQP_NONCVX_ERROR]
	_ = same[mirror.RhoFixed-lib.MOSQP_ADAPTIVE_RHO_UPDATE_DISABLED]
	_ = same[mirror.RhoByIterations-lib.MOSQP_ADAPTIVE_RHO_UPDATE_ITERATIONS]
	_ = same[mirror.RhoByError-lib.MOSQP_ADAPTIVE_RHO_UPDATE_KKT_ERROR]
	_ = same[mirror.Solved-lib.EOSQP_SOLVED]
	_ = same[mirror.SolvedInaccurate-lib.EOSQP_SOLVED_INACCURATE]
	_ = same[mirror.PrimalInfeasible-lib.EOSQP_PRIMAL_INFEASIBLE]
	_ = same[mirror.PrimalInfeasibleInaccurate-lib.EOSQP_PRIMAL_INFEASIBLE_INACCURATE]
	_ = same[mirror.DualInfeasible-lib.EOSQP_DUAL_INFEASIBLE]
	_ = same[mirror.DualInfeasibleInaccurate-lib.EOSQP_DUAL_INFEASIBLE_INACCURATE]
	_ = same[mirror.MaxIterReached-lib.EOSQP_MAX_ITER_REACHED]
	_ = same[mirror.TimeLimitReached-lib.EOSQP_TIME_LIMIT_REACHED]
	_ = same[mirror.NonConvex-lib.EOSQP_NON_CVX]
	_ = same[mirror.SigInt-lib.EOSQP_SIGINT]
	_ = same[mirror.Unsolved-lib.EOSQP_UNSOLVED]
	_ = same[mirror.PolishLinearSystemError-lib.EOSQP_POLISH_LINSYS_ERROR]
	_ = same[mirror.PolishFailed-lib.EOSQP_POLISH_FAILED]
	_ = same[mirror.PolishNotPerformed-lib.EOSQP_POLISH_NOT_PERFORMED]
	_ = same[mirror.PolishSuccess-lib.EOSQP_POLISH_SUCCESS]
	_ = same[mirror.PolishNoActiveSet-lib.EOSQP_POLISH_NO_ACTIVE_SET_FOUND]
)
