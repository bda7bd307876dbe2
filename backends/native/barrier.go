package native

import "math"

// Vectors and symmetric matrices of dimension 3.
type (
	vec3 [3]float64
	mat3 [3][3]float64
)

func (m *mat3) mul(v vec3) vec3 {
	return vec3{
		m[0][0]*v[0] + m[0][1]*v[1] + m[0][2]*v[2],
		m[1][0]*v[0] + m[1][1]*v[1] + m[1][2]*v[2],
		m[2][0]*v[0] + m[2][1]*v[1] + m[2][2]*v[2],
	}
}

func (m *mat3) product(o *mat3) mat3 {
	var out mat3
	for i := range 3 {
		for j := range 3 {
			out[i][j] = m[i][0]*o[0][j] + m[i][1]*o[1][j] + m[i][2]*o[2][j]
		}
	}
	return out
}

// addOuter adds a vv'.
func (m *mat3) addOuter(a float64, v vec3) {
	for i := range 3 {
		for j := range 3 {
			m[i][j] += a * v[i] * v[j]
		}
	}
}

// solve solves m x = v for a positive definite m, by its Cholesky factor; false if it is not.
func (m *mat3) solve(v vec3) (vec3, bool) {
	var l mat3
	for i := range 3 {
		for j := range i + 1 {
			sum := m[i][j]
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			if i == j {
				if !(sum > 0) {
					return v, false
				}
				l[i][i] = math.Sqrt(sum)
			} else {
				l[i][j] = sum / l[j][j]
			}
		}
	}
	for i := range 3 {
		for k := range i {
			v[i] -= l[i][k] * v[k]
		}
		v[i] /= l[i][i]
	}
	for i := 2; i >= 0; i-- {
		for k := i + 1; k < 3; k++ {
			v[i] -= l[k][i] * v[k]
		}
		v[i] /= l[i][i]
	}
	return v, true
}

func (v vec3) dot(o vec3) float64 { return v[0]*o[0] + v[1]*o[1] + v[2]*o[2] }

func (v vec3) plus(a float64, o vec3) vec3 {
	return vec3{v[0] + a*o[0], v[1] + a*o[1], v[2] + a*o[2]}
}

func (v vec3) times(a float64) vec3 { return vec3{a * v[0], a * v[1], a * v[2]} }

func (v vec3) cross(o vec3) vec3 {
	return vec3{v[1]*o[2] - v[2]*o[1], v[2]*o[0] - v[0]*o[2], v[0]*o[1] - v[1]*o[0]}
}

// barrier describes a cone C of dimension 3 by a function psi, positive inside,
// for which
//
//	B(y) = -log psi(y) - c_1 log y_1 - c_2 log y_2 - c_3 log y_3
//
// is a logarithmically homogeneous self-concordant barrier of degree 3.
type barrier interface {
	// value returns psi, or a number that is not positive where y is outside of the cone.
	value(y vec3) float64
	// gradient returns that of psi at y, where value is psi, and hessian the Hessian.
	gradient(y vec3, psi float64) vec3
	hessian(y vec3, psi float64) mat3
	// third returns the third derivative of psi applied to u and v.
	third(y vec3, psi float64, u, v vec3) vec3
	// solve returns Hess B(y)^-1 v, of terms in which nothing cancels near the boundary, where the condition of the
	// Hessian is 1/psi^2.
	solve(y vec3, psi float64, v vec3) vec3
	// weights returns c.
	weights() vec3
	// conjugate returns the y with -grad B(y) = s; false when s is not inside the dual cone.
	conjugate(s vec3) (vec3, bool)
	// duality returns the matrix T, symmetric, for which Ty is in C exactly if y is in the dual
	// cone, and its inverse.
	duality() (t, inverse mat3)
	// inside returns a point inside C.
	inside() vec3
}

// point is a point inside a cone with what all derivatives of B there share.
type point struct {
	y, c  vec3
	psi   float64
	slope vec3 // of log psi
}

// at returns the point y; false if it is not inside.
func at(b barrier, y vec3) (p point, ok bool) {
	p.y, p.c, p.psi = y, b.weights(), b.value(y)
	if p.psi > 0 {
		p.slope = b.gradient(y, p.psi).times(1 / p.psi)
		return p, true
	}
	return p, false
}

// gradient returns that of B.
func (p *point) gradient() vec3 {
	g := p.slope.times(-1)
	for i, c := range p.c {
		if c > 0 {
			g[i] -= c / p.y[i]
		}
	}
	return g
}

// hessian returns that of B.
func (p *point) hessian(b barrier) mat3 {
	h := b.hessian(p.y, p.psi)
	for i := range 3 {
		for j := range 3 {
			h[i][j] = p.slope[i]*p.slope[j] - h[i][j]/p.psi
		}
		if c := p.c[i]; c > 0 {
			h[i][i] += c / p.y[i] / p.y[i]
		}
	}
	return h
}

// third returns the third derivative of B applied to u and v.
func (p *point) third(b barrier, u, v vec3) vec3 {
	h, d := b.hessian(p.y, p.psi), p.slope
	du, dv := d.dot(u), d.dot(v)
	hu, hv := h.mul(u).times(1/p.psi), h.mul(v).times(1/p.psi)
	out := b.third(p.y, p.psi, u, v).times(-1 / p.psi)
	out = out.plus(dv, hu).plus(du, hv).plus(u.dot(hv)-2*du*dv, d)
	for i, c := range p.c {
		if y := p.y[i]; c > 0 {
			out[i] -= 2 * c / y / y / y * u[i] * v[i]
		}
	}
	return out
}
