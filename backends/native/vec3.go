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
