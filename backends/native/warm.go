package native

import "github.com/conetune/conetune/backends"

// warm starts from a given point after Skajaa, Andersen and Ye (2013): the
// point is mixed with the centre of the embedding, x = a x*, s = a s* + (1-a) e,
// z = a z* + (1-a) e, tau = 1, and kappa is the mean of the products s'z. A
// point that meets the tolerance eps is left as it is. It returns false without
// a usable point, and says why.
//
// Of a point without s, that is b - Ax. Without z, its multipliers are estimated, see
// multipliers. Without x there is nothing to begin with.
func (it *iterate) warm(pt *backends.Point, set Settings, eps float64) (ok bool, why string) {
	f := it.f
	switch {
	case pt == nil || len(it.cones) == 0: // equations alone are solved at the start
		return false, ""
	case pt.X == nil:
		return false, "the warm start was not used, as it has no x"
	}
	whole := backends.Point{X: pt.X, S: pt.S, Z: pt.Z}
	if whole.S == nil {
		whole.S = f.slack(pt.X)
	}
	if whole.Z == nil {
		whole.Z = make([]float64, len(f.user.B))
	}
	f.contract(whole, it.x, it.s, it.z)
	if !finite(it.x) || !finite(it.s) || !finite(it.z) {
		return false, "the warm start was not used, as its numbers are too large"
	}
	if pt.Z == nil && !it.multipliers() {
		return false, "the warm start was not used, as no z was found for its x"
	}
	it.tau, it.kappa = 1, 0
	inside := true
	for i, c := range it.cones {
		inside = inside && c.shift(it.of(i, it.s)) <= 0 && c.shift(it.of(i, it.z)) <= 0
	}
	if it.residuals(); inside && it.measure().worst() <= eps {
		return true, ""
	}
	mix := set.WarmStartMix
	for j := range it.x {
		it.x[j] *= 1 - mix
	}
	for i := range f.zero {
		it.s[i] = 0
		it.z[i] *= 1 - mix
	}
	for i, c := range it.cones {
		for _, v := range [2][]float64{it.of(i, it.s), it.of(i, it.z)} {
			if a := c.shift(v); a > 0 {
				c.addUnit(v, a)
			}
			for r := range v {
				v[r] *= 1 - mix
			}
			c.addUnit(v, mix)
		}
	}
	clear(it.d)
	it.kappa = max(dot(it.s, it.z), mix*mix) / max(it.degree, 1)
	return true, ""
}

// multipliers estimates z for the x and s at hand: of all z that make the dual residual
// zero, the one with the least sum of (s_i z_i)^2, s being moved inside the cones. That is
// Dikin's estimate (1967) where P = 0; with P, x may move too:
//
//	P dx + A'z = -q - Px,   A dx - S^2 z = 0.
//
// Where x is optimal and its multipliers are unique, these come out, but for the margin by which s
// was moved. For second-order cones S^2 z is H z with the scaling H of s and s^-1; semidefinite ones take S = I.
func (it *iterate) multipliers() bool {
	f := it.f
	if len(it.nonsymmetric) > 0 {
		return false
	}
	for i, c := range it.cones {
		s, z := it.of(i, it.s), it.of(i, it.z)
		copy(it.of(i, it.ds), s)
		if q, ok := c.(inverseCone); ok {
			q.invert(s, z)
		} else {
			c.unit(s, z)
		}
	}
	ok := it.rescale()
	it.k.refactor()
	f.mulP(it.rhsX, it.x)
	for j, v := range f.q {
		it.rhsX[j] = -v - it.rhsX[j]
	}
	clear(it.rhsZ)
	ok = ok && it.k.solve(it.dx, it.z, it.rhsX, it.rhsZ, accuracy{refineTarget, refineTarget})
	copy(it.s[f.zero:], it.ds[f.zero:])
	return ok && !f.stop.Reached(0)
}

// multiplierFloor is the least slack, in the scaled problem, that counts as one.
const multiplierFloor = 1e-4

// slack returns b - Ax on the caller's data.
func (f *form) slack(x []float64) []float64 {
	out := append([]float64(nil), f.user.B...)
	if f.user.A == nil {
		return out
	}
	a := f.user.A.RawMatrix()
	for j, xj := range x {
		if f.stop.Reached(vectorWork + 2*(a.Indptr[j+1]-a.Indptr[j])) {
			break
		}
		for k := a.Indptr[j]; k < a.Indptr[j+1]; k++ {
			out[a.Ind[k]] -= a.Data[k] * xj
		}
	}
	return out
}
