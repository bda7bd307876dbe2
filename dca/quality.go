package dca

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// residual fills in the dual residual of a result on (x, h, t) and its norm, and the gap: phi_k at z less what the
// multipliers and the residual say that it is at least.
func (b *subproblem) residual(out *answer, res *convex.Result) {
	h, t, e := res.DualResidual(b.h), res.DualResidual(b.t)[0], b.evaluate(out.z)
	square := floats.Dot(h, h) + t*t
	out.gap = e.objective - res.DualObjective - floats.Dot(h, out.z.h) - t*e.t
	out.dual = iterate{h: h}
	for i, v := range b.level.X {
		x := res.DualResidual(v)
		square += floats.Dot(x, x)
		out.gap -= floats.Dot(x, out.z.x[i])
		out.dual.x = append(out.dual.x, x)
	}
	out.norm = math.Sqrt(square)
}

// distance is the bound |r| + sqrt(rho eps) of the comment on [Result].
func (a *answer) distance(rho float64) float64 { return a.norm + math.Sqrt(rho*math.Max(0, a.gap)) }

// kkt computes the measures at the point of an answer; next is the lower level's solution at its h.
func (b *subproblem) kkt(res *answer, e evaluation, next *Solution) KKT {
	k, z, rho := KKT{Eta: res.eta}, res.z, b.settings.Rho
	sum := 0.0
	if res.dual.x == nil {
		sum = rho * rho * b.joint.squaredX(z.x, b.centre.x)
	} else {
		for i, x := range z.x {
			for j, v := range x {
				d := res.dual.x[i][j] - rho*(v-b.centre.x[i][j])
				sum += d * d
			}
		}
	}
	for j, v := range z.h {
		d := k.Eta*(b.lower.slope[j]-next.slope[j]) - rho*(v-b.centre.h[j])
		if res.dual.h != nil {
			d += res.dual.h[j]
		}
		sum += d * d
	}
	k.Gradient = math.Sqrt(sum)
	excess := e.train - next.Value - b.settings.Epsilon
	k.Complementarity = k.Eta * math.Abs(excess)
	k.Infeasibility = math.Max(0, excess)
	for i, mu := range res.mu {
		k.Complementarity += math.Max(0, mu) * math.Abs(e.rows[i])
		k.Infeasibility = math.Max(k.Infeasibility, e.rows[i])
	}
	return k
}

// accept bounds the residuals with which a solve that missed its tolerances is
// still used; the result then says "inaccurate".
const accept = 1e-4

// Nearly times Eps is the residual up to which a solve that missed its tolerance counts as accurate. Near the end
// subproblems with a large penalty are degenerate, and their last digit may be out of reach.
const Nearly = 10

// usable says whether a conic result has a point to go on with.
func usable(res *convex.Result) bool {
	switch res.Status {
	case backends.Optimal:
		return true
	case backends.Inaccurate, backends.IterationLimit:
		return res.Residuals.Max() <= accept // false for NaN
	}
	return false
}

// squaredDistance is |a - b|^2 over x and h.
func (j *joint) squaredDistance(a, b iterate) float64 {
	return j.squaredX(a.x, b.x) + squared(a.h, b.h)
}

// squaredX is |a - b|^2 over x.
func (j *joint) squaredX(a, b [][]float64) float64 {
	sum := 0.0
	if j.compact() {
		first, second := j.each(a), j.each(b)
		for t, f := range j.parts {
			sum += f.Traits().Distance(first[t], second[t])
		}
		return sum
	}
	for i := range a {
		sum += squared(a[i], b[i])
	}
	return sum
}

func squared(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		d := v - b[i]
		sum += d * d
	}
	return sum
}

// relativeStep is |z - zk| / sqrt(1 + |zk|^2).
func (j *joint) relativeStep(z, zk iterate) float64 {
	return math.Sqrt(j.squaredDistance(z, zk) / j.size(zk))
}

// size is 1 + |z|^2.
func (j *joint) size(z iterate) float64 {
	sum := 1 + floats.Dot(z.h, z.h)
	if j.compact() {
		return sum + j.squaredX(z.x, j.zeros())
	}
	for _, x := range z.x {
		sum += floats.Dot(x, x)
	}
	return sum
}
