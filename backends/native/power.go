package native

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// power is the cone {(x, z): prod x_i^a_i >= |z|, x >= 0} with k weights a of sum 1, or its dual. The barrier of the
// first, on which both are built, is (Chares 2009; of the least possible degree k+1, Roy and Xiao 2022)
//
//	B(x, z) = -log psi - sum (1 - a_i) log x_i,  psi = P - |z|^2,  P = prod x_i^2a_i,
//
// and (x, z) is in the dual cone exactly if (x_1/a_1, .., x_k/a_k, z) is in the cone. A power cone has two weights.
type power struct {
	a        []float64
	toZ, toS []float64 // the cone from K* and from K, diagonal
	y, g     []float64 // toZ z of the last point, work space
	p, psi   float64   // there
	at       []float64 // toZ z at the last factor
	now      curvature // likewise
	u, v     []float64 // work space
}

// powers returns the barriers of such cones, or of their duals.
func powers(dual bool) func(c backends.Cone) barrier {
	return func(c backends.Cone) barrier {
		b := &power{a: c.Weights}
		if b.a == nil {
			b.a = []float64{c.Alpha, 1 - c.Alpha}
		}
		n := c.Dim
		allocate(n, &b.toZ, &b.toS, &b.y, &b.g, &b.at, &b.u, &b.v)
		for i := range n {
			b.toZ[i], b.toS[i] = 1, 1
		}
		to := b.toZ
		if dual {
			to = b.toS
		}
		for i, a := range b.a {
			to[i] = 1 / a
		}
		return b
	}
}

func (c *power) degree() int { return len(c.a) + 1 }

// centre: where z = 0, -grad B = (1 + a_i)/x_i.
func (c *power) centre() []float64 {
	e := make([]float64, len(c.y))
	for i, a := range c.a {
		e[i] = math.Sqrt(1 + a)
	}
	return e
}

func (c *power) insideS(s []float64) bool { return c.inside(s, c.toS) }
func (c *power) insideZ(z []float64) bool { return c.inside(z, c.toZ) }

// inside says whether v, carried to the explicit cone by the diagonal of to, is inside.
func (c *power) inside(v, to []float64) bool {
	for i, t := range to {
		c.g[i] = t * v[i]
	}
	_, psi := c.value(c.g)
	return psi > 0
}

// value returns P and psi at y; psi is not positive where y is outside.
func (c *power) value(y []float64) (p, psi float64) {
	k := len(c.a)
	sum := 0.0
	for i, a := range c.a {
		if !(y[i] > 0) {
			return 0, 0
		}
		sum += a * math.Log(y[i])
	}
	root, norm := math.Exp(sum), norm2(y[k:])
	return root * root, (root - norm) * (root + norm)
}

// gradientAt: grad psi = (q P, -2 z), q_i = 2 a_i/x_i.
func (c *power) gradientAt(g, z []float64) bool {
	k := len(c.a)
	for i, t := range c.toZ {
		c.y[i] = t * z[i]
	}
	p, psi := c.value(c.y)
	c.p, c.psi = p, psi
	for i, a := range c.a {
		g[i] = -(2*a*p/psi + 1 - a) / c.y[i] * c.toZ[i]
	}
	for i := k; i < len(z); i++ {
		g[i] = 2 * c.y[i] / psi
	}
	return psi > 0
}

// shadow writes z~ = -grad F(s), the point where -grad F* is s:
//
//	x_i = (1 + a_i + a_i g)/s_i,  z = -g s_z/|s_z|^2,
//
// where r = 1/g solves sum 2 a_i log(1 + (1 + a_i)/a_i r) - log(1 + 2r) = sum 2 a_i log(s_i/a_i) - 2 log |s_z|. The
// left side is increasing and concave, 2kr near 0 and at most that, and log r and a constant where r is large.
func (c *power) shadow(out, s []float64) bool {
	k := len(c.a)
	right := 0.0
	for i, a := range c.a {
		x := s[i] / c.toZ[i]
		if !(x > 0) {
			return false
		}
		out[i] = (1 + a) / s[i] // what it is for g = 0; toZ carries there and back
		right += 2 * a * math.Log(x/a)
	}
	norm := norm2(s[k:])
	clear(out[k:])
	if norm == 0 {
		return true
	}
	r, ok := conjugateRoot(right-2*math.Log(norm), k, func(r float64) (value, slope, bend float64) {
		of := 2 / (1 + 2*r)
		value, slope, bend = -math.Log1p(2*r), -of, of*of
		for _, a := range c.a {
			by := (1 + a) / a
			of := by / (1 + by*r)
			value += 2 * a * math.Log1p(by*r)
			slope += 2 * a * of
			bend -= 2 * a * of * of
		}
		return value, slope, bend
	})
	for i, a := range c.a {
		out[i] += a / r / s[i]
	}
	for i := k; i < len(s); i++ {
		out[i] = -s[i] / norm / norm / r
	}
	return ok
}

// conjugateRoot solves left(r) = right, as shadow has it for k weights, from the left by Halley's method, of third
// order, and in log r where that is far. False where the right side is not positive, as outside of the cone, or no
// number.
func conjugateRoot(right float64, k int, left func(r float64) (value, slope, bend float64)) (r float64, ok bool) {
	if !(right > 0) || math.IsInf(right, 1) {
		return 0, false
	}
	least := right / (2 * float64(k))
	r = least
	for range newtonSteps {
		value, slope, bend := left(r)
		step := (right - value) / slope
		if step > r {
			r *= math.Exp(step / r)
			continue
		}
		if turn := step * bend / slope; turn > -1 {
			step /= 1 + turn/2
		}
		last := r
		if r = max(r+step, least); math.Abs(r-last) <= cubicEnd*r {
			break
		}
	}
	return r, r <= math.MaxFloat64
}

// cubicEnd: a method of third order ends when the last step was relatively so small.
const cubicEnd = 1e-5

// curvature is the Hessian of B at y in terms in which nothing cancels near the boundary. With q_i = 2 a_i/x_i, zeta =
// |z|, rho the component along z and D = diag((2 a_i share + 1 - a_i)/x_i^2), share = P/psi, elimination of rho leaves
//
//	Hess B = [I -beta q; 0 1] diag(S, h) [I 0; -beta q' 1],   beta = P zeta/(P + zeta^2),  h = 2 (P + zeta^2)/psi^2,
//	S = D - share theta qq',   theta = zeta^2/(P + zeta^2) = 1/2 - phi,
//
// beside 2/psi for what is orthogonal to z. Further share q'D^-1 q = 2 - kappa with kappa the sum of 2 a_i (1 - a_i)/(2
// a_i share + 1 - a_i), so that S = D^1/2 (I - vv') D^1/2, v = D^-1/2 q (share theta)^1/2, has 1 - |v|^2 = sigma^2 =
// kappa/2 + phi (2 - kappa).
type curvature struct {
	p, psi, share, zeta, beta, h, theta, kappa, sigma float64
}

func (c *power) curvature() (out curvature) {
	out.p, out.psi = c.p, c.psi
	out.share = out.p / out.psi
	out.zeta = norm2(c.y[len(c.a):])
	sum := out.p + out.zeta*out.zeta
	out.beta, out.h, out.theta = out.p*out.zeta/sum, 2*sum/out.psi/out.psi, out.zeta*out.zeta/sum
	for _, a := range c.a {
		out.kappa += 2 * a * (1 - a) / (2*a*out.share + 1 - a)
	}
	out.sigma = math.Sqrt(out.kappa/2 + out.psi/(2*sum)*(2-out.kappa))
	return out
}

// factor: L is, for the curvature at y = toZ z,
//
//	[D^1/2 (I - eta vv')  -beta h^1/2 q e'; 0  h^1/2 ee' + (2/psi)^1/2 (I - ee')],  eta = (1 - sigma)/|v|^2, e = z/|z|.
func (c *power) factor(l, along []float64) {
	c.now = c.curvature()
	copy(c.at, c.y)
	k, n, r := len(c.a), len(c.y), &c.now
	clear(l)
	v, e := c.u[:k], c.u[k:]
	eta := 0.0
	if r.theta > 0 {
		eta = (1 - r.sigma) / (r.theta * (2 - r.kappa))
	}
	root, across := math.Sqrt(r.h), math.Sqrt(2/r.psi)
	for i := range e {
		if e[i] = 0; r.zeta > 0 {
			e[i] = c.y[k+i] / r.zeta
		}
	}
	for i, a := range c.a {
		v[i] = 2 * a * math.Sqrt(r.share*r.theta/(2*a*r.share+1-a))
	}
	for i, a := range c.a {
		row := l[i*n : i*n+n]
		d := c.toZ[i] * math.Sqrt(2*a*r.share+1-a) / c.y[i]
		for j := range k {
			row[j] = -eta * d * v[i] * v[j]
		}
		row[i] += d
		axpy(-r.beta*root*c.toZ[i]*2*a/c.y[i], e, row[k:])
	}
	for i := range e {
		row := l[(k+i)*n+k : (k+i)*n+n]
		axpy((root-across)*e[i], e, row)
		row[i] += across
	}
	c.ofZ(along)
}

// ofZ writes L'z, with q'x = 2 in closed form.
func (c *power) ofZ(out []float64) {
	k, r := len(c.a), &c.now
	for i, a := range c.a {
		out[i] = (1 - a + 2*a*r.share*(2*r.sigma-r.kappa)/(2-r.kappa)) / math.Sqrt(2*a*r.share+1-a)
	}
	clear(out[k:])
	if r.zeta > 0 {
		axpy(-math.Sqrt(r.h)*r.psi/(r.p+r.zeta*r.zeta), c.y[k:], out[k:])
	}
}

// solveHessian overwrites v with Hess B(y)^-1 v.
func (c *power) solveHessian(v []float64) {
	k, r := len(c.a), &c.now
	x, z := v[:k], v[k:]
	along := 0.0 // of v, along z
	if r.zeta > 0 {
		along = dot(z, c.at[k:]) / r.zeta
	}
	sum := 0.0 // q'D^-1 (x + beta along q)
	for i, a := range c.a {
		q := 2 * a / c.at[i]
		x[i] = (x[i] + r.beta*along*q) * c.at[i] * c.at[i] / (2*a*r.share + 1 - a)
		sum += q * x[i]
	}
	sum *= r.share * r.theta / (r.sigma * r.sigma)
	moved := 0.0 // beta q'x
	for i, a := range c.a {
		x[i] += sum * 2 * a * c.at[i] / (2*a*r.share + 1 - a)
		moved += r.beta * 2 * a / c.at[i] * x[i]
	}
	scaleBy(z, r.psi/2)
	if r.zeta > 0 {
		axpy((along/r.h+moved-along*r.psi/2)/r.zeta, c.at[k:], z)
	}
}

// third: the third derivative of B at y applied to u and v. With u, v relative to x on the first k entries,
// f_i = 2 a_i, <u> = sum f_i u_i and c2 = <u><v> - <uv>, those of psi applied to u, to v and to both are
//
//	u:   P <u> - 2 z'u            u, v: P c2 - 2 u'v
//	e_i: P f_i/x_i, -2 z_i        e_i, u: P f_i/x_i (<u> - u_i), -2 u_i
//	e_i, u, v: P f_i/x_i (c2 - u_i <v> - v_i <u> + 2 u_i v_i), 0.
func (c *power) third(out, ds, dz []float64) {
	for i, t := range c.toZ { // Hess F*(z) = toZ Hess B(y) toZ
		c.u[i] = ds[i] / t
		c.v[i] = t * dz[i]
	}
	c.solveHessian(c.u)
	k, n := len(c.a), len(out)
	p, psi := c.now.p, c.now.psi
	share := p / psi
	sumU, sumV, sumUV := 0.0, 0.0, 0.0
	for i, a := range c.a {
		u, v := c.u[i]/c.at[i], c.v[i]/c.at[i]
		sumU += 2 * a * u
		sumV += 2 * a * v
		sumUV += 2 * a * u * v
	}
	both := sumU*sumV - sumUV
	z := c.at[k:]
	du := share*sumU - 2*dot(z, c.u[k:])/psi
	dv := share*sumV - 2*dot(z, c.v[k:])/psi
	duv := share*both - 2*dot(c.u[k:], c.v[k:])/psi
	for i, a := range c.a {
		u, v := c.u[i]/c.at[i], c.v[i]/c.at[i]
		slope := share * 2 * a / c.at[i]
		out[i] = -slope*(both-u*sumV-v*sumU+2*u*v) + slope*(dv*(sumU-u)+du*(sumV-v)+duv-2*du*dv) - 2*(1-a)/c.at[i]*u*v
	}
	for i := k; i < n; i++ {
		out[i] = -2 / psi * (dv*c.u[i] + du*c.v[i] + (duv-2*du*dv)*c.at[i])
	}
	for i, t := range c.toZ {
		out[i] *= t
	}
}
