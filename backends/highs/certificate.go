//go:build highs && cgo

package highs

import (
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/scaling"
	chighs "github.com/conetune/conetune/internal/cgo/highs"
)

// prove returns a certificate of a quadratic program, which linear programs find, or nil.
func (r *run) prove(info *chighs.Info, interrupt *chighs.Interrupt) *backends.Solution {
	r.proved = true
	n, m := r.data.Dims()
	ray := make([]float64, max(n, m))
	infeasible := info.Status != chighs.Unbounded
	for range 2 {
		limit := time.Duration(0)
		if r.limit > 0 {
			limit = max(r.limit-time.Since(r.begin), time.Nanosecond)
		}
		found, err := r.highs.Prove(&r.set.Settings, infeasible, ray, interrupt, limit)
		if err != nil {
			r.drop()
			return nil
		}
		r.iterations += found.Iterations
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

// certificate returns a certificate that holds, in either direction, as it is or without its rounding; else nil.
func (r *run) certificate(ray []float64, claim backends.Status) *backends.Solution {
	for _, v := range [][]float64{slices.Clone(ray), negated(ray), scaling.Clean(ray), negated(scaling.Clean(ray))} {
		out := &backends.Solution{Status: claim}
		var residual float64
		var err error
		if claim == backends.PrimalInfeasible {
			r.scale.Unscale(nil, nil, v)
			v, residual, err = r.judge.ProvePrimalInfeasible(v, r.options.EpsInfeasible)
			out.Z = v
		} else {
			r.scale.Unscale(v, nil, nil)
			v, residual, err = r.judge.ProveDualInfeasible(v, r.options.EpsInfeasible)
			out.X = v
		}
		if err == nil && residual <= r.options.EpsInfeasible {
			return out
		}
	}
	return nil
}
