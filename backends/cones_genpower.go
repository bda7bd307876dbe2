package backends

import (
	"fmt"
	"math"
)

// generalizedPowerFamilies has the generalized power cones and their duals, those in the variables x_i/w_i.
var generalizedPowerFamilies = curved{
	wrong: wrongWeights,
	inOwn: func(c Cone, s []float64, a float64) bool {
		return weightedMean(c.Weights, s, a, false) >= norm2(s[len(c.Weights):])
	},
	inDual: func(c Cone, s []float64, a float64) bool {
		return weightedMean(c.Weights, s, a, true) >= norm2(s[len(c.Weights):])
	},
	shift: func(c Cone, s []float64, a float64) {
		for i := range c.Weights {
			s[i] += a
		}
	},
	separateOwn:  func(c Cone, b, z []float64) { separateMean(c.Weights, b, z, false) },
	separateDual: func(c Cone, b, z []float64) { separateMean(c.Weights, b, z, true) },
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

// separateMean takes the gradient of f(x, z) = prod x_i^w_i - |z|, as separatePower does, at a point without zeros near
// b.
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
