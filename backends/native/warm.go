package native

import "github.com/conetune/conetune/backends"

// warmStartMix is the weight of the centre in a warm start: larger is more cautious.
const warmStartMix = 0.01

// warm starts from a given point after Skajaa, Andersen and Ye (2013): the
// point is mixed with the centre of the embedding, x = a x*, s = a s* + (1-a) e,
// z = a z* + (1-a) e, tau = 1, and kappa is the mean of the products s'z. A
// point that meets the tolerance eps is left as it is. It returns false without
// a point that is worth it, and says why.
//
// Of a point without s, that is b - Ax. Without z, its multipliers are estimated, see
// multipliers. Without x there is nothing to begin with.
func (e *embedding) warm(pt *backends.Point, eps float64) (ok bool, why string) {
	f := e.f
	switch {
	case pt == nil || len(e.cones) == 0: // equations alone are solved at the start
		return false, ""
	case pt.X == nil:
		return false, "the warm start was not used, as it has no x"
	}
	whole := backends.Point{X: pt.X, S: pt.S, Z: pt.Z}
	if whole.S == nil {
		whole.S = f.user.Slack(pt.X)
	}
	if whole.Z == nil {
		whole.Z = make([]float64, len(f.user.B))
	}
	f.contract(whole, e.x, e.s, e.z)
	if !finite(e.x) || !finite(e.s) || !finite(e.z) {
		return false, "the warm start was not used, as its numbers are too large"
	}
	if pt.Z == nil && !e.multipliers() {
		return false, "the warm start was not used, as no z was found for its x"
	}
	e.tau, e.kappa = 1, 0
	inside := true
	for i, c := range e.cones {
		inside = inside && c.shift(e.of(i, e.s)) <= 0 && c.shift(e.of(i, e.z)) <= 0
	}
	if e.residuals(); inside && e.measure().worst <= eps {
		return true, ""
	}
	mix := float64(warmStartMix) // not exact, as 1 - mix of a constant would be
	for j := range e.x {
		e.x[j] *= 1 - mix
	}
	for i := range f.zero {
		e.s[i] = 0
		e.z[i] *= 1 - mix
	}
	for i, c := range e.cones {
		for _, v := range [2][]float64{e.of(i, e.s), e.of(i, e.z)} {
			if a := c.shift(v); a > 0 {
				c.addUnit(v, a)
			}
			for r := range v {
				v[r] *= 1 - mix
			}
			c.addUnit(v, mix)
		}
	}
	clear(e.d)
	e.kappa = max(dot(e.s, e.z), mix*mix) / max(e.degree, 1)
	e.residuals()
	if now := e.measure(); !(max(now.primal, now.dual) < worthless) {
		return false, "the warm start was not used, as it is hardly nearer than zero"
	}
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
func (e *embedding) multipliers() bool {
	f := e.f
	if len(e.nonsymmetric) > 0 {
		return false
	}
	for i, c := range e.cones {
		s, z := e.of(i, e.s), e.of(i, e.z)
		copy(e.of(i, e.ds), s)
		if q, ok := c.(inverseCone); ok {
			q.invert(s, z)
		} else {
			c.unit(s, z)
		}
	}
	err := e.rescale()
	e.k.refactor()
	f.mulP(e.rhsX, e.x)
	for j, v := range f.q {
		e.rhsX[j] = -v - e.rhsX[j]
	}
	clear(e.rhsZ)
	if err == nil {
		err = e.k.solve(e.dx, e.z, e.rhsX, e.rhsZ, refined)
	}
	copy(e.s[f.zero:], e.ds[f.zero:])
	return err == nil && !f.stop.Reached(0)
}

// worthless is a residual of points that are not much nearer to a solution than zero, whose residuals are as large as
// the data. On 5 000 update sequences of conicfuzz runs from points with less take 0.97 of the iterations of fresh
// solvers; with 1 in place of 0.3, 1.00.
const worthless = 0.3

// multiplierFloor is the least slack, in the scaled problem, that counts as one.
const multiplierFloor = 1e-4
