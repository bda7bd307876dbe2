package native

import (
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/dense"
)

// exponential is the exponential cone K, or its dual, with a scaling H that maps z to s and z~ to s~ (Tuncel 2001; Dahl
// and Andersen 2021). Here F* is the barrier of K* and F its conjugate, and
//
//	s~ = -grad F*(z),  z~ = -grad F(s),  mu = s'z/3,  mu~ = s~'z~/3,  mu mu~ >= 1.
//
// F* is the explicit barrier of the exponential cone C: z is in K* exactly if toZ z is in C.
type exponential struct {
	toZ, fromZ mat3 // C from K*, and back
	toS        mat3 // C from K
	centre     vec3 // e with e = -grad F*(e)
	h          mat3
	now        point // toZ z
	gradient   vec3  // of F* at z
	seen       sight
	walk       *walk // shared
}

// sight is a point (s, z) with what central and scale ask of it.
type sight struct {
	s, z   vec3
	shadow vec3  // toZ z~
	now    point // toZ z
	inside bool
}

// look computes that, or takes it from the last look: scale comes to the pair that central saw last.
func (c *exponential) look(s, z []float64) *sight {
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

var _ pathCone = (*exponential)(nil)

var identity3 = mat3{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}

// dualOfC is the T with Ty in C exactly if y is in the dual cone: -u exp(v/u) <= e w says that (u - v, -u, w) is in C.
var dualOfC, fromDual = mat3{{1, -1, 0}, {-1, 0, 0}, {0, 0, 1}}, mat3{{0, -1, 0}, {-1, -1, 0}, {0, 0, 1}}

// exponentials returns the maker of such cones, or of their duals, which lie side by side in memory.
func exponentials(dual bool) func([]backends.Cone, dense.Within) func(backends.Cone) cone {
	return func(all []backends.Cone, _ dense.Within) func(backends.Cone) cone {
		one, slab := newExponential(dual), make([]exponential, 0, len(all))
		return func(backends.Cone) cone {
			slab = append(slab, one)
			return &slab[len(slab)-1]
		}
	}
}

func newExponential(dual bool) exponential {
	walk := newWalk(3)
	if dual {
		return exponential{toZ: identity3, fromZ: identity3, toS: dualOfC, walk: walk,
			centre: vec3{-0.82783839906567869, 0.80510200158479528, 1.290927709856958}}
	}
	return exponential{toZ: dualOfC, fromZ: fromDual, toS: identity3, walk: walk,
		centre: vec3{-1.051383943750229, 0.55640961860433846, 1.2589678864644602}}
}

func (c *exponential) smooth(s, z []float64, mu float64) { follow(c, c.walk, s, z, mu) }

func (c *exponential) solvePlus(v []float64) bool {
	for i := range 3 {
		c.h[i][i]++
	}
	x, ok := c.h.solve(vec3(v))
	copy(v, x[:])
	return ok
}

func (c *exponential) onPath(z []float64, mu float64) {
	c.now, _ = c.at(vec3(z))
	c.scaleByHessian(mu)
}

// at returns the point of C that z is; false if it is not inside. The gradient of F* at z is toZ that of B.
func (c *exponential) at(z vec3) (point, bool) { return at(c.toZ.mul(z)) }

// hessian returns that of F* at the point p of C.
func (c *exponential) hessian(p *point) mat3 {
	h := p.hessian()
	h = h.product(&c.toZ)
	return c.toZ.product(&h) // toZ is symmetric
}

// solveHessian returns Hess B^-1 toZ^-1 v at the point of C at hand: toZ Hess F*(z)^-1 v.
func (c *exponential) solveHessian(v vec3) vec3 {
	return c.now.solve(c.fromZ.mul(v))
}

// insideS and insideZ say whether a point is inside K or K*.
func (c *exponential) insideS(s vec3) bool { return value(c.toS.mul(s)) > 0 }
func (c *exponential) insideZ(z vec3) bool { return value(c.toZ.mul(z)) > 0 }

// shadow returns toZ z~ of z~ = -grad F(s), the point where -grad F* is s; false if s is not inside.
func (c *exponential) shadow(s vec3) (vec3, bool) { return conjugate(c.fromZ.mul(s)) }

func (c *exponential) degree() int { return 3 }

func (c *exponential) addUnit(v []float64, a float64) {
	for i, e := range c.centre {
		v[i] += a * e
	}
}

// shift returns the smallest a for which v + a e is in both K and K*, rounded up.
func (c *exponential) shift(v []float64) float64 {
	p := vec3(v)
	return shiftInside(maxAbs(v), func(a float64) bool {
		x := p.plus(a, c.centre)
		return c.insideS(x) && c.insideZ(x)
	})
}

func (c *exponential) scale(s, z []float64) bool {
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
func (c *exponential) scaleByHessian(mu float64) {
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

func (c *exponential) mulH(out, v []float64) {
	x := c.h.mul(vec3(v))
	copy(out, x[:])
}

func (c *exponential) affine(d, s []float64) { copy(d, s) }

// combined writes d = s + target grad F*(z) - 1/2 F*”'(z)[Hess^-1 ds, dz] (Dahl and Andersen 2021).
func (c *exponential) combined(d, s, _, ds, dz []float64, target float64) {
	out := vec3(s).plus(target, c.gradient)
	if vec3(dz) != (vec3{}) {
		t := c.now.third(c.solveHessian(vec3(ds)), c.toZ.mul(vec3(dz)))
		out = out.plus(-0.5, c.toZ.mul(t))
	}
	copy(d, out[:])
}

// step returns a step that stays inside, at most boundaryError short of the longest.
func (c *exponential) step(s, z, ds, dz []float64, limit float64) float64 {
	return stepInside(limit, func(a float64) bool {
		return c.insideS(vec3(s).plus(a, vec3(ds))) && c.insideZ(vec3(z).plus(a, vec3(dz)))
	})
}

// central says whether the point is in the neighbourhood of the central path,
// mu mu~ <= 1/neighbourhood with the mu of the whole problem.
func (c *exponential) central(s, z []float64, mu float64) bool {
	p := c.look(s, z)
	return p.inside && -mu*p.shadow.dot(p.now.gradient())/3*neighbourhood <= 1
}

const neighbourhood = 4e-2

func (c *exponential) block() block { return denseBlock }

func (c *exponential) writeH(w *hWriter) {
	w.lower(3, func(i, j int) float64 { return c.h[i][j] })
}
