package native

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
)

const (
	// A run ends by Newton's method on smoothed complementarity where its error is finishFrom times a tolerance of
	// finishEps or less, and it is tried again where that has fallen by as much.
	finishFrom = 100
	finishEps  = 1e-6
	// The factors stay as long as a step leaves no more than finishLeft of the residuals. From a given point, whose
	// residual is reachable at most, there are reachFactors of them. With the first reachAstray the active constraints
	// may still change, each of the others is to leave no more than reachLeft of the least residuals: else
	// complementarity is not strict. Model predictive control whose bounds become active and inactive, in 0.2 to 0.6 of
	// the cold iterations, and starts from garbage, which cost 2 % of the time then, have chosen them.
	finishLeft   = 0.1
	reachable    = 0.6
	reachFactors = 7
	reachAstray  = 4
	reachLeft    = 0.4
	// The gap of the point that is looked for, as a part of the tolerance.
	finishGap = 0.1
	// Rounding moves pairs of nonsymmetric cones by more than a mu below finishMu does.
	finishMu = 1e-11
)

// reach says whether the solution is found from the point of load at once, see pursue. Else that is as it was.
func (r *runner) reach() bool {
	e := r.embedding
	e.save()
	e.residuals()
	if p := e.measure(); max(p.primal, p.dual) <= reachable {
		r.answer = r.pursue(p, reachFactors)
	}
	if r.answer != nil {
		r.strategy, r.anew = r.embedding, false
		return true
	}
	e.restore()
	e.tau, e.kappa = 1, 0
	return false
}

// finish ends a run whose iterate is near the solution at the point of the central path whose gap is within the
// tolerance, see pursue. The result is nil, and the iterate as before, where that is not found. Points near the path
// may be O(sqrt(mu)) away from the solution along the boundary of a cone that is curved, and points of the path are
// O(mu) away. Programs without such cones gain nothing by it, those with matrices no iterations.
func (r *runner) finish(p progress) *backends.Solution {
	e, o := r.embedding, &r.options
	if len(e.f.blocks) == 0 || len(e.k.matrices) > 0 || r.strategy != strategy(e) || o.Eps > finishEps ||
		!(p.worst <= min(finishFrom*o.Eps, r.watch.finished/finishFrom)) {
		return nil
	}
	r.watch.finished = p.worst
	e.save()
	tau, kappa := e.tau, e.kappa
	for _, v := range [3][]float64{e.x, e.s, e.z} {
		scaleBy(v, 1/tau)
	}
	if sol := r.pursue(p, 1); sol != nil {
		return sol
	}
	e.restore()
	e.tau, e.kappa = tau, kappa
	e.residuals()
	return nil
}

// pursue looks for the point of the central path whose gap is within the tolerance, by Newton's method on smoothed
// complementarity (Chen and Mangasarian 1996): all pairs go to the path with s - z as it is (Chen, Goulart and Jones,
// arXiv 2512.00693), and the residuals that this leaves are taken out, all but refineShare of the larger one. They fall
// quadratically once the right constraints are active, those of an orthant with s < z, and do not if complementarity is
// not strict.
func (r *runner) pursue(p progress, factors int) *backends.Solution {
	e, o := r.embedding, &r.options
	mu := finishGap * o.Eps * max(1, min(math.Abs(p.objective), math.Abs(p.bound))) * e.f.scaling.c / max(1, e.degree)
	if len(e.nonsymmetric) > 0 && !(mu >= finishMu) || slices.ContainsFunc(e.cones, withoutEigenvectors) {
		return nil
	}
	e.tau, e.kappa, e.dtau, e.dkap = 1, mu, 0, 0
	left, least, inside := math.Inf(1), math.Inf(1), false
	for used := 0; ; {
		if !inside && !e.smooth(mu) {
			return nil
		}
		e.residuals()
		now := e.measure()
		if now.worst <= o.Eps {
			sol := e.f.expand(e.x, e.s, e.z, 1)
			if r.judge.Optimal(sol.X, sol.S, sol.Z, o.Eps) && r.judge.Unsettled(sol.X, sol.S, sol.Z, o.Eps) <= 1 {
				return sol
			}
		}
		last := left
		left = max(now.primal, now.dual)
		anew := used == 0 || !(left < finishLeft*last)
		if anew {
			if used == factors || r.iterations >= o.MaxIterations || used >= reachAstray && !(left < reachLeft*least) {
				return nil
			}
			for _, c := range e.cones {
				if _, ok := c.cone.(*nonsymmetric); !ok && !c.scale(c.of(e.s), c.of(e.z)) {
					return nil
				}
			}
			e.k.refactor()
			used++
			r.iterations++
			least = min(least, left)
		}
		clear(e.d)
		to := refined
		to.columns, to.equations = refineShare*left*now.columns, refineShare*left*now.equations
		if e.newton(1, 1, to) != nil {
			return nil
		}
		e.slacks(1)
		primal, dual := e.longest()
		inside = !anew && min(primal, dual) == 1
		axpy(1, e.dx, e.x)
		axpy(1, e.ds, e.s)
		axpy(1, e.dz, e.z)
	}
}

// withoutEigenvectors says whether smoothing changes s - z.
func withoutEigenvectors(c placed) bool {
	m, ok := c.cone.(*semidefinite)
	return ok && m.rows > eigenOrder
}
