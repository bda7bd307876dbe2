package native

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// claims is what is known of certificates.
type claims struct {
	judge                *backends.Judge // of the caller's numbers
	proof                []float64       // a certificate that holds, on the caller's scale
	nearPrimal, nearDual float64         // the least residuals of the vectors around which one was looked for
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
	sol := it.f.expand(x, it.s, it.z, 1)
	it.proof = proven(sol.X, eps, &it.nearDual, it.judge.NearDualInfeasible, it.judge.ProveDualInfeasible)
	return it.proof != nil
}

// inconsistent looks at the direction of the constant right-hand side. Where
// the equations alone contradict each other, the regularised system answers
// with a multiple, as large as 1/staticRegularisation, of the part of b outside
// the range of A, which is a certificate; likewise for q. The iterate itself is
// then drowned in the rounding of that multiple. A certificate found becomes the iterate.
func (e *embedding) inconsistent(eps float64) backends.Status {
	if !e.constant {
		return backends.Unsolved
	}
	// The differences x2, z2 from the iterate have small residuals: with P = 0,
	// A'z2 = -rx/tau.
	if maxAbs(e.z2) > suspicious*(1+maxAbs(e.z)/e.tau) {
		e.f.mulAt(e.rhsX, e.z2)
		if dot(e.f.b, e.z2) < 0 && e.provesPrimal(e.z2, e.rhsX, eps) {
			return backends.PrimalInfeasible
		}
	}
	if maxAbs(e.x2) > suspicious*(1+maxAbs(e.x)/e.tau) {
		e.f.mulA(e.rhsZ, e.x2)
		if dot(e.f.q, e.x2) < 0 && e.provesDual(e.x2, e.rhsZ, eps) {
			return backends.DualInfeasible
		}
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
	// How much larger than the iterate the constant direction must be for it to
	// be looked at as a certificate.
	suspicious = 1e4
	// The residual with which a vector is taken for a certificate to be, and how far it must have fallen for another look
	// around it.
	worthALook = 1
	lookAgain  = 0.3
)
