package native

import (
	"slices"

	"github.com/conetune/conetune/backends"
)

const (
	// settleSteps is how many directions settle takes at most, and no more once one leaves over worthwhileSettling of the
	// residuals.
	settleSteps        = 3
	worthwhileSettling = 0.5
)

// settle takes what is left of the residuals out of an optimal point: by further directions with the factors at hand,
// along which complementarity stays as it is to first order. In the embedding the residuals fall no faster than mu, and
// x may be outside of constraints that bind at zero by more than inside of them. Residuals that stay contradict each
// other, or belong to a solution far away. The iterate is as before.
func (r *runner) settle(sol *backends.Solution) {
	e, eps := r.embedding, r.options.Eps
	left := r.judge.Unsettled(sol.X, sol.S, sol.Z, eps)
	if left <= 1 || r.iterations == 0 || r.rooted() {
		return
	}
	x, s, z := slices.Clone(e.x), slices.Clone(e.s), slices.Clone(e.z)
	e.dtau, e.dkap = 0, 0
	for range settleSteps {
		clear(e.d)
		if e.newton(1, 1, refined) != nil {
			break
		}
		e.slacks(1)
		a := e.longest()
		if a < 1 {
			a *= stepFraction
		}
		axpy(a, e.dx, e.x)
		axpy(a, e.ds, e.s)
		axpy(a, e.dz, e.z)
		e.residuals()
		better := e.f.expand(e.x, e.s, e.z, e.tau)
		if !r.judge.Optimal(better.X, better.S, better.Z, eps) {
			break
		}
		now := r.judge.Unsettled(better.X, better.S, better.Z, eps)
		if now < left {
			sol.X, sol.S, sol.Z = better.X, better.S, better.Z
		}
		if now <= 1 || !(now < worthwhileSettling*left) {
			break
		}
		left = now
	}
	copy(e.x, x)
	copy(e.s, s)
	copy(e.z, z)
	e.residuals()
}
