package native

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// claims is what is known of certificates.
type claims struct {
	judge                *backends.Judge // of the caller's numbers
	proof                []float64       // a certificate that holds, on the caller's scale
	nearPrimal, nearDual float64         // in an attempt, the least residuals of the vectors looked around
}

// proofs measures how near the iterate is to a certificate, |A'z| for b'z = -1
// and the larger of |Px| and |Ax + s| for q'x = -1, in the scaled variables.
func (it *iterate) proofs() (primal, dual float64) {
	primal, dual = math.Inf(1), math.Inf(1)
	if it.bz < 0 {
		primal = maxAbs(it.atz) / -it.bz
	}
	if it.qx < 0 {
		worst := maxAbs(it.px)
		for i, v := range it.ax {
			worst = max(worst, math.Abs(v+it.s[i]))
		}
		dual = worst / -it.qx
	}
	return primal, dual
}

// infeasible looks for certificates: b'z < 0 with A'z near 0, or q'x < 0 with
// Px and Ax + s near 0. A first look is at the scaled vectors, whose proofs are
// given; what passes it is measured as the caller will measure it, on the caller's data.
func (it *iterate) infeasible(primal, dual, eps float64) backends.Status {
	if primal <= scaledMargin*eps*max(1, maxAbs(it.z)/-it.bz) && it.provesPrimal(it.z, it.atz, eps) {
		return backends.PrimalInfeasible
	}
	if dual <= scaledMargin*eps*max(1, maxAbs(it.x)/-it.qx) {
		for i, v := range it.ax {
			it.rhsZ[i] = v + it.s[i]
		}
		if it.provesDual(it.x, it.rhsZ, eps) {
			return backends.DualInfeasible
		}
	}
	return backends.Unsolved
}

// provesPrimal says whether z, with A'z given, proves that there is no x: on the
// caller's data, and with (A'z)'x far from b'z for all x near the best one
// known. For any feasible x, (A'z)'x <= b'z; where x is large, a small A'z is not enough.
func (it *iterate) provesPrimal(z, atz []float64, eps float64) bool {
	if it.excludesBest(atz, it.best.x, dot(it.f.b, z)) {
		return false
	}
	sol := it.f.expand(it.x, it.s, z, 1)
	it.proof = proven(sol.Z, eps, &it.nearPrimal, it.judge.NearPrimalInfeasible, it.judge.ProvePrimalInfeasible)
	return it.proof != nil
}

// excludesBest says that points as far out as the best one known break a proof with this residual, v being the other
// side of that point and product what the proof is about.
func (it *iterate) excludesBest(residual, v []float64, product float64) bool {
	return it.best.isPoint && credible*dotAbs(residual, v)/it.best.tau > -product
}

// proven returns v, or a vector near it, if that passes as a certificate on the caller's data. The looking around costs
// a factorisation, and is done where v is not far from one and its residual has fallen well below that of the last
// time.
func proven(v []float64, eps float64, last *float64, near func([]float64) float64,
	prove func([]float64, float64) ([]float64, float64, error)) []float64 {
	r := near(v)
	if !(r <= worthALook) || r > eps && r > lookAgain**last {
		return nil
	}
	*last = min(*last, r)
	return nearby(v, eps, prove)
}

// nearby looks around v in any case.
func nearby(v []float64, eps float64, prove func([]float64, float64) ([]float64, float64, error)) []float64 {
	better, r, err := prove(v, eps)
	if err != nil || r > eps {
		return nil
	}
	return better
}

// provesDual says the same of x and the dual. left is Ax + s for some s in the
// cones: for any feasible (u, z), 0 <= q'x + u'Px + z'left.
func (it *iterate) provesDual(x, left []float64, eps float64) bool {
	if it.excludesBest(left, it.best.z, dot(it.f.q, x)) {
		return false
	}
	sol := it.f.expandWith(x, it.s, it.z, 1, 0)
	it.proof = proven(sol.X, eps, &it.nearDual, it.judge.NearDualInfeasible, it.judge.ProveDualInfeasible)
	return it.proof != nil
}

// inconsistent looks at residuals that do not fall, of the rows or of the columns. Where equations contradict each
// other, what no step takes out of them is nearly what A' makes zero, a certificate nearby, for which there is a look
// now and then; likewise for the columns. So is, where the regularised system answers with a multiple of that, the
// direction of the constant right-hand side.
func (e *embedding) inconsistent(primal, dual, look bool, eps float64) backends.Status {
	f, x, z := e.f, e.rhsX, e.rhsZ
	if primal && look {
		clear(z)
		copy(z[:f.zero], e.rz)
		if f.mulAt(x, z); maxAbs(x) < nearlyZero*maxAbs(z) {
			e.proof = nearby(f.expand(e.x, e.s, z, 1).Z, eps, e.judge.ProvePrimalInfeasible)
		}
	}
	if primal && e.proof == nil && e.constant && dot(f.b, e.z2) < 0 {
		f.mulAt(x, e.z2)
		e.provesPrimal(e.z2, x, eps)
	}
	if e.proof != nil {
		return backends.PrimalInfeasible
	}
	if dual && look {
		for j, v := range e.rx {
			x[j] = -v
		}
		if f.mulA(z, x); maxAbs(z) < nearlyZero*maxAbs(x) {
			e.proof = nearby(f.expandWith(x, e.s, e.z, 1, 0).X, eps, e.judge.ProveDualInfeasible)
		}
	}
	if dual && e.proof == nil && e.constant && dot(f.q, e.x2) < 0 {
		f.mulA(z, e.x2)
		e.provesDual(e.x2, z, eps)
	}
	if e.proof != nil {
		return backends.DualInfeasible
	}
	return backends.Unsolved
}

const (
	// How much the scaled measure of a certificate may exceed the exact one.
	scaledMargin = 10
	// How much larger than the best point known the points may be that a certificate
	// excludes. An iterate is a point if tau is not much below kappa.
	credible  = 10
	pointness = 0.01
	// The residual with which a vector is taken for a certificate to be, and how far it must have fallen for another look
	// around it.
	worthALook = 1
	lookAgain  = 0.3
	// The part of residuals that A', or A, leaves of those that may be a certificate, in the scaled problem.
	nearlyZero = 1e-2
)
