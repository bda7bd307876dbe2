package native

import "math"

// walk is work space of follow.
type walk struct{ d, step, s, z []float64 }

func newWalk(n int) *walk {
	return &walk{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
}

// follow is smooth of cones without the scaling of Nesterov and Todd. It follows the central path of the pairs with this
// difference: from near it, where multiples of e lead at last, by primal-dual steps, for which mu may be far below the
// distances from the boundary.
func follow(c pathCone, w *walk, s, z []float64, mu float64) {
	nu := float64(c.degree())
	own := dot(s, z) / nu
	for a := math.Sqrt(max(mu, math.Abs(own))); !c.central(s, z, own) && a <= math.MaxFloat64; a *= 2 {
		c.addUnit(s, a)
		c.addUnit(z, a)
		own = dot(s, z) / nu
	}
	last := math.Inf(1)
	for range newtonSteps {
		if !c.scale(s, z) {
			return
		}
		target := max(mu, smoothingFactor*own)
		clear(w.step)
		c.combined(w.d, s, z, w.step, w.step, target)
		copy(w.step, w.d)
		if !c.solvePlus(w.step) { // ds = dz: (H + I) dz = -d
			return
		}
		size := dot(w.d, w.step) / target
		scaleBy(w.step, -1)
		a := c.step(s, z, w.step, w.step, 1)
		if a < 1 {
			a *= stepFraction
		}
		for ; a >= smoothingStep; a *= backtrack {
			copy(w.s, s)
			copy(w.z, z)
			axpy(a, w.step, w.s)
			axpy(a, w.step, w.z)
			if own = dot(w.s, w.z) / nu; c.central(w.s, w.z, own) {
				copy(s, w.s)
				copy(z, w.z)
				break
			}
		}
		if a < smoothingStep || target == mu && (size <= smoothingEnd*smoothingEnd || converged(size, last)) {
			break
		}
		last = size
	}
	c.onPath(z, mu)
}

const (
	// A step of smoothing lowers mu by smoothingFactor at most, which leaves the pair near the path. Where it is cut below
	// smoothingStep nevertheless, mu is rounding. The last one is below smoothingEnd, of which the square is left.
	smoothingFactor = 0.1
	smoothingStep   = 0.01
	smoothingEnd    = 1e-4
)

// converged says, by the squared decrements of a step and of the last one, that Newton's method ends: from a decrement
// of 1/4 on a step leaves less than half of it, (l/(1 - l))^2 of l, but for rounding, which is as large as the point.
func converged(decrement, last float64) bool {
	return !(decrement > newtonEnd*newtonEnd) || last < 1.0/16 && decrement > last/4
}

// shiftInside returns the smallest a with in(a), rounded up, for a point with entries of the given size.
func shiftInside(size float64, in func(a float64) bool) float64 {
	if !(size <= math.MaxFloat64) {
		return math.NaN()
	}
	lo, hi := -2*size, size+1e-300
	for !in(hi) {
		lo = hi
		hi *= 2
		if math.IsInf(hi, 1) {
			return hi
		}
	}
	for range shiftSteps {
		if mid := (lo + hi) / 2; in(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// shiftSteps bisections leave 1e-9 of the size of the point.
const shiftSteps = 30

// stepInside returns an a <= limit with in(a), at most boundaryError short of the largest; 0 if that is too short.
func stepInside(limit float64, in func(a float64) bool) float64 {
	if in(limit) {
		return limit
	}
	lo, hi := limit, limit
	for !in(lo) {
		hi = lo
		if lo /= 2; !(lo >= minStep && lo < hi) { // also where the limit is not a number
			return 0
		}
	}
	for hi-lo > boundaryError*hi {
		if mid := (lo + hi) / 2; in(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

const boundaryError = 1e-3
