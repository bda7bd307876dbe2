package machine

import "math"

// flatEnough is the share of its slope at the begin of a step at which a search along it ends.
const flatEnough = 0.1

// flatten returns how far along a step, up to t, a convex function falls: where its derivative, below 0 at the begin,
// is near 0 or else still negative at the end. It is the rule of false position in its Illinois form (Dowell, Jarratt
// 1971).
func flatten(t, slope float64, derivative func(t float64) float64) float64 {
	last := derivative(t)
	if last <= flatEnough*math.Abs(slope) {
		return t
	}
	lo, hi, atLo, atHi := 0.0, t, slope, last
	for range 30 {
		t = lo + (hi-lo)*max(0.02, min(0.98, -atLo/(atHi-atLo)))
		switch at := derivative(t); {
		case math.Abs(at) <= flatEnough*math.Abs(slope):
			return t
		case at < 0:
			lo, atLo = t, at
			atHi /= 2
		default:
			hi, atHi = t, at
			atLo /= 2
		}
	}
	return t
}
