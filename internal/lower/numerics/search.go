package numerics

import "math"

// inside is how far a point of a search keeps from the ends of what is left, as a share of that, and narrow what is too
// short to go on.
const inside, narrow = 0.05, 1e-12

// Little is the share of the slope at 0 that a step may leave where an exact one is of no use.
const Little = 0.3

// Search looks along a direction for the maximum of a concave function: it takes the step 1 if the function still rises
// there, and else one at which the slope is a share left of that at 0 at most. at returns the slope at a step, whether
// there is a point to go to at all, and whether it is good enough whatever its slope. The result says whether the last
// step is one.
func Search(slope, left float64, most int, at func(step float64) (slope float64, ok, done bool)) bool {
	lo, hi, slopeLo, step := 0.0, 1.0, slope, 1.0
	for range most {
		s, ok, done := at(step)
		if done || ok && (s >= 0 && step == 1 || math.Abs(s) <= left*slope) {
			return true
		}
		next := math.NaN()
		switch {
		case !ok:
			hi = step
		case s > 0:
			lo, slopeLo = step, s
		default:
			next = lo + (step-lo)*slopeLo/(slopeLo-s)
			hi = step
		}
		if math.IsNaN(next) {
			next = (lo + hi) / 2
		}
		span := hi - lo
		if span < narrow {
			return false
		}
		step = math.Min(math.Max(next, lo+inside*span), hi-inside*span)
	}
	return false
}

// Bisect is the number between low and high up to which others are below what is looked for, to neighbouring numbers.
func Bisect(low, high float64, below func(c float64) bool) float64 {
	for {
		c := low + (high-low)/2
		switch {
		case c <= low || c >= high:
			return c
		case below(c):
			low = c
		default:
			high = c
		}
	}
}
