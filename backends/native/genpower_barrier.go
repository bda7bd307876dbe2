package native

import "math"

// This file has the barrier of generalizedPower with its derivatives and its conjugate.

// value returns P and psi at y; psi is not positive where y is outside.
func (c *generalizedPower) value(y []float64) (p, psi float64) {
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

// gradientAt writes the gradient of F* at z into g: grad psi = (q P, -2 z), q_i = 2 a_i/x_i. It leaves toZ z in y, and
// returns P and psi there.
func (c *generalizedPower) gradientAt(z, g []float64) (p, psi float64) {
	k := len(c.a)
	for i, t := range c.toZ {
		c.y[i] = t * z[i]
	}
	p, psi = c.value(c.y)
	for i, a := range c.a {
		g[i] = -(2*a*p/psi + 1 - a) / c.y[i] * c.toZ[i]
	}
	for i := k; i < len(z); i++ {
		g[i] = 2 * c.y[i] / psi
	}
	return p, psi
}

// shadow writes z~ = -grad F(s), the point where -grad F* is s:
//
//	x_i = (1 + a_i + a_i g)/s_i,  z = -g s_z/|s_z|^2,
//
// where r = 1/g solves sum 2 a_i log(1 + (1 + a_i)/a_i r) - log(1 + 2r) = sum 2 a_i log(s_i/a_i) - 2 log |s_z|. The
// left side is increasing, 2kr near 0 and at most that.
func (c *generalizedPower) shadow(s []float64) bool {
	k := len(c.a)
	right := 0.0
	for i, a := range c.a {
		x := s[i] / c.toZ[i]
		if !(x > 0) {
			return false
		}
		c.shadowed[i] = (1 + a) / s[i] // what it is for g = 0; toZ carries there and back
		right += 2 * a * math.Log(x/a)
	}
	norm := norm2(s[k:])
	clear(c.shadowed[k:])
	if norm == 0 {
		return true
	}
	r, ok := conjugateRoot(right-2*math.Log(norm), k, func(r float64) (value, slope float64) {
		value, slope = -math.Log1p(2*r), -2/(1+2*r)
		for _, a := range c.a {
			by := (1 + a) / a
			value += 2 * a * math.Log1p(by*r)
			slope += 2 * a * by / (1 + by*r)
		}
		return value, slope
	})
	for i, a := range c.a {
		c.shadowed[i] += a / r / s[i]
	}
	for i := k; i < len(s); i++ {
		c.shadowed[i] = -s[i] / norm / norm / r
	}
	return ok
}

// conjugateRoot solves left(r) = right, as shadow has it for k weights, by Newton's method in log r, kept in a bracket.
// False where the right side is not positive, as outside of the cone, or no number.
func conjugateRoot(right float64, k int, left func(r float64) (value, slope float64)) (r float64, ok bool) {
	if !(right > 0) || math.IsInf(right, 1) {
		return 0, false
	}
	lo, hi := 0.0, right/(2*float64(k))
	for v, _ := left(hi); v < right; v, _ = left(hi) {
		lo = hi
		if hi *= 2; math.IsInf(hi, 1) {
			return 0, false
		}
	}
	r = hi
	for range newtonSteps {
		f, slope := left(r)
		if f -= right; f < 0 {
			lo = r
		} else {
			hi = r
		}
		next := r * math.Exp(-f/(slope*r))
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		done := math.Abs(next-r) <= newtonEnd*r
		if r = next; done {
			break
		}
	}
	return r, true
}

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

func (c *generalizedPower) curvature(p, psi float64) (out curvature) {
	out.p, out.psi = p, psi
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

// factorHessian writes by rows the matrix L with LL' = Hess F*(z) for the curvature at y = toZ z,
//
//	[D^1/2 (I - eta vv')  -beta h^1/2 q e'; 0  h^1/2 ee' + (2/psi)^1/2 (I - ee')],  eta = (1 - sigma)/|v|^2, e = z/|z|.
func (c *generalizedPower) factorHessian() {
	k, n, r := len(c.a), len(c.z), &c.now
	clear(c.factor)
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
		row := c.factor[i*n : i*n+n]
		d := c.toZ[i] * math.Sqrt(2*a*r.share+1-a) / c.y[i]
		for j := range k {
			row[j] = -eta * d * v[i] * v[j]
		}
		row[i] += d
		axpy(-r.beta*root*c.toZ[i]*2*a/c.y[i], e, row[k:])
	}
	for i := range e {
		row := c.factor[(k+i)*n+k : (k+i)*n+n]
		axpy((root-across)*e[i], e, row)
		row[i] += across
	}
}

// ofZ writes L'z, with q'x = 2 in closed form.
func (c *generalizedPower) ofZ(out []float64) {
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
func (c *generalizedPower) solveHessian(v []float64) {
	k, r := len(c.a), &c.now
	x, z := v[:k], v[k:]
	along := 0.0 // of v, along z
	if r.zeta > 0 {
		along = dot(z, c.y[k:]) / r.zeta
	}
	sum := 0.0 // q'D^-1 (x + beta along q)
	for i, a := range c.a {
		q := 2 * a / c.y[i]
		x[i] = (x[i] + r.beta*along*q) * c.y[i] * c.y[i] / (2*a*r.share + 1 - a)
		sum += q * x[i]
	}
	sum *= r.share * r.theta / (r.sigma * r.sigma)
	moved := 0.0 // beta q'x
	for i, a := range c.a {
		x[i] += sum * 2 * a * c.y[i] / (2*a*r.share + 1 - a)
		moved += r.beta * 2 * a / c.y[i] * x[i]
	}
	scaleBy(z, r.psi/2)
	if r.zeta > 0 {
		axpy((along/r.h+moved-along*r.psi/2)/r.zeta, c.y[k:], z)
	}
}

// third writes the third derivative of B at y applied to u and v. With u, v relative to x on the first k entries,
// f_i = 2 a_i, <u> = sum f_i u_i and c2 = <u><v> - <uv>, those of psi applied to u, to v and to both are
//
//	u:   P <u> - 2 z'u            u, v: P c2 - 2 u'v
//	e_i: P f_i/x_i, -2 z_i        e_i, u: P f_i/x_i (<u> - u_i), -2 u_i
//	e_i, u, v: P f_i/x_i (c2 - u_i <v> - v_i <u> + 2 u_i v_i), 0.
func (c *generalizedPower) third(out []float64) {
	k, n := len(c.a), len(out)
	p, psi := c.value(c.y)
	share := p / psi
	sumU, sumV, sumUV := 0.0, 0.0, 0.0
	for i, a := range c.a {
		u, v := c.u[i]/c.y[i], c.v[i]/c.y[i]
		sumU += 2 * a * u
		sumV += 2 * a * v
		sumUV += 2 * a * u * v
	}
	both := sumU*sumV - sumUV
	z := c.y[k:]
	du := share*sumU - 2*dot(z, c.u[k:])/psi
	dv := share*sumV - 2*dot(z, c.v[k:])/psi
	duv := share*both - 2*dot(c.u[k:], c.v[k:])/psi
	for i, a := range c.a {
		u, v := c.u[i]/c.y[i], c.v[i]/c.y[i]
		slope := share * 2 * a / c.y[i]
		out[i] = -slope*(both-u*sumV-v*sumU+2*u*v) + slope*(dv*(sumU-u)+du*(sumV-v)+duv-2*du*dv) - 2*(1-a)/c.y[i]*u*v
	}
	for i := k; i < n; i++ {
		out[i] = -2 / psi * (dv*c.u[i] + du*c.v[i] + (duv-2*du*dv)*c.y[i])
	}
}
