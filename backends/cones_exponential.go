package backends

import (
	"fmt"
	"math"
)

// exponentialFamilies has the exponential cone and its dual.
var exponentialFamilies = curved{
	wrong: func(c Cone) string {
		if c.Dim != 3 {
			return fmt.Sprintf("dimension %d, an exponential cone has 3", c.Dim)
		}
		return ""
	},
	inOwn:  func(_ Cone, s []float64, a float64) bool { return inExponential(s[0]-a, s[1]+a, s[2]+a) },
	inDual: func(_ Cone, s []float64, a float64) bool { return inDualExponential(s[0]-a, s[1]+a, s[2]+a) },
	shift: func(_ Cone, s []float64, a float64) {
		s[0] -= a
		s[1] += a
		s[2] += a
	},
	separateOwn: separateExponential, separateDual: separateDualExponential,
}

// inExponential is membership in the closure of {v > 0, v exp(u/v) <= w}, which
// adds {u <= 0, v = 0, w >= 0}.
func inExponential(u, v, w float64) bool {
	if v > 0 {
		return v*math.Exp(u/v) <= w
	}
	return v == 0 && u <= 0 && w >= 0
}

// inDualExponential is membership in the closure of {u < 0, -u exp(v/u) <= e w},
// which adds {u = 0, v >= 0, w >= 0}.
func inDualExponential(u, v, w float64) bool {
	if u < 0 {
		return -u*math.Exp(v/u) <= math.E*w
	}
	return u == 0 && v >= 0 && w >= 0
}

// separateExponential takes the gradient of the concave function
// f(u, v, w) = w - v exp(u/v), which is homogeneous of degree one, so that its
// gradient g at b has g'y >= f(y) >= 0 on the cone and g'b = f(b) < 0.
func separateExponential(_ Cone, b, z []float64) {
	u, v, w := b[0], b[1], b[2]
	switch {
	case v < 0:
		z[1] = 1
	case w < 0:
		z[2] = 1
	case v == 0: // u > 0: z = (-1, a, c) with c = exp(-a-1) is in the dual cone
		z[0], z[2] = -1, 1
		if w > 0 {
			z[2] = min(1, u/(2*w))
		}
		z[1] = -1 - math.Log(z[2])
	default:
		// g / exp(u/v) = (-1, u/v - 1, exp(-u/v))
		z[0], z[1], z[2] = -1, u/v-1, math.Exp(-u/v)
	}
}

// separateDualExponential does the same with f(u, v, w) = e w + u exp(v/u),
// whose gradient is ((1-r) exp(r), exp(r), e) with r = v/u.
func separateDualExponential(_ Cone, b, z []float64) {
	u, v, w := b[0], b[1], b[2]
	switch {
	case u > 0:
		z[0] = -1
	case w < 0:
		z[2] = 1
	case u == 0: // v < 0: z = (log c, 1, c) is in the exponential cone
		z[1], z[2] = 1, 1
		if w > 0 {
			z[2] = min(1, -v/(2*w))
		}
		z[0] = math.Log(z[2])
	default:
		e := math.Exp(v/u - 1)
		z[0], z[1], z[2] = (1-v/u)*e, e, 1
	}
}
