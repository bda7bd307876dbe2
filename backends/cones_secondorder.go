package backends

// secondOrderFamily has the second-order cones, which are their own duals.
var secondOrderFamily = family{
	name: "second-order", own: secondOrder, dual: secondOrder, separate: separateSecondOrder, ray: true,
	shift: func(_ Cone, s []float64, a float64) { s[0] += a },
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
