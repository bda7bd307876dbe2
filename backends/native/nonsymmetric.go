package native

import (
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/dense"
)

// nonsymmetric is an exponential or a power cone K, or the dual of one, with a
// scaling H that maps z to s and z~ to s~ (Tuncel 2001; Dahl and Andersen 2021). Here F* is the
// barrier of K* and F its conjugate, and
//
//	s~ = -grad F*(z),  z~ = -grad F(s),  mu = s'z/3,  mu~ = s~'z~/3,  mu mu~ >= 1.
//
// F* is the explicit barrier of one cone C: z is in K* exactly if toBarrier z is in C.
type nonsymmetric struct {
	b          barrier
	toZ, fromZ mat3 // C from K*, and back
	toS        mat3 // C from K
	centre     vec3 // e with e = -grad F*(e)
	h          mat3
	now        point // toZ z
	gradient   vec3  // of F* at z
	seen       sight
}

// sight is a point (s, z) with what central and scale ask of it.
type sight struct {
	s, z   vec3
	shadow vec3  // toZ z~
	now    point // toZ z
	inside bool
}

// look computes that, or takes it from the last look: scale comes to the pair that central saw last.
func (c *nonsymmetric) look(s, z []float64) *sight {
	p := &c.seen
	if p.s != vec3(s) || p.z != vec3(z) {
		var okS, okZ bool
		p.s, p.z = vec3(s), vec3(z)
		p.shadow, okS = c.shadow(p.s)
		p.now, okZ = c.at(p.z)
		p.inside = okS && okZ
	}
	return p
}

var _ pathCone = (*nonsymmetric)(nil)

var identity3 = mat3{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}

// nonsymmetrics returns the maker of the cones of a barrier that depends on the exponent alone, or of their duals. They
// lie side by side in memory, and those of one exponent are made once.
func nonsymmetrics(b func(alpha float64) barrier, dual bool) func([]backends.Cone,
	dense.Within) func(backends.Cone) cone {
	return func(all []backends.Cone, _ dense.Within) func(backends.Cone) cone {
		made, slab := map[float64]*nonsymmetric{}, make([]nonsymmetric, 0, len(all))
		return func(c backends.Cone) cone {
			first := made[c.Alpha]
			if first == nil {
				first = newNonsymmetric(b(c.Alpha), dual)
				made[c.Alpha] = first
			}
			slab = append(slab, *first)
			return &slab[len(slab)-1]
		}
	}
}

// newNonsymmetric makes the cone of b, or its dual.
func newNonsymmetric(b barrier, dual bool) *nonsymmetric {
	t, inverse := b.duality()
	c := &nonsymmetric{b: b, toZ: t, fromZ: inverse, toS: identity3}
	if dual {
		c.toZ, c.fromZ, c.toS = identity3, identity3, t
	}
	c.centre = c.proximal(c.fromZ.mul(b.inside()), vec3{})
	return c
}

// proximal minimises F*(z) + |z|^2/2 + v'z from a point inside, or goes towards the minimum where that is so far away
// that newtonSteps are too few.
func (c *nonsymmetric) proximal(z, v vec3) vec3 {
	slope := func(z vec3) (vec3, bool) {
		p, ok := c.at(z)
		return c.toZ.mul(p.gradient()).plus(1, z).plus(1, v), ok
	}
	last := math.Inf(1)
	for range newtonSteps {
		p, _ := c.at(z)
		g, h := c.toZ.mul(p.gradient()).plus(1, z).plus(1, v), c.hessian(&p)
		for i := range 3 {
			h[i][i]++
		}
		step, ok := h.solve(g)
		decrement := g.dot(step)
		if !ok || converged(decrement, last) {
			break
		}
		last = decrement
		z = z.plus(-downhill(func(a float64) bool {
			g, ok := slope(z.plus(-a, step))
			return ok && g.dot(step) >= -decrement/2
		}), step)
	}
	return z
}

// converged says, by the squared decrements of a step and of the last one, that Newton's method ends: from a decrement
// of 1/4 on a step leaves less than half of it, (l/(1 - l))^2 of l, but for rounding, which is as large as the point.
func converged(decrement, last float64) bool {
	return !(decrement > newtonEnd*newtonEnd) || last < 1.0/16 && decrement > last/4
}

// downhill halves the step of Newton's method until it ends well: inside, where the slope is not up by half of what it
// was down at the begin. In self-concordant functions 1/(1 + decrement) does.
func downhill(well func(a float64) bool) float64 {
	a := 1.0
	for range halvings {
		if well(a) {
			break
		}
		a /= 2
	}
	return a
}

const halvings = 60

// smooth follows the central path of the pairs with this difference: from near it, where multiples of e lead at last,
// by primal-dual steps, for which mu may be far below the distances from the boundary.
func (c *nonsymmetric) smooth(s, z []float64, mu float64) {
	own := dot(s, z) / 3
	for a := math.Sqrt(max(mu, math.Abs(own))); !c.central(s, z, own) && a <= math.MaxFloat64; a *= 2 {
		c.addUnit(s, a)
		c.addUnit(z, a)
		own = dot(s, z) / 3
	}
	var d, none vec3
	last := math.Inf(1)
	for range newtonSteps {
		if !c.scale(s, z) {
			return
		}
		target := max(mu, smoothingFactor*own)
		c.combined(d[:], s, z, none[:], none[:], target)
		for i := range 3 {
			c.h[i][i]++
		}
		step, ok := c.h.solve(d) // ds = dz: (H + I) dz = -d
		if !ok {
			return
		}
		size := d.dot(step) / target
		step = step.times(-1)
		a := c.step(s, z, step[:], step[:], 1)
		if a < 1 {
			a *= stepFraction
		}
		for ; a >= smoothingStep; a *= backtrack {
			onS, onZ := vec3(s).plus(a, step), vec3(z).plus(a, step)
			if own = onS.dot(onZ) / 3; c.central(onS[:], onZ[:], own) {
				copy(s, onS[:])
				copy(z, onZ[:])
				break
			}
		}
		if a < smoothingStep || target == mu && (size <= smoothingEnd*smoothingEnd || converged(size, last)) {
			break
		}
		last = size
	}
	c.now, _ = c.at(vec3(z))
	c.scaleByHessian(mu)
}

const (
	// A step of smoothing lowers mu by smoothingFactor at most, which leaves the pair near the path. Where it is cut below
	// smoothingStep nevertheless, mu is rounding. The last one is below smoothingEnd, of which the square is left.
	smoothingFactor = 0.1
	smoothingStep   = 0.01
	smoothingEnd    = 1e-4
)

// at returns the point of C that z is; false if it is not inside. The gradient of F* at z is toZ that of B.
func (c *nonsymmetric) at(z vec3) (point, bool) { return at(c.b, c.toZ.mul(z)) }

// hessian returns that of F* at the point p of C.
func (c *nonsymmetric) hessian(p *point) mat3 {
	h := p.hessian(c.b)
	h = h.product(&c.toZ)
	return c.toZ.product(&h) // toZ is symmetric
}

// solveHessian returns Hess B^-1 toZ^-1 v at the point of C at hand: toZ Hess F*(z)^-1 v.
func (c *nonsymmetric) solveHessian(v vec3) vec3 {
	return c.b.solve(c.now.y, c.now.psi, c.fromZ.mul(v))
}

// insideS and insideZ say whether a point is inside K or K*.
func (c *nonsymmetric) insideS(s vec3) bool { return c.b.value(c.toS.mul(s)) > 0 }
func (c *nonsymmetric) insideZ(z vec3) bool { return c.b.value(c.toZ.mul(z)) > 0 }

// shadow returns toZ z~ of z~ = -grad F(s), the point where -grad F* is s; false if s is not inside.
func (c *nonsymmetric) shadow(s vec3) (vec3, bool) { return c.b.conjugate(c.fromZ.mul(s)) }

func (c *nonsymmetric) degree() int { return 3 }

func (c *nonsymmetric) addUnit(v []float64, a float64) {
	for i, e := range c.centre {
		v[i] += a * e
	}
}

// shift returns the smallest a for which v + a e is in both K and K*, rounded up.
func (c *nonsymmetric) shift(v []float64) float64 {
	p := vec3(v)
	return shiftInside(maxAbs(v), func(a float64) bool {
		x := p.plus(a, c.centre)
		return c.insideS(x) && c.insideZ(x)
	})
}

// shiftInside returns the smallest a with in(a), rounded up, for a point with entries of the given size.
func shiftInside(size float64, in func(a float64) bool) float64 {
	if !(size <= math.MaxFloat64) {
		return math.NaN()
	}
	lo, hi := -2*size, size+1e-300
	for !in(hi) {
		lo = hi
		hi *= 2
		if math.IsInf(hi, 1) {
			return hi
		}
	}
	for range shiftSteps {
		if mid := (lo + hi) / 2; in(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// shiftSteps bisections leave 1e-9 of the size of the point.
const shiftSteps = 30

func (c *nonsymmetric) scale(s, z []float64) bool {
	p := c.look(s, z)
	if c.now = p.now; !p.inside {
		return false
	}
	sv, zv, yt, g := p.s, p.z, p.shadow, p.now.gradient()
	c.gradient = c.toZ.mul(g)
	mu := sv.dot(zv) / 3
	// H = ss'/s'z + dd'/d'e + t aa' with d = s - mu s~, e = z - mu z~, d'e = 3 mu (mu mu~ - 1),
	// and a the unit vector orthogonal to z and z~, where the BFGS update of mu Hess F*(z)
	// leaves t = mu / a' Hess^-1 a.
	apart := -mu*g.dot(yt)/3 - 1
	if apart > centralEnough {
		a := zv.cross(c.fromZ.mul(yt))
		a = orthogonal(a.times(1/math.Sqrt(a.dot(a))), zv)
		t := mu / c.fromZ.mul(a).dot(c.solveHessian(a))
		c.h = mat3{}
		c.h.addOuter(1/(3*mu), sv)
		c.h.addOuter(1/(3*mu*apart), sv.plus(mu, c.gradient))
		c.h.addOuter(t, a)
		if t > 0 && !math.IsInf(t, 1) {
			return true
		}
	}
	c.scaleByHessian(mu)
	return true
}

// scaleByHessian makes H = mu Hess F*(z), which it is on the central path.
func (c *nonsymmetric) scaleByHessian(mu float64) {
	c.h = c.hessian(&c.now)
	for i := range c.h {
		c.h[i] = vec3(c.h[i]).times(mu)
	}
}

// orthogonal returns a with its entries changed, relatively alike, so that a'z = 0: the product of vectors that are
// almost parallel has few digits, and where Hz = s is not kept the step is short.
func orthogonal(a, z vec3) vec3 {
	for range 2 {
		sum, size := 0.0, 0.0
		for i, v := range a {
			sum += v * z[i]
			size += math.Abs(v * z[i])
		}
		for i, v := range a {
			a[i] -= math.Copysign(v, z[i]) * sum / size
		}
	}
	return a
}

// Below centralEnough s and s~, or z and z~, are parallel to within rounding.
const centralEnough = 1e-8

func (c *nonsymmetric) mulH(out, v []float64) {
	x := c.h.mul(vec3(v))
	copy(out, x[:])
}

func (c *nonsymmetric) affine(d, s []float64) { copy(d, s) }

// combined writes d = s + target grad F*(z) - 1/2 F*”'(z)[Hess^-1 ds, dz] (Dahl and Andersen 2021).
func (c *nonsymmetric) combined(d, s, _, ds, dz []float64, target float64) {
	out := vec3(s).plus(target, c.gradient)
	if vec3(dz) != (vec3{}) {
		t := c.now.third(c.b, c.solveHessian(vec3(ds)), c.toZ.mul(vec3(dz)))
		out = out.plus(-0.5, c.toZ.mul(t))
	}
	copy(d, out[:])
}

// step returns a step that stays inside, at most boundaryError short of the longest.
func (c *nonsymmetric) step(s, z, ds, dz []float64, limit float64) float64 {
	return stepInside(limit, func(a float64) bool {
		return c.insideS(vec3(s).plus(a, vec3(ds))) && c.insideZ(vec3(z).plus(a, vec3(dz)))
	})
}

// stepInside returns an a <= limit with in(a), at most boundaryError short of the largest; 0 if that is too short.
func stepInside(limit float64, in func(a float64) bool) float64 {
	if in(limit) {
		return limit
	}
	lo, hi := limit, limit
	for !in(lo) {
		hi = lo
		if lo /= 2; !(lo >= minStep && lo < hi) { // also where the limit is not a number
			return 0
		}
	}
	for hi-lo > boundaryError*hi {
		if mid := (lo + hi) / 2; in(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

const boundaryError = 1e-3

// central says whether the point is in the neighbourhood of the central path,
// mu mu~ <= 1/neighbourhood with the mu of the whole problem.
func (c *nonsymmetric) central(s, z []float64, mu float64) bool {
	p := c.look(s, z)
	return p.inside && -mu*p.shadow.dot(p.now.gradient())/3*neighbourhood <= 1
}

const neighbourhood = 4e-2

func (c *nonsymmetric) block() block { return denseBlock }

func (c *nonsymmetric) writeH(w *hWriter) {
	w.lower(3, func(i, j int) float64 { return c.h[i][j] })
}
