package native

import "math"

// powerBarrier is that of the power cone {(x, y, z): x^a y^(1-a) >= |z|, x, y >= 0}
// (Chares 2009),
//
//	psi = x^2a y^(2-2a) - z^2,  c = (1-a, a, 0).
type powerBarrier struct{ a float64 }

func (b powerBarrier) weights() vec3 { return vec3{1 - b.a, b.a, 0} }

func (powerBarrier) inside() vec3 { return vec3{1, 1, 0} }

func (b powerBarrier) value(v vec3) float64 {
	if x, y := v[0], v[1]; x > 0 && y > 0 {
		root := math.Exp(b.a*math.Log(x) + (1-b.a)*math.Log(y))
		return (root - math.Abs(v[2])) * (root + math.Abs(v[2]))
	}
	return 0
}

// gradient: the product x^2a y^(2-2a) is the sum psi + z^2, in which nothing cancels.
func (b powerBarrier) gradient(v vec3, psi float64) vec3 {
	w := psi + v[2]*v[2]
	return vec3{2 * b.a * w / v[0], (2 - 2*b.a) * w / v[1], -2 * v[2]}
}

func (b powerBarrier) hessian(v vec3, psi float64) mat3 {
	x, y := v[0], v[1]
	p, q, w := 2*b.a, 2-2*b.a, psi+v[2]*v[2]
	return mat3{{p * (p - 1) * w / x / x, p * q * w / x / y, 0},
		{p * q * w / x / y, q * (q - 1) * w / y / y, 0}, {0, 0, -2}}
}

func (b powerBarrier) third(at vec3, psi float64, u, v vec3) vec3 {
	x, y := at[0], at[1]
	p, q, w := 2*b.a, 2-2*b.a, psi+at[2]*at[2]
	// with u and v relative to x and y
	u1, u2, v1, v2 := u[0]/x, u[1]/y, v[0]/x, v[1]/y
	d30, d21, d12, d03 := p*(p-1)*(p-2), p*(p-1)*q, p*q*(q-1), q*(q-1)*(q-2)
	cross := u1*v2 + u2*v1
	return vec3{
		w / x * (d30*u1*v1 + d21*cross + d12*u2*v2),
		w / y * (d21*u1*v1 + d12*cross + d03*u2*v2),
		0,
	}
}

// solve is generalizedPower.solveHessian, whose terms are those of curvature.
func (b powerBarrier) solve(p vec3, psi float64, v vec3) vec3 {
	zeta := math.Abs(p[2])
	w := psi + zeta*zeta
	sum := w + zeta*zeta
	share, beta, theta, h := w/psi, w*zeta/sum, zeta*zeta/sum, 2*sum/psi/psi
	along := math.Copysign(1, p[2]) * v[2]
	q, d := [2]float64{2 * b.a / p[0], 2 * (1 - b.a) / p[1]}, [2]float64{}
	var x vec3
	inner, kappa := 0.0, 0.0
	for i, a := range [2]float64{b.a, 1 - b.a} {
		d[i] = (2*a*share + 1 - a) / p[i] / p[i]
		kappa += 2 * a * (1 - a) / (2*a*share + 1 - a)
		x[i] = (v[i] + beta*along*q[i]) / d[i]
		inner += q[i] * x[i]
	}
	inner *= share * theta / (kappa/2 + psi/(2*sum)*(2-kappa))
	moved := along / h
	for i := range q {
		x[i] += inner * q[i] / d[i]
		moved += beta * q[i] * x[i]
	}
	x[2] = math.Copysign(1, p[2]) * moved
	return x
}

// duality: (u/a)^a (v/(1-a))^(1-a) >= |w| says that (u/a, v/(1-a), w) is in the cone.
func (b powerBarrier) duality() (t, inverse mat3) {
	return mat3{{1 / b.a}, {0, 1 / (1 - b.a)}, {0, 0, 1}}, mat3{{b.a}, {0, 1 - b.a}, {0, 0, 1}}
}

// conjugate solves -grad B(x, y, z) = s. With g = -s3 z and psi = -2 z/s3 the equations are
//
//	x = (1 + a + a g)/s1,  y = (2 - a + (1-a) g)/s2,  x^2a y^(2-2a) = g (g + 2)/s3^2,
//
// and for r = 1/g the logarithm of the last one is
//
//	2a log(1 + (1+a)/a r) + 2(1-a) log(1 + (2-a)/(1-a) r) - log(1 + 2r) = right,
//	right = 2a log(s1/a) + 2(1-a) log(s2/(1-a)) - 2 log |s3|,
//
// whose right-hand side is positive inside the dual cone and 0 on its boundary.
func (b powerBarrier) conjugate(s vec3) (vec3, bool) {
	a, c := b.a, 1-b.a
	if !(s[0] > 0 && s[1] > 0) {
		return vec3{}, false
	}
	if s[2] == 0 {
		return vec3{(1 + a) / s[0], (1 + c) / s[1], 0}, true
	}
	right := 2 * (a*math.Log(s[0]/a) + c*math.Log(s[1]/c) - math.Log(math.Abs(s[2])))
	r1, r2 := (1+a)/a, (1+c)/c
	r, ok := conjugateRoot(right, 2, func(r float64) (value, slope float64) {
		return 2*a*math.Log1p(r1*r) + 2*c*math.Log1p(r2*r) - math.Log1p(2*r), 2*a*r1/(1+r1*r) + 2*c*r2/(1+r2*r) - 2/(1+2*r)
	})
	g := 1 / r
	return vec3{(1 + a + a*g) / s[0], (1 + c + c*g) / s[1], -g / s[2]}, ok
}
