package backends

import "math"

// exactSum adds products as if in twice the working precision, and bounds what is lost all the same (Ogita, Rump
// and Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005, with a running bound
// in place of their a-priori one, so that sums of few digits come out as exact). The zero value is an empty sum.
type exactSum struct {
	high, low float64 // the sum, and the sum of the rounding errors of high
	lost      float64 // the sum of the absolute rounding errors of low
	size      float64 // the sum of the absolute values of all terms
}

const (
	unitRoundoff = 0x1p-53
	// Products below tinyProduct have a rounding error that is no multiple of the smallest number, and less than
	// smallestNormal.
	tinyProduct, smallestNormal = 0x1p-960, 0x1p-1022
)

// twoSum returns a + b and its rounding error.
func twoSum(a, b float64) (sum, err float64) {
	sum = a + b
	t := sum - a
	return sum, (a - (sum - t)) + (b - t)
}

// add adds a number.
func (s *exactSum) add(v float64) {
	var err float64
	s.high, err = twoSum(s.high, v)
	s.size += math.Abs(v)
	s.addLow(err)
}

func (s *exactSum) addLow(v float64) {
	if v != 0 {
		var err float64
		s.low, err = twoSum(s.low, v)
		s.lost += math.Abs(err)
	}
}

// addProduct adds a b.
func (s *exactSum) addProduct(a, b float64) {
	if a == 0 || b == 0 {
		s.high += 0 * a * b // NaN, where one is not finite
		return
	}
	v := a * b
	s.addLow(math.FMA(a, b, -v))
	if math.Abs(v) < tinyProduct {
		s.lost += smallestNormal
	}
	s.add(v)
}

// addTriple adds a b c.
func (s *exactSum) addTriple(a, b, c float64) {
	ab := a * b
	if math.Abs(ab) < tinyProduct && ab != 0 {
		s.lost += smallestNormal * math.Abs(c)
	}
	s.addProduct(math.FMA(a, b, -ab), c)
	s.addProduct(ab, c)
}

// value returns the sum, to the working precision.
func (s *exactSum) value() float64 { return s.high + s.low }

// bound returns a number that the error of value does not exceed, zero where it is exact. It is infinite or NaN where
// the sum is not finite.
func (s *exactSum) bound() float64 {
	sum, err := twoSum(s.high, s.low)
	return 1.01*s.lost + math.Abs(err) + 0*sum
}

// most returns a number that the absolute value of the sum does not exceed.
func (s *exactSum) most() float64 {
	v, b := math.Abs(s.value()), s.bound()
	if b == 0 {
		return v
	}
	return (v + b) * (1 + 2*unitRoundoff)
}
