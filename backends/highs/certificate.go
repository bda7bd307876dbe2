//go:build highs && cgo

package highs

import (
	"github.com/conetune/conetune/backends"
	chighs "github.com/conetune/conetune/internal/cgo/highs"
)

// prove returns a certificate of a quadratic program, which linear programs find, or nil.
func (r *run) prove(info *chighs.Info) *backends.Solution {
	r.proved = true
	n, m := r.Data.Dims()
	ray := make([]float64, max(n, m))
	infeasible := info.Status != chighs.Unbounded
	for range 2 {
		found, err := r.highs.Prove(&r.set, infeasible, ray, r.Stop, r.Left())
		if err != nil {
			r.Drop()
			return nil
		}
		r.Iterations += found.Iterations
		var out *backends.Solution
		switch {
		case found.DualRay:
			out = r.certificate(ray[:m], backends.PrimalInfeasible)
		case found.PrimalRay:
			out = r.certificate(ray[:n], backends.DualInfeasible)
		}
		if out != nil {
			return out
		}
		infeasible = !infeasible
	}
	return nil
}

// certificate returns a certificate that holds, in either direction; else nil.
func (r *run) certificate(ray []float64, claim backends.Status) *backends.Solution {
	if out, excess := r.Certificate(claim, ray, negated(ray)); excess <= 1 {
		return out
	}
	return nil
}
