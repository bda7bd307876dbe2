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

// excess is phi_k at z less what the multipliers and the dual residual say that it is at least.
func (r residual) excess(z iterate, e evaluation, dual float64) float64 {
	eps := e.objective - dual - dot(r.z.h, z.h) - r.t*e.t
	for i, x := range r.z.x {
		eps -= dot(x, z.x[i])
	}
	return eps
}

// distance is the bound |r| + sqrt(rho eps) of the comment on [Result].
func (b *subproblem) distance(res *answer, z iterate) float64 {
	return res.dual.norm() + math.Sqrt(b.settings.Rho*math.Max(0, res.gap))
}

// kkt computes the measures at z; next is the lower level's solution at z.h.
func (b *subproblem) kkt(res *answer, z iterate, e evaluation, next *lowerSolution) KKT {
	k := KKT{Eta: res.eta}
	rho := b.settings.Rho
	sum := 0.0
	if res.dual.z.x == nil {
		sum = rho * rho * b.joint.squaredX(z.x, b.centre.x)
	} else {
		for i, x := range z.x {
			for j, v := range x {
				d := res.dual.z.x[i][j] - rho*(v-b.centre.x[i][j])
				sum += d * d
			}
		}
	}
	for j, v := range z.h {
		d := k.Eta*(b.lower.slope[j]-next.slope[j]) - rho*(v-b.centre.h[j])
		if res.dual.z.h != nil {
			d += res.dual.z.h[j]
		}
		sum += d * d
	}
	k.Gradient = math.Sqrt(sum)
	excess := e.train - next.value - b.settings.Epsilon
	k.Complementarity = k.Eta * math.Abs(excess)
	k.Infeasibility = math.Max(0, excess)
	for i, mu := range res.mu {
		k.Complementarity += math.Max(0, mu) * math.Abs(e.rows[i])
		k.Infeasibility = math.Max(k.Infeasibility, e.rows[i])
	}
	return k
}
