package native

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

func (v vec3) dot(o vec3) float64 { return v[0]*o[0] + v[1]*o[1] + v[2]*o[2] }

func (v vec3) plus(a float64, o vec3) vec3 {
	return vec3{v[0] + a*o[0], v[1] + a*o[1], v[2] + a*o[2]}
}

func (v vec3) times(a float64) vec3 { return vec3{a * v[0], a * v[1], a * v[2]} }
