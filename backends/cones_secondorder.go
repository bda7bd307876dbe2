package backends

import "math"

// secondOrderFamily has the second-order cones, which are their own duals.
var secondOrderFamily = family{
	name: "second-order", own: secondOrder, dual: secondOrder, separate: separateSecondOrder, ray: true,
	shift:     func(_ Cone, s []float64, a float64) { s[0] += a },
	ellipsoid: secondOrderEllipsoid,
}

// secondOrderEllipsoid returns D = 2ww' - det(w) J, the quadratic representation of the root w of v: with l = v_0 +-
// |v_1| the eigenvalues of v, those of w are their roots (Alizadeh and Goldfarb 2003).
func secondOrderEllipsoid(v []float64) []float64 {
	n := len(v)
	d := make([]float64, n*n)
	if n == 0 {
		return d
	}
	norm := norm2(v[1:])
	high, low := math.Sqrt(max(0, v[0]+norm)), math.Sqrt(max(0, v[0]-norm))
	w := make([]float64, n)
	w[0] = (high + low) / 2
	for i := 1; i < n && norm > 0; i++ {
		w[i] = (high - low) / 2 * v[i] / norm
	}
	det := high * low
	for i, a := range w {
		for j, b := range w {
			d[i*n+j] = 2 * a * b
		}
		d[i*n+i] += det
	}
	d[0] -= 2 * det
	return d
}

var secondOrder = set{
	distance: func(_ Cone, s []float64) float64 {
		if len(s) == 0 {
			return 0
		}
		return max(0, norm2(s[1:])-s[0])
	},
	into: func(_ Cone, s []float64) {
		if len(s) == 0 {
			return
		}
		if norm := norm2(s[1:]) * inside(len(s)); norm > s[0] {
			s[0] = norm
		}
	},
}

// separateSecondOrder takes z = (1, -v/|v|): b'z = t - |v| < 0.
func separateSecondOrder(_ Cone, b, z []float64) {
	z[0] = 1
	if norm := norm2(b[1:]); norm > 0 {
		for i := 1; i < len(b); i++ {
			z[i] = -b[i] / norm
		}
	}
}
