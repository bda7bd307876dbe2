package native

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// infeasible looks for certificates: b'z < 0 with A'z near 0, or q'x < 0 with
// Px and Ax + s near 0. A first look is at the scaled vectors; what passes it is
// measured as the caller will measure it, on the caller's data.
func (it *iterate) infeasible(eps float64) backends.Status {
	if it.bz < 0 && maxAbs(it.atz) <= loose*eps*max(-it.bz, maxAbs(it.z)) {
		sol := it.f.expand(it.x, it.s, it.z, 1)
		if r, err := backends.CheckPrimalInfeasible(it.f.user, sol.Z); err == nil && r <= eps {
			return backends.PrimalInfeasible
		}
	}
	if it.qx < 0 {
		worst := maxAbs(it.px)
		for i, v := range it.ax {
			worst = max(worst, math.Abs(v+it.s[i]))
		}
		if worst <= loose*eps*max(-it.qx, maxAbs(it.x)) {
			sol := it.f.expand(it.x, it.s, it.z, 1)
			if r, err := backends.CheckDualInfeasible(it.f.user, sol.X); err == nil && r <= eps {
				return backends.DualInfeasible
			}
		}
	}
	return it.inconsistent(eps)
}

// inconsistent looks at the direction of the constant right-hand side. Where
// the equations alone contradict each other, the regularised system answers
// with a multiple, as large as 1/staticRegularisation, of the part of b outside
// the range of A, which is a certificate; likewise for q. The iterate itself is
// then drowned in the rounding of that multiple. A certificate found becomes the iterate.
func (it *iterate) inconsistent(eps float64) backends.Status {
	if !it.constant {
		return backends.Unsolved
	}
	// The differences x2, z2 from the iterate have small residuals: with P = 0,
	// A'z2 = -rx/tau.
	if maxAbs(it.z2) > suspicious*(1+maxAbs(it.z)/it.tau) {
		copy(it.dz, it.z2)
		if dot(it.f.b, it.dz) < 0 {
			sol := it.f.expand(it.x, it.s, it.dz, 1)
			if r, err := backends.CheckPrimalInfeasible(it.f.user, sol.Z); err == nil && r <= eps {
				copy(it.z, it.dz)
				return backends.PrimalInfeasible
			}
		}
	}
	if maxAbs(it.x2) > suspicious*(1+maxAbs(it.x)/it.tau) {
		copy(it.dx, it.x2)
		if dot(it.f.q, it.dx) < 0 {
			sol := it.f.expand(it.dx, it.s, it.z, 1)
			if r, err := backends.CheckDualInfeasible(it.f.user, sol.X); err == nil && r <= eps {
				copy(it.x, it.dx)
				it.f.mulA(it.s, it.x)
				for i, v := range it.s {
					it.s[i] = -v
				}
				return backends.DualInfeasible
			}
		}
	}
	return backends.Unsolved
}

const (
	// How much the scaled measure of a certificate may exceed the exact one.
	loose = 1e3
	// How much larger than the iterate the constant direction must be for it to
	// be looked at as a certificate.
	suspicious = 1e4
)
