package native

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// exponential is the exponential cone or its dual. F* is the explicit barrier B of the cone C, see point: z is in K*
// exactly if toZ z is in C.
type exponential struct {
	dual      bool
	last, now point // toZ z of the last z, and of that of the last factor
	e         vec3
}

// toDual is Tv, in C exactly if v is in the dual cone: -u exp(v/u) <= e w says that (u - v, -u, w) is in C. T is
// symmetric.
func toDual(v vec3) vec3 { return vec3{v[0] - v[1], -v[0], v[2]} }

// fromDual is T^-1 v.
func fromDual(v vec3) vec3 { return vec3{-v[1], -v[0] - v[1], v[2]} }

// exponentials returns the barriers of such cones, or of their duals.
func exponentials(dual bool) func(backends.Cone) barrier {
	return func(backends.Cone) barrier {
		if dual {
			return &exponential{dual: true, e: vec3{-0.82783839906567869, 0.80510200158479528, 1.290927709856958}}
		}
		return &exponential{e: vec3{-1.051383943750229, 0.55640961860433846, 1.2589678864644602}}
	}
}

// toZ carries K* to C, and is its own transpose.
func (c *exponential) toZ(z vec3) vec3 {
	if c.dual {
		return z
	}
	return toDual(z)
}

// fromZ is the inverse of toZ.
func (c *exponential) fromZ(v vec3) vec3 {
	if c.dual {
		return v
	}
	return fromDual(v)
}

func (c *exponential) degree() int { return 3 }

func (c *exponential) centre() []float64 { return c.e[:] }

func (c *exponential) insideS(s []float64) bool {
	v := vec3(s)
	if c.dual {
		v = toDual(v)
	}
	return value(v) > 0
}

func (c *exponential) insideZ(z []float64) bool { return value(c.toZ(vec3(z))) > 0 }

// gradientAt: that of F* at z is toZ that of B.
func (c *exponential) gradientAt(g, z []float64) bool {
	if !c.last.at(c.toZ(vec3(z))) {
		return false
	}
	v := c.toZ(c.last.gradient())
	copy(g, v[:])
	return true
}

func (c *exponential) shadow(out, s []float64) bool {
	y, ok := conjugate(c.fromZ(vec3(s)))
	v := c.fromZ(y)
	copy(out, v[:])
	return ok
}

// factor: Hess B = gg' + M, see solve, and M has the Cholesky factor of the entries below.
func (c *exponential) factor(l, along []float64) {
	c.now = c.last
	y, z, psi := c.now.y[1], c.now.y[2], c.now.psi
	a, b := math.Sqrt((y+psi)/psi), math.Sqrt((2*y+psi)/(y+psi))
	first, second, third := c.toZ(c.now.slope), c.toZ(vec3{0, a / y, -1 / (psi * z * a) * y}), b/z
	l, along = l[:9], along[:3]
	l[0], l[1], l[2] = first[0], second[0], 0
	l[3], l[4], l[5] = first[1], second[1], 0
	l[6], l[7], l[8] = first[2], second[2], third
	along[0], along[1], along[2] = 1, math.Sqrt(psi/(y+psi)), b
}

func (c *exponential) third(out, ds, dz []float64) {
	v := c.toZ(c.now.third(c.now.solve(c.fromZ(vec3(ds))), c.toZ(vec3(dz))))
	copy(out, v[:])
}

// point is a point of the exponential cone C = {(x, y, z): y > 0, y exp(x/y) <= z} with what the derivatives of its
// barrier share,
//
//	B = -log psi - log y - log z,  psi = y log(z/y) - x.
type point struct {
	y     vec3
	psi   float64
	slope vec3 // of log psi
}

// value returns psi, or a number that is not positive where p is outside of the cone.
func value(p vec3) float64 {
	if y, z := p[1], p[2]; y > 0 && z > 0 {
		return y*math.Log(z/y) - p[0]
	}
	return 0
}

// at makes it the point y; false if that is not inside. The slope has log(z/y) = (psi + x)/y, without another
// logarithm; the sum loses nothing that psi has not lost.
func (p *point) at(y vec3) bool {
	p.y, p.psi = y, value(y)
	if !(p.psi > 0) {
		return false
	}
	p.slope = vec3{-1, (p.psi+y[0])/y[1] - 1, y[1] / y[2]}.times(1 / p.psi)
	return true
}

// gradient returns that of B.
func (p *point) gradient() vec3 { return p.slope.plus(1, vec3{0, 1 / p.y[1], 1 / p.y[2]}).times(-1) }

// third returns the third derivative of B applied to u and v.
func (p *point) third(u, v vec3) vec3 {
	d, y, z := p.slope, p.y[1], p.y[2]
	hyy, hyz := -1/(y*p.psi), 1/(z*p.psi) // the Hessian of psi by psi
	hzz := -y / z / (z * p.psi)
	bend := func(v vec3) vec3 { return vec3{0, hyy*v[1] + hyz*v[2], hyz*v[1] + hzz*v[2]} }
	du, dv, hv := d.dot(u), d.dot(v), bend(v)
	out := hv.times(du).plus(dv, bend(u)).plus(u.dot(hv)-2*du*dv, d)
	yyy, yzz, zzz := 1/y/y/p.psi, -1/z/z/p.psi, 2*y/z/z/z/p.psi
	out[1] -= (yyy+2/y/y/y)*u[1]*v[1] + yzz*u[2]*v[2]
	out[2] -= yzz*(u[1]*v[2]+u[2]*v[1]) + (zzz+2/z/z/z)*u[2]*v[2]
	return out
}

// solve returns Hess B^-1 v, of terms in which nothing cancels near the boundary, where the condition of the Hessian is
// 1/psi^2: Hess B = gg' + M with g the slope, (-1, g2) by psi, and M of y and z alone,
//
//	M^-1 = 1/(2y + psi) [y^2 (y + psi), y^2 z; y^2 z, z^2 (y + psi)].
func (p *point) solve(v vec3) vec3 {
	y, z, psi := p.y[1], p.y[2], p.psi
	g := p.slope.times(psi)
	v1, v2 := v[1]+g[1]*v[0], v[2]+g[2]*v[0]
	own, other := (y+psi)/(2*y+psi), y/(2*y+psi)
	x1, x2 := y*(y*own*v1+z*other*v2), z*(y*other*v1+z*own*v2)
	return vec3{g[1]*x1 + g[2]*x2 + psi*psi*v[0], x1, x2}
}

// conjugate returns the y with -grad B(y) = s; false where s is not inside the dual cone. It solves
//
//	s1 = -1/psi,  s2 = (log(z/y) - 1)/psi + 1/y,  s3 = (y/psi + 1)/z.
//
// With p = -s1 and w = s3 z / (p y) these become w - 1 + log w = s2/p + 1 + log(s3/p),
// whose right-hand side is positive inside the dual cone and 0 on its boundary, and
// y = 1/(p (w - 1)), z = w/((w - 1) s3), log(z/y) = log(w p/s3), x = y log(z/y) - 1/p.
func conjugate(s vec3) (vec3, bool) {
	p := -s[0]
	if !(p > 0 && s[2] > 0) {
		return vec3{}, false
	}
	right := s[1]/p + 1 + math.Log(s[2]/p)
	if !(right > 0) {
		return vec3{}, false
	}
	r := wrightOmega(right)
	l := s[1]/p + 1 - r // log(z/y) = right - r - log(s3/p)
	return vec3{(l/r - 1) / p, 1 / (p * r), (1 + 1/r) / s[2]}, true
}

// wrightOmega returns the r > 0 with r + log(1 + r) = right: 1 + r is the Wright omega function of 1 + right. From its
// series around 0, or the one at infinity, within 2 % the iteration of Fritsch, Shafer and Crowley (1973), of fourth
// order, has all digits after two steps.
func wrightOmega(right float64) float64 {
	r := right * (1.0/2 + right*(1.0/16-right/192))
	if right > 4 {
		l := math.Log1p(right)
		r = right - l + l/(1+right)
	}
	for range newtonSteps {
		left := right - r - math.Log1p(r)
		w := 1 + r
		q := (1 + w) * (1 + w + 2.0/3*left)
		step := left * w / (1 + w) * (q - left/2) / (q - left)
		r += step
		if math.Abs(step) <= omegaEnd*r {
			break
		}
	}
	return r
}

const (
	newtonSteps = 50
	// Newton steps end when the last one was relatively so small: the next error is its square.
	newtonEnd = 1e-12
	// Those of fourth order end when it was relatively so small.
	omegaEnd = 1e-4
)

type vec3 [3]float64

func (v vec3) dot(o vec3) float64 { return v[0]*o[0] + v[1]*o[1] + v[2]*o[2] }

func (v vec3) plus(a float64, o vec3) vec3 {
	return vec3{v[0] + a*o[0], v[1] + a*o[1], v[2] + a*o[2]}
}

func (v vec3) times(a float64) vec3 { return vec3{a * v[0], a * v[1], a * v[2]} }
