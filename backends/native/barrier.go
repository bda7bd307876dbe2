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
	// psi returns the function with its gradient and Hessian; nothing of it is used
	// when it is not positive.
	psi(y vec3) (value float64, gradient vec3, hessian mat3)
	// third returns the third derivative of psi applied to u and v.
	third(y, u, v vec3) vec3
	// solve returns Hess B(y)^-1 v, of terms in which nothing cancels near the boundary, where the condition of the
	// Hessian is 1/psi^2.
	solve(y, v vec3) vec3
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

// contains says whether y is inside the cone.
func contains(b barrier, y vec3) bool {
	c := b.weights()
	for i, v := range y {
		if c[i] > 0 && !(v > 0) {
			return false
		}
	}
	value, _, _ := b.psi(y)
	return value > 0
}

// derivatives returns the gradient and the Hessian of B inside the cone.
func derivatives(b barrier, y vec3) (g vec3, h mat3) {
	value, dpsi, hpsi := b.psi(y)
	c := b.weights()
	for i := range 3 {
		g[i] = -dpsi[i] / value
		for j := range 3 {
			h[i][j] = dpsi[i]/value*dpsi[j]/value - hpsi[i][j]/value
		}
		if c[i] > 0 {
			g[i] -= c[i] / y[i]
			h[i][i] += c[i] / y[i] / y[i]
		}
	}
	return g, h
}

// thirdDerivative returns that of B applied to u and v.
func thirdDerivative(b barrier, y, u, v vec3) vec3 {
	value, d, h := b.psi(y)
	d = d.times(1 / value)
	du, dv := d.dot(u), d.dot(v)
	hu, hv := h.mul(u).times(1/value), h.mul(v).times(1/value)
	out := b.third(y, u, v).times(-1 / value)
	out = out.plus(dv, hu).plus(du, hv).plus(u.dot(hv)-2*du*dv, d)
	for i, c := range b.weights() {
		if c > 0 {
			out[i] -= 2 * c / y[i] / y[i] / y[i] * u[i] * v[i]
		}
	}
	return out
}
