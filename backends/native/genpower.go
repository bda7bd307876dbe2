package native

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/dense"
)

// generalizedPower is the cone {(x, z): prod x_i^a_i >= |z|, x >= 0} with weights a of sum 1, or its dual, with the
// scaling of exponential in any dimension. The barrier of the first, on which both are built, is (Chares 2009; of the
// least possible degree k+1 for k weights, Roy and Xiao 2022)
//
//	B(x, z) = -log psi - sum (1 - a_i) log x_i,  psi = P - |z|^2,  P = prod x_i^2a_i,
//
// and (x, z) is in the dual cone exactly if (x_1/a_1, .., x_k/a_k, z) is in the cone. H is
//
//	ss'/s'z + dd'/d'e + G G',  d = s - mu s~,  e = z - mu z~,
//
// where GG' is what the BFGS update of M = mu Hess F*(z) leaves of it beside s and s~: with M = LL', G is L
// without its part in the span of L'z and L'z~.
type generalizedPower struct {
	a        []float64 // the weights
	toZ, toS []float64 // the cone from K* and from K, diagonal
	centre   []float64
	s, z     []float64
	h        []float64 // by rows, as the others
	factor   []float64 // L of the Hessian of F* at z, then G
	now      curvature
	gradient []float64
	within   dense.Within
	seen     struct { // by look, with shadowed
		s, z, gradient []float64
		power, psi     float64
		inside         bool
	}
	walk *walk
	powerWork
}

var _ pathCone = (*generalizedPower)(nil)

// powerWork is work space; shadowed is what shadow found last.
type powerWork struct {
	at, y, g, shadowed, u, v, first, second []float64
}

// generalizedPowers returns the maker of such cones, or of their duals.
func generalizedPowers(dual bool) func([]backends.Cone, dense.Within) func(backends.Cone) cone {
	return func(_ []backends.Cone, within dense.Within) func(backends.Cone) cone {
		return func(c backends.Cone) cone {
			if c.Weights == nil { // a power cone
				c.Weights = []float64{c.Alpha, 1 - c.Alpha}
			}
			return newGeneralizedPower(c, dual, within)
		}
	}
}

// newGeneralizedPower makes the cone of b, or its dual.
func newGeneralizedPower(b backends.Cone, dual bool, within dense.Within) *generalizedPower {
	n := b.Dim
	slab := make([]float64, powerNumbers(n))
	take := func(n int) (v []float64) {
		v, slab = slab[:n:n], slab[n:]
		return v
	}
	vector, matrix := func() []float64 { return take(n) }, func() []float64 { return take(n * n) }
	c := &generalizedPower{
		a: b.Weights, toZ: vector(), toS: vector(), centre: vector(), s: vector(), z: vector(), gradient: vector(),
		h: matrix(), factor: matrix(), within: within,
		powerWork: powerWork{
			at: vector(), y: vector(), g: vector(), shadowed: vector(), u: vector(), v: vector(),
			first: vector(), second: vector(),
		},
		walk: &walk{vector(), vector(), vector(), vector()},
	}
	c.seen.s, c.seen.z, c.seen.gradient = vector(), vector(), vector()
	for i := range n {
		c.toZ[i], c.toS[i] = 1, 1
	}
	to := c.toZ
	if dual {
		to = c.toS
	}
	for i, a := range c.a {
		to[i] = 1 / a
		c.centre[i] = math.Sqrt(1 + a) // where z = 0, -grad B = (1 + a_i)/x_i
	}
	return c
}

// powerNumbers is how many numbers such a cone of n rows has.
func powerNumbers(n int) int { return 2*n*n + 21*n }

// bytesOfPower is what such a cone takes.
func bytesOfPower(c backends.Cone) (own, shared int64) {
	return 8 * int64(powerNumbers(c.Dim)), 0
}

// inside says whether v, carried to the explicit cone by the diagonal of to, is inside.
func (c *generalizedPower) inside(v, to []float64) bool {
	for i, t := range to {
		c.y[i] = t * v[i]
	}
	_, psi := c.value(c.y)
	return psi > 0
}

func (c *generalizedPower) degree() int { return len(c.a) + 1 }

func (c *generalizedPower) smooth(s, z []float64, mu float64) { follow(c, c.walk, s, z, mu) }

func (c *generalizedPower) solvePlus(v []float64) bool {
	n := len(v)
	for i := range n {
		c.h[i*n+i]++
	}
	if !(gonum.Implementation{}).Dpotrf(blas.Upper, n, c.h, n) || c.within.Stop.Reached(n*n*n) {
		return false
	}
	(gonum.Implementation{}).Dpotrs(blas.Upper, n, 1, c.h, n, v, 1)
	return true
}

func (c *generalizedPower) onPath(z []float64, mu float64) {
	c.now = c.curvature(c.gradientAt(z, c.gradient))
	c.factorHessian()
	c.square(mu)
}

func (c *generalizedPower) addUnit(v []float64, a float64) { axpy(a, c.centre, v) }

// shift returns the smallest a for which v + a e is in both K and K*, rounded up.
func (c *generalizedPower) shift(v []float64) float64 {
	return shiftInside(dense.MaxAbs(v), func(a float64) bool {
		copy(c.at, v)
		axpy(a, c.centre, c.at)
		return c.inside(c.at, c.toS) && c.inside(c.at, c.toZ)
	})
}

// look computes what central and scale ask of a pair, or takes it from the last look: scale comes to the pair that
// central saw last.
func (c *generalizedPower) look(s, z []float64) bool {
	if p := &c.seen; !slices.Equal(p.s, s) || !slices.Equal(p.z, z) {
		copy(p.s, s)
		copy(p.z, z)
		p.power, p.psi = c.gradientAt(z, p.gradient)
		p.inside = p.psi > 0 && c.shadow(s)
	}
	return c.seen.inside
}

func (c *generalizedPower) scale(s, z []float64) bool {
	if !c.look(s, z) {
		return false
	}
	copy(c.s, s)
	copy(c.z, z)
	nu := float64(c.degree())
	mu := dot(s, z) / nu
	if apart := -mu*dot(c.seen.gradient, c.shadowed)/nu - 1; apart > centralEnough {
		copy(c.gradient, c.seen.gradient)
		for i, t := range c.toZ {
			c.y[i] = t * z[i]
		}
		c.now = c.curvature(c.seen.power, c.seen.psi)
		c.factorHessian()
		c.update(mu, nu, apart)
	} else {
		c.onPath(z, mu)
	}
	return true
}

// square writes H = mu LL'.
func (c *generalizedPower) square(mu float64) {
	n := len(c.z)
	for i := range n {
		if c.within.Stop.Reached(n * i) {
			return
		}
		for j := range i + 1 {
			v := mu * dot(c.factor[i*n:i*n+n], c.factor[j*n:j*n+n])
			c.h[i*n+j], c.h[j*n+i] = v, v
		}
	}
}

// update writes H for a pair away from the central path, with G in the place of L.
func (c *generalizedPower) update(mu, nu, apart float64) {
	n := len(c.z)
	c.ofZ(c.first)
	c.direction(c.second, c.shadowed)
	normalise(c.first)
	for range 2 { // twice, for the digits
		axpy(-dot(c.first, c.second), c.first, c.second)
		normalise(c.second)
	}
	for i := range n {
		row := c.factor[i*n : i*n+n]
		axpy(-dot(row, c.first), c.first, row)
		axpy(-dot(row, c.second), c.second, row)
	}
	c.square(mu)
	d := c.u // s - mu s~
	for i, g := range c.gradient {
		d[i] = c.s[i] + mu*g
	}
	along, across := 1/(nu*mu), 1/(nu*mu*apart)
	for i := range n {
		row := c.h[i*n : i*n+n]
		axpy(along*c.s[i], c.s, row)
		axpy(across*d[i], d, row)
	}
}

// direction writes L'v into out.
func (c *generalizedPower) direction(out, v []float64) {
	n := len(v)
	clear(out)
	for i, x := range v {
		axpy(x, c.factor[i*n:i*n+n], out)
	}
}

// normalise gives v the length one.
func normalise(v []float64) { dense.Scale(v, 1/norm2(v)) }

func (c *generalizedPower) mulH(out, v []float64) {
	n := len(v)
	for i := range n {
		out[i] = dot(c.h[i*n:i*n+n], v)
	}
}

func (c *generalizedPower) affine(d, s []float64) { copy(d, s) }

// combined writes d = s + target grad F*(z) - 1/2 F*”'(z)[Hess^-1 ds, dz], as exponential does.
func (c *generalizedPower) combined(d, s, _, ds, dz []float64, target float64) {
	copy(d, s)
	axpy(target, c.gradient, d)
	if dense.MaxAbs(dz) == 0 {
		return
	}
	for i, t := range c.toZ { // Hess F*(z) = toZ Hess B(y) toZ
		c.u[i] = ds[i] / t
		c.v[i] = t * dz[i]
		c.y[i] = t * c.z[i]
	}
	c.solveHessian(c.u)
	c.third(c.g)
	for i, t := range c.toZ {
		d[i] -= t * c.g[i] / 2
	}
}

// step returns a step that stays inside, at most boundaryError short of the longest.
func (c *generalizedPower) step(s, z, ds, dz []float64, limit float64) float64 {
	in := func(v, dv, to []float64, a float64) bool {
		copy(c.at, v)
		axpy(a, dv, c.at)
		return c.inside(c.at, to)
	}
	return stepInside(limit, func(a float64) bool { return in(s, ds, c.toS, a) && in(z, dz, c.toZ, a) })
}

// central says whether the point is in the neighbourhood nu (mu mu~ - 1) <= spread of the central path, with the mu of
// the whole problem. A bound of mu mu~ alone, as for cones of three dimensions, would let a few of many entries go far
// away.
func (c *generalizedPower) central(s, z []float64, mu float64) bool {
	return c.look(s, z) && -mu*dot(c.shadowed, c.seen.gradient)-float64(c.degree()) <= spread
}

// With a spread from 30 to 100 random problems with 3 to 200 weights take the fewest iterations.
const spread = 100

func (c *generalizedPower) block() block { return denseBlock }

func (c *generalizedPower) writeH(w *hWriter) {
	n := len(c.z)
	w.lower(n, func(i, j int) float64 { return c.h[i*n+j] })
}
