package native

import "github.com/conetune/conetune/backends"

// warm starts from a given point after Skajaa, Andersen and Ye (2013): the
// point is mixed with the centre of the embedding, x = a x*, s = a s* + (1-a) e,
// z = a z* + (1-a) e, tau = 1, and kappa is the mean of the products s'z. A
// point that meets the tolerance eps is left as it is. It returns false without
// a usable point.
func (it *iterate) warm(pt *backends.Point, set Settings, eps float64) bool {
	f := it.f
	if pt == nil || len(pt.X) != f.n || len(pt.Z) != len(f.user.B) || len(pt.S) != len(f.user.B) {
		return false
	}
	f.contract(*pt, it.x, it.s, it.z)
	if !finite(it.x) || !finite(it.s) || !finite(it.z) {
		return false
	}
	it.tau, it.kappa = 1, 0
	inside := true
	for i, c := range it.cones {
		inside = inside && c.shift(it.of(i, it.s)) <= 0 && c.shift(it.of(i, it.z)) <= 0
	}
	if it.residuals(); inside && it.measure().worst() <= eps {
		return true
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
	return true
}
