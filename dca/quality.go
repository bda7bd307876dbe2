package dca

import (
	"math"

	"github.com/conetune/conetune/convex"
)

// residual is the dual residual of a subproblem's result on (x, h, t).
type residual struct {
	z iterate
	t float64
}

func (b *subproblem) residual(res *convex.Result) residual {
	r := residual{z: iterate{h: res.DualResidual(b.h)}, t: res.DualResidual(b.t)[0]}
	for _, v := range b.level.X {
		r.z.x = append(r.z.x, res.DualResidual(v))
	}
	return r
}

func (r residual) norm() float64 {
	sum := dot(r.z.h, r.z.h) + r.t*r.t
	for _, x := range r.z.x {
		sum += dot(x, x)
	}
	return math.Sqrt(sum)
}

// distance is the bound |r| + sqrt(rho eps) of the comment on [Result].
func (b *subproblem) distance(res *convex.Result, r residual, z iterate, e evaluation) float64 {
	eps := e.objective - res.DualObjective - dot(r.z.h, z.h) - r.t*e.t
	for i, x := range r.z.x {
		eps -= dot(x, z.x[i])
	}
	return r.norm() + math.Sqrt(b.settings.Rho*math.Max(0, eps))
}

// kkt computes the measures at z; next is the lower level's solution at z.h.
func (b *subproblem) kkt(res *convex.Result, r residual, z iterate, e evaluation, next *lowerSolution) KKT {
	k := KKT{Eta: b.eta(res)}
	rho := b.settings.Rho
	sum := 0.0
	for i, x := range r.z.x {
		for j, v := range x {
			d := v - rho*(z.x[i][j]-b.centre.x[i][j])
			sum += d * d
		}
	}
	for j, v := range r.z.h {
		d := v - rho*(z.h[j]-b.centre.h[j]) + k.Eta*(b.lower.slope[j]-next.slope[j])
		sum += d * d
	}
	k.Gradient = math.Sqrt(sum)
	excess := e.train - next.value - b.settings.Epsilon
	k.Complementarity = k.Eta * math.Abs(excess)
	k.Infeasibility = math.Max(0, excess)
	i := 0
	for _, row := range b.rows {
		for _, mu := range res.Dual(row) {
			k.Complementarity += math.Max(0, mu) * math.Abs(e.rows[i])
			k.Infeasibility = math.Max(k.Infeasibility, e.rows[i])
			i++
		}
	}
	return k
}
