package backends

import "math"

// This file lets solvers ask, while they run, whether a vector is a certificate.

// NearPrimalInfeasible returns what [CheckPrimalInfeasible] finds for z as it is, +Inf where b'z - beta(z) is not
// negative. It panics unless z has length m.
func (j *Judge) NearPrimalInfeasible(z []float64) float64 {
	return residualOf(j.check.primalInfeasible(j.problem(), z, nil))
}

// NearDualInfeasible does the same for x and [CheckDualInfeasible]. It panics unless x has length n.
func (j *Judge) NearDualInfeasible(x []float64) float64 {
	return residualOf(j.check.dualInfeasible(j.problem(), x, nil))
}

func residualOf(found proof, err error) float64 {
	if err != nil {
		return math.Inf(1)
	}
	return found.residual
}

// ProvePrimalInfeasible looks near z for a vector that proves better than z does that no x satisfies the constraints,
// and returns the best one met, in K*, with its residual by [CheckPrimalInfeasible]. It makes A'z zero by the least
// change, relative to the entries of z, and moves z back into K*, in turn, until the residual is at most eps or does
// not fall further. The error says that nothing near z proves anything. It panics unless z has length m.
func (j *Judge) ProvePrimalInfeasible(z []float64, eps float64) (better []float64, residual float64, err error) {
	found, err := j.check.primal(j.problem()).prove(z, eps)
	return found.v, found.residual, err
}

// ProveDualInfeasible does the same for x and [CheckDualInfeasible], by making Px and Ax + s zero, with s in
// the recession cone of K. It panics unless x has length n.
func (j *Judge) ProveDualInfeasible(x []float64, eps float64) (better []float64, residual float64, err error) {
	found, err := j.check.dual(j.problem()).prove(x, eps)
	return found.v, found.residual, err
}
