package native

import (
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/finite"
)

// load takes a given point with tau = 1. It returns false without one that can be used, and says why. Of a point
// without s, that is b - Ax. Without z, its multipliers are estimated, see multipliers. Without x there is nothing to
// begin with.
func (e *embedding) load(pt *backends.Point) (ok bool, why string) {
	f := e.f
	switch {
	case pt == nil || len(e.cones) == 0: // equations alone are solved at the start
		return false, ""
	case pt.X == nil:
		return false, "the warm start was not used, as it has no x"
	case len(f.decomposed) > 0:
		return false, "the warm start was not used, as a semidefinite cone has become one for each of its cliques"
	}
	whole := backends.Point{X: pt.X, S: pt.S, Z: pt.Z}
	if whole.S == nil {
		whole.S = f.user.Slack(pt.X)
	}
	if whole.Z == nil {
		whole.Z = make([]float64, len(f.user.B))
	}
	f.contract(whole, e.x, e.s, e.z)
	if !finite.Every([][]float64{e.x, e.s, e.z}) {
		return false, "the warm start was not used, as its numbers are too large"
	}
	if pt.Z == nil && !e.multipliers() {
		return false, "the warm start was not used, as no z was found for its x"
	}
	e.tau, e.kappa = 1, 0
	return true, ""
}

// warm starts from the point of load by smoothing (Chen, Goulart and Jones, arXiv 2512.00693, 2025): x = x*, tau = 1,
// and (s, z) is the pair on the central path of mu = kappa with the same difference as (s*, z*). Residuals and mu fall
// alike, so that mu is the largest of the residuals, as measured, of the mean of the products s'z, and of the tolerance
// eps. A point that meets that is left as it is. It returns false for a point that is not worth it, and says why.
func (e *embedding) warm(eps float64) (ok bool, why string) {
	f := e.f
	inside := true
	for _, c := range e.cones {
		s, z := c.of(e.s), c.of(e.z)
		inside = inside && !f.stop.Reached(smoothingWork*len(s)) && c.shift(s) <= 0 && c.shift(z) <= 0
	}
	e.residuals()
	now := e.measure()
	if inside && now.worst <= eps {
		return true, ""
	}
	clear(e.d)
	clear(e.s[:f.zero])
	e.kappa = max(eps, now.primal, now.dual, dot(e.s, e.z)/max(e.degree, 1))
	for round := 1; ; round++ {
		if !e.smooth(e.kappa) {
			return false, ""
		}
		e.residuals()
		now = e.measure()
		left := max(now.primal, now.dual)
		if left <= outlasting*e.kappa || round == smoothings {
			break
		}
		e.kappa = left / outlasting * (left / outlasting / e.kappa) // see outlasting
	}
	if !(max(now.primal, now.dual) < worthless) {
		return false, "the warm start was not used, as it is hardly nearer than zero"
	}
	return true, ""
}

// smooth moves all pairs to the central path of mu; false if the context or the time has ended.
func (e *embedding) smooth(mu float64) bool {
	for _, c := range e.cones {
		s, z := c.of(e.s), c.of(e.z)
		c.smooth(s, z, mu)
		if e.f.stop.Reached(smoothingWork * len(s)) {
			return false
		}
	}
	return true
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
	for _, c := range e.cones {
		s, z := c.of(e.s), c.of(e.z)
		copy(c.of(e.ds), s)
		if q, ok := c.cone.(inverseCone); ok {
			q.invert(s, z)
		} else {
			unit(c.cone, s, z)
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

const (
	// Residuals fall with mu. Where they are more than outlasting times as large, mu would be rounding before they are
	// within the tolerance. Then they are those of s and z both at the boundary, which are as the root of mu, and the mu
	// of which they are outlasting times as large is (left/outlasting)^2/mu.
	outlasting = 100
	smoothings = 2
	// Smoothing takes a nonsymmetric cone some hundred derivatives, a microsecond for each of its rows.
	smoothingWork = 1000
)

// worthless is a residual of points that are not much nearer to a solution than zero, whose residuals are as large as
// the data. Runs from points with less take 0.96 of the iterations of fresh solvers (go run
// ./backends/backendtest/conicfuzz -mode update -mix all -seed 301000001 -n 3000 -scale 0,3,6); with 1 in place of 0.3,
// 1.00.
const worthless = 0.3

// multiplierFloor is the least slack, in the scaled problem, that counts as one.
const multiplierFloor = 1e-4

// smoothing returns the positive s and z with s - z = v and s z = mu, that is s = (v + sqrt(v^2 + 4 mu))/2. In
// symmetric cones that are the eigenvalues; in all cones with a barrier F, s is the proximal step of mu F from v, and z
// = -mu grad F(s).
func smoothing(v, mu float64) (s, z float64) {
	larger := (math.Abs(v) + math.Hypot(v, 2*math.Sqrt(mu))) / 2
	if v > 0 {
		return larger, mu / larger
	}
	return mu / larger, larger
}
