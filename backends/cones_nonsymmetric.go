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
	separateOwn: separateExponential, separateDual: separateDualExponential, boundary: exponentialBoundary,
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

// powerFamilies has the power cones and generalizedPowerFamilies those of more factors, with their duals, which are the
// same in the variables x_i/w_i.
var powerFamilies, generalizedPowerFamilies = means(func(c Cone) string {
	switch {
	case c.Dim != 3:
		return fmt.Sprintf("dimension %d, a power cone has 3", c.Dim)
	case !(c.Alpha > 0 && c.Alpha < 1):
		return fmt.Sprintf("exponent %g is not in (0, 1)", c.Alpha)
	}
	return ""
}), means(wrongWeights)

// means has the cones {(x, z): prod x_i^w_i >= |z|_2, x >= 0} and their duals.
func means(wrong func(c Cone) string) curved {
	in := func(c Cone, s []float64, a float64, dual bool) bool {
		w := c.exponents()
		return weightedMean(w, s, a, dual) >= norm2(s[len(w):])
	}
	return curved{
		wrong:  wrong,
		inOwn:  func(c Cone, s []float64, a float64) bool { return in(c, s, a, false) },
		inDual: func(c Cone, s []float64, a float64) bool { return in(c, s, a, true) },
		shift: func(c Cone, s []float64, a float64) {
			for i := range c.exponents() {
				s[i] += a
			}
		},
		boundary:     powerBoundary,
		separateOwn:  func(c Cone, b, z []float64) { separateMean(c.exponents(), b, z, false) },
		separateDual: func(c Cone, b, z []float64) { separateMean(c.exponents(), b, z, true) },
	}
}

// weightsTolerance is how far the sum of weights may be from 1, many times what the rounding of the weights comes to.
const weightsTolerance = 1e-12

func wrongWeights(c Cone) string {
	var exact exactSum // a million times 1e-6 adds up to 1 + 8e-12 in doubles
	for i, w := range c.Weights {
		if !(w > 0 && w <= 1) {
			return fmt.Sprintf("weight %d is %g, expected a number in (0, 1]", i, w)
		}
		exact.add(w)
	}
	sum := exact.value()
	switch {
	case !(math.Abs(sum-1) <= weightsTolerance):
		return fmt.Sprintf("weights have the sum %g, expected 1", sum)
	case c.Dim <= len(c.Weights):
		return fmt.Sprintf("dimension %d, a generalized power cone with %d weights has more", c.Dim, len(c.Weights))
	}
	return ""
}

// weightedMean returns prod (s_i + a)^w_i, over w_i in the dual cone; -1 where a factor is negative.
func weightedMean(weights, s []float64, a float64, dual bool) float64 {
	mean := 1.0
	for i, w := range weights {
		x := s[i] + a
		if dual {
			x /= w
		}
		if !(x >= 0) {
			return -1
		}
		mean *= math.Pow(x, w)
	}
	return mean
}

// separateMean takes the gradient of the concave f(x, z) = prod x_i^w_i - |z|, as separateExponential does, in the
// variables x_i/w_i for the dual cone. Where a factor is zero the gradient is infinite, and is taken at a point
// y = b + (d, 0) close by, d >= 0, with f(y) < 0: as g >= 0 in its first entries, g'b <= g'y = f(y).
func separateMean(weights, b, z []float64, dual bool) {
	k := len(weights)
	for i, v := range b[:k] {
		if v < 0 {
			z[i] = 1
			return
		}
	}
	norm := norm2(b[k:])
	y := make([]float64, k)
	for floor := min(norm, math.MaxFloat64) / 2; floor > 0; floor /= 2 {
		for i, v := range b[:k] {
			if y[i] = max(v, floor); dual {
				y[i] = max(v, floor*weights[i])
			}
		}
		mean := weightedMean(weights, y, 0, dual)
		if !(mean < norm) {
			continue
		}
		for i, w := range weights {
			z[i] = w * mean / y[i]
		}
		for i, v := range b[k:] {
			z[k+i] = -v / norm
		}
		return
	}
}
