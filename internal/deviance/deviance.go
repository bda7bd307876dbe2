// Package deviance has the loss of counts.
package deviance

import "math"

// HalfPoisson is half the Poisson deviance of a target y >= 0 from a mean, whose logarithm is given too, as the mean
// can be too small for a number: y log(y / mean) - y + mean.
func HalfPoisson(y, mean, logMean float64) float64 {
	if y == 0 {
		return mean
	}
	if r := (mean - y) / y; r > -0.5 && r < 1 {
		return y * (r - math.Log1p(r)) // without cancellation
	}
	return mean - y + y*(math.Log(y)-logMean)
}
