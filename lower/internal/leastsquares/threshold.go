package leastsquares

import "math"

// Soft is the proximal map of w|.|: sign(v) max(0, |v| - w).
func Soft(v, w float64) float64 {
	switch {
	case v > w:
		return v - w
	case v < -w:
		return v + w
	}
	return 0
}

// SoftNorm is |soft(t c_g, w1)|_2 over a group.
func SoftNorm(group []int, c []float64, t float64, w1 func(int) float64) float64 {
	sum := 0.0
	for _, j := range group {
		if v := t*math.Abs(c[j]) - w1(j); v > 0 {
			sum += v * v
		}
	}
	return math.Sqrt(sum)
}
