package backends

import (
	"math"

	"github.com/conetune/conetune/internal/dense"
)

// smallestShift returns the smallest d >= 0 for which in holds, rounded up in the
// tenth digit, for a monotone in and points with entries up to size. Shifts
// below size 2^-60 are within the rounding of the point and are not resolved.
func smallestShift(size float64, in func(d float64) bool) float64 {
	if in(0) {
		return 0
	}
	hi := math.Ldexp(max(size, 1e-290), -60)
	for !in(hi) {
		if hi *= 2; !(hi <= math.MaxFloat64) { // as where an entry is NaN
			return hi
		}
	}
	lo := hi / 2
	for range 34 {
		if mid := (lo + hi) / 2; in(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// norm2 is the Euclidean norm. It scales only when the plain sum of squares
// leaves the range of doubles.
func norm2(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	if sum > 1e-280 && sum < 1e280 || sum == 0 && maxAbs(v) == 0 {
		return math.Sqrt(sum)
	}
	size := maxAbs(v)
	if !(size > 0 && size <= math.MaxFloat64) {
		return size
	}
	sum = 0
	for _, x := range v {
		sum += (x / size) * (x / size)
	}
	return size * math.Sqrt(sum)
}

// Those of package dense.
func maxAbs(v []float64) float64    { return dense.MaxAbs(v) }
func norm1(v []float64) float64     { return dense.Norm1(v) }
func scale(v []float64, by float64) { dense.Scale(v, by) }
