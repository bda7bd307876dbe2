package native

import "math"

// secondOrder is {(t, v): |v| <= t} with the scaling of Nesterov and Todd
// (1997), as in Vandenberghe's note on CVXOPT (2010): with J = diag(1, -I),
//
//	H = W^2 = eta^2 (2 w w' - J),  w'Jw = 1,  W z = W^-1 s = lambda.
type secondOrder struct {
	eta, eta2 float64
	w         []float64
	lambda    []float64
	norm      float64 // lambda'J lambda
	// rank-two form: H = eta^2 (diag(d, I) + u u' - v v'), u = (u0, u1 w1),
	// v = (0, v1 w1), where w = (w0, w1).
	d, u0, u1, v1 float64
	a, b          []float64 // work space
}

var (
	_ basisCone   = (*secondOrder)(nil)
	_ inverseCone = (*secondOrder)(nil)
)

func newSecondOrder(n int) *secondOrder {
	return &secondOrder{w: make([]float64, n), lambda: make([]float64, n), a: make([]float64, n), b: make([]float64, n)}
}

func (c *secondOrder) degree() int { return 1 }

// smooth changes the eigenvalues v_0 + |v_1| and v_0 - |v_1| of v = s - z.
func (c *secondOrder) smooth(s, z []float64, mu float64) {
	for i, v := range z {
		s[i] -= v
	}
	copy(z, s)
	norm := norm2(s[1:])
	s1, z1 := smoothing(s[0]+norm, mu)
	s2, z2 := smoothing(s[0]-norm, mu)
	s[0], z[0] = (s1+s2)/2, (z1+z2)/2
	if norm > 0 {
		scaleBy(s[1:], (s1-s2)/2/norm)
		scaleBy(z[1:], (z1-z2)/2/norm)
	}
	c.pullIn(s)
	c.pullIn(z)
}

func (c *secondOrder) shift(v []float64) float64 { return norm2(v[1:]) - v[0] }

func (c *secondOrder) addUnit(v []float64, a float64) { v[0] += a }

// residualSOC returns v'Jv without cancellation.
func residualSOC(v []float64) float64 {
	t, r := v[0], norm2(v[1:])
	return (t - r) * (t + r)
}

func norm2(v []float64) float64 { return math.Sqrt(dot(v, v)) }

func (c *secondOrder) scale(s, z []float64) bool {
	rs, rz := residualSOC(s), residualSOC(z)
	if !(rs > 0 && rz > 0 && s[0] > 0 && z[0] > 0) {
		return false
	}
	ns, nz := math.Sqrt(rs), math.Sqrt(rz)
	c.eta2 = ns / nz
	c.eta = math.Sqrt(c.eta2)
	gamma := math.Sqrt(0.5 * (1 + dot(s, z)/(ns*nz)))
	// w = (s/ns + J z/nz) / (2 gamma), its head from w'Jw = 1
	a, b := 1/(2*gamma*ns), 1/(2*gamma*nz)
	sum := 0.0
	for i := 1; i < len(s); i++ {
		v := s[i]*a - z[i]*b
		c.w[i] = v
		sum += v * v
	}
	w0 := math.Sqrt(1 + sum)
	c.w[0] = w0
	// lambda = W z in a form without cancellation near the boundary, with
	// lambda'J lambda = ns nz
	c.norm = ns * nz
	root := math.Sqrt(c.norm)
	ns, nz = 1/ns, 1/nz
	s0, z0 := s[0]*ns, z[0]*nz
	f := root / (s0 + z0 + 2*gamma)
	fs, fz := f*(gamma+z0)*ns, f*(gamma+s0)*nz
	c.lambda[0] = root * gamma
	for i := 1; i < len(s); i++ {
		c.lambda[i] = fs*s[i] + fz*z[i]
	}
	// The two inequalities that the rank-two form needs, D - vv' positive
	// definite and d > 0, are 1/(w0^2 - 1/2) < v1^2 < 1/(w0^2 - 1).
	v1 := 1 / (w0*w0 - 0.75)
	c.v1 = math.Sqrt(v1)
	c.u1 = math.Sqrt(2 + v1)
	c.u0 = 2 * w0 / c.u1
	c.d = 1 / (4*w0*w0 - 1)
	return true
}

// mulW writes W v into out: W = eta [w0 w1'; w1 I + w1 w1'/(1 + w0)].
func (c *secondOrder) mulW(out, v []float64) {
	w, head, tail := c.w[:len(v)], v[0], dot(c.w[1:], v[1:])
	f := head + tail/(1+w[0])
	out[0] = c.eta * (w[0]*head + tail)
	for i := 1; i < len(v); i++ {
		out[i] = c.eta * (v[i] + f*w[i])
	}
}

func (c *secondOrder) mulH(out, v []float64) {
	f := 2 * c.eta2 * dot(c.w, v)
	out[0] = f*c.w[0] - c.eta2*v[0]
	for i := 1; i < len(v); i++ {
		out[i] = f*c.w[i] + c.eta2*v[i]
	}
}

func (c *secondOrder) affine(d, s []float64) { copy(d, s) }

// pullIn moves v, which rounding may have moved out of the cone, back inside.
func (c *secondOrder) pullIn(v []float64) {
	v[0] = max(v[0], norm2(v[1:])*(1+boundaryMargin))
}

const (
	// The complementarity of a cone with large s and z is known to s_0 z_0 times
	// a few units of rounding, and is not asked to be smaller. At the central
	// path s and z are at relative distances of about mu/(s_0 z_0) from the
	// boundary, so that without this limit rounding puts them outside.
	complementarityFloor = 1e-14
	boundaryMargin       = 2e-15
)

// combined computes d = W (lambda \ (lambda o lambda + (W^-1 ds) o (W dz) - target e))
// = s + W (lambda \ ((W^-1 ds) o (W dz) - target e)).
func (c *secondOrder) combined(d, s, z, _, dz []float64, target float64) {
	target = max(target, complementarityFloor*s[0]*z[0])
	a, b := c.a, c.b
	c.mulW(b, dz)
	// W^-1 ds = -lambda - W dz, by what the pure Newton direction solves; none
	// without a correction
	for i, v := range b {
		a[i] = -c.lambda[i] - v
	}
	// v = a o b - target e: the head is a'b, the tail a0 b1 + b0 a1
	head, a0, b0 := dot(a, b)-target, a[0], b[0]
	for i := 1; i < len(a); i++ {
		a[i] = a0*b[i] + b0*a[i]
	}
	// y = lambda \ v
	l := c.lambda
	y0 := (l[0]*head - dot(l[1:], a[1:])) / c.norm
	for i := 1; i < len(a); i++ {
		a[i] = (a[i] - y0*l[i]) / l[0]
	}
	a[0] = y0
	c.mulW(d, a)
	for i, v := range s {
		d[i] += v
	}
}

func (c *secondOrder) step(s, z, ds, dz []float64, limit float64) float64 {
	return stepSOC(z, dz, stepSOC(s, ds, limit))
}

// stepSOC returns the largest a <= limit for which v + a dv is in the cone, v
// being inside: the first positive root of (v + a dv)'J(v + a dv).
func stepSOC(v, dv []float64, limit float64) float64 {
	tail, cross := 0.0, 0.0
	for i := 1; i < len(v); i++ {
		tail += dv[i] * dv[i]
		cross += v[i] * dv[i]
	}
	a := (dv[0] - math.Sqrt(tail)) * (dv[0] + math.Sqrt(tail))
	b := v[0]*dv[0] - cross // half of the linear term
	c := residualSOC(v)
	root := limit
	if disc := b*b - a*c; disc >= 0 {
		// the roots are c/q and q/a with q = -(b + sign(b) sqrt(disc))
		q := -(b + math.Copysign(math.Sqrt(disc), b))
		for _, x := range [2]float64{c / q, q / a} {
			if x > 0 && x < root { // false for NaN and infinities
				root = x
			}
		}
	}
	if dv[0] < 0 && v[0]+root*dv[0] < 0 {
		root = -v[0] / dv[0]
	}
	return root
}

func (c *secondOrder) block() block {
	if len(c.w) <= rotatedDim {
		return basisBlock
	}
	return rankTwoBlock
}

// basis has the eigenvectors of H = eta^2 (2ww' - J) for the rows of q, and the eigenvalues for values: with w = (w0,
// |w1| u), (1, u) and (1, -u) with eta^2 (w0 + |w1|)^2 and its inverse eta^2 / (w0 + |w1|)^2, and eta^2 for what is
// orthogonal to both.
func (c *secondOrder) basis(_ []int32, q, values []float64) (shift float64) {
	n := len(c.w)
	tail := norm2(c.w[1:])
	top := c.w[0] + tail
	values[0], values[1] = c.eta2*top*top, c.eta2/(top*top)
	u := c.a[:n-1]
	if tail > 0 {
		for i := range u {
			u[i] = c.w[i+1] / tail
		}
	} else {
		clear(u)
		u[0] = 1
	}
	q[0], q[n] = math.Sqrt2/2, math.Sqrt2/2
	for i, v := range u {
		q[i+1], q[n+i+1] = v*math.Sqrt2/2, -v*math.Sqrt2/2
	}
	// The reflection I - h h'/(1 + |u_0|), h = u + sign(u_0) e_0, maps u to a
	// multiple of e_0: its other columns are orthogonal to u.
	sign := math.Copysign(1, u[0])
	for j := 1; j < n-1; j++ {
		values[j+1] = c.eta2
		f := u[j] / (1 + math.Abs(u[0]))
		q[(j+1)*n] = 0
		for i, v := range u {
			if i == 0 {
				v += sign
			}
			v *= -f
			if i == j {
				v++
			}
			q[(j+1)*n+i+1] = v
		}
	}
	return rotatedRegularisation * c.eta2
}

// invert writes s^-1 = (s_0, -s_1) / (s_0^2 - |s_1|^2).
func (c *secondOrder) invert(s, z []float64) {
	tail := norm2(s[1:])
	s[0] = max(s[0], tail+multiplierFloor)
	det := (s[0] - tail) * (s[0] + tail)
	for i, v := range s {
		z[i] = -v / det
	}
	z[0] = s[0] / det
}

// writeH puts -H in the rank-two form into the KKT values: at are the places of the diagonal, then of v (with its
// pivot), then of u. It returns what to add to the pivots of the rows, and of u and v, with their signs.
func (c *secondOrder) writeH(val []float64, at []int32) (shift float64) {
	e, n := c.eta2, len(c.w)
	diag, v, u := at[:n], at[n:2*n+1], at[2*n+1:]
	val[diag[0]] = -e * c.d
	val[v[0]] = 0
	val[u[0]] = -e * c.u0
	for i := 1; i < n; i++ {
		val[diag[i]] = -e
		val[v[i]] = -e * c.v1 * c.w[i]
		val[u[i]] = -e * c.u1 * c.w[i]
	}
	val[v[n]] = -e // pivot of the row of v, negative like those of the cone
	val[u[n]] = e
	return rankTwoRegularisation * e
}
