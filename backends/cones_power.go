package backends

import (
	"fmt"
	"math"
)

// powerFamilies has the power cones and their duals, those in the variables u/a and v/(1-a).
var powerFamilies = curved{
	wrong: func(c Cone) string {
		switch {
		case c.Dim != 3:
			return fmt.Sprintf("dimension %d, a power cone has 3", c.Dim)
		case !(c.Alpha > 0 && c.Alpha < 1):
			return fmt.Sprintf("exponent %g is not in (0, 1)", c.Alpha)
		}
		return ""
	},
	inOwn: func(c Cone, s []float64, a float64) bool { return inPower(c.Alpha, s[0]+a, s[1]+a, s[2]) },
	inDual: func(c Cone, s []float64, a float64) bool {
		return inPower(c.Alpha, (s[0]+a)/c.Alpha, (s[1]+a)/(1-c.Alpha), s[2])
	},
	shift: func(_ Cone, s []float64, a float64) {
		s[0] += a
		s[1] += a
	},
	separateOwn:  func(c Cone, b, z []float64) { separatePower(c.Alpha, 1, 1, b, z) },
	separateDual: func(c Cone, b, z []float64) { separatePower(c.Alpha, 1/c.Alpha, 1/(1-c.Alpha), b, z) },
}

func inPower(a, u, v, w float64) bool {
	return u >= 0 && v >= 0 && math.Pow(u, a)*math.Pow(v, 1-a) >= math.Abs(w)
}

// separatePower does the same with f(u, v, w) = u^a v^(1-a) - |w|, for the dual
// cone in the variables u/a and v/(1-a). On an edge, where u or v is zero, the
// gradient is infinite and is taken at a point y = b + (du, dv, 0) close by with
// f(y) < 0: as g >= 0 in its first two entries, g'b <= g'y = f(y).
func separatePower(a, scaleU, scaleV float64, b, z []float64) {
	u, v, w := b[0]*scaleU, b[1]*scaleV, b[2]
	switch {
	case u < 0:
		z[0] = 1
		return
	case v < 0:
		z[1] = 1
		return
	}
	for floor := min(math.Abs(w), math.MaxFloat64) / 2; floor > 0; floor /= 2 {
		yu, yv := max(u, floor), max(v, floor)
		if mean := math.Pow(yu, a) * math.Pow(yv, 1-a); mean < math.Abs(w) {
			z[0], z[1], z[2] = a*mean/yu*scaleU, (1-a)*mean/yv*scaleV, -math.Copysign(1, w)
			return
		}
	}
}
