package native

import "github.com/conetune/conetune/backends"

// settle takes what is left of the residuals out of an optimal point: by one more direction with the factors at hand, along which complementarity
// stays as it is to first order. In the embedding the residuals fall no faster than mu, and x may be outside of constraints that bind at
// zero by more than inside of them.
func (r *runner) settle(sol *backends.Solution) {
	e := r.embedding
	if sol.Status != backends.Optimal || r.strategy != strategy(e) || !e.constant {
		return
	}
	e.dtau, e.dkap = 0, 0
	clear(e.d)
	if e.newton(1, 1, e.target) != nil {
		return
	}
	e.slacks(1)
	if e.longest() < 1 {
		return
	}
	axpy(1, e.x, e.dx)
	axpy(1, e.s, e.ds)
	axpy(1, e.z, e.dz)
	better, eps := e.f.expand(e.dx, e.ds, e.dz, e.tau), r.options.Eps
	if last := e.judge.Excess(sol.X, sol.S, sol.Z, eps); e.judge.Excess(better.X, better.S, better.Z, eps) < last {
		sol.X, sol.S, sol.Z = better.X, better.S, better.Z
	}
}
