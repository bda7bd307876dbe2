package native

import "math"

// exponentialBarrier is that of the exponential cone {(x, y, z): y > 0, y exp(x/y) <= z},
//
//	psi = y log(z/y) - x,  c = (0, 1, 1).
type exponentialBarrier struct{}

func (exponentialBarrier) weights() vec3 { return vec3{0, 1, 1} }

func (exponentialBarrier) inside() vec3 { return vec3{-1, 1, 1} }

func (exponentialBarrier) value(p vec3) float64 {
	if y, z := p[1], p[2]; y > 0 && z > 0 {
		return y*math.Log(z/y) - p[0]
	}
	return 0
}

// gradient: log(z/y) = (psi + x)/y, without another logarithm; the sum loses nothing that psi has not lost.
func (exponentialBarrier) gradient(p vec3, psi float64) vec3 {
	return vec3{-1, (psi+p[0])/p[1] - 1, p[1] / p[2]}
}

func (exponentialBarrier) hessian(p vec3, _ float64) mat3 {
	y, z := p[1], p[2]
	return mat3{{}, {0, -1 / y, 1 / z}, {0, 1 / z, -y / z / z}}
}

func (exponentialBarrier) third(p vec3, _ float64, u, v vec3) vec3 {
	y, z := p[1], p[2]
	yyy, yzz, zzz := 1/y/y, -1/z/z, 2*y/z/z/z
	return vec3{0, yyy*u[1]*v[1] + yzz*u[2]*v[2], yzz*(u[1]*v[2]+u[2]*v[1]) + zzz*u[2]*v[2]}
}

// solve: Hess B = gg'/psi^2 + M with g = (-1, g2), g2 of y and z, where M has no entries of x and, of y and z,
//
//	M^-1 = 1/(2y + psi) [y^2 (y + psi), y^2 z; y^2 z, z^2 (y + psi)].
func (b exponentialBarrier) solve(p vec3, psi float64, v vec3) vec3 {
	y, z := p[1], p[2]
	g := b.gradient(p, psi)
	v1, v2 := v[1]+g[1]*v[0], v[2]+g[2]*v[0]
	own, other := (y+psi)/(2*y+psi), y/(2*y+psi)
	x1, x2 := y*(y*own*v1+z*other*v2), z*(y*other*v1+z*own*v2)
	return vec3{g[1]*x1 + g[2]*x2 + psi*psi*v[0], x1, x2}
}

// duality: -u exp(v/u) <= e w says that (u - v, -u, w) is in the cone.
func (exponentialBarrier) duality() (t, inverse mat3) {
	return mat3{{1, -1, 0}, {-1, 0, 0}, {0, 0, 1}}, mat3{{0, -1, 0}, {-1, -1, 0}, {0, 0, 1}}
}

// conjugate solves
//
//	s1 = -1/psi,  s2 = (log(z/y) - 1)/psi + 1/y,  s3 = (y/psi + 1)/z.
//
// With p = -s1 and w = s3 z / (p y) these become w - 1 + log w = s2/p + 1 + log(s3/p),
// whose right-hand side is positive inside the dual cone and 0 on its boundary, and
// y = 1/(p (w - 1)), z = w/((w - 1) s3), log(z/y) = log(w p/s3), x = y log(z/y) - 1/p.
func (exponentialBarrier) conjugate(s vec3) (vec3, bool) {
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
