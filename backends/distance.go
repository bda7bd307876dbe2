package backends

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Distance says how far s is from the cone: the smallest d >= 0 with s + d e in
// the cone, where e is an interior direction whose largest entry is 1. It bounds
// the distance in the largest absolute entry from above, and is zero exactly in
// the cone.
//
//	nonnegative, zero, box   the largest violation of an entry
//	second-order             e = (1, 0, .., 0), so d = max(0, |v| - t)
//	psd                      e = I, so d = max(0, -smallest eigenvalue)
//	exponential and its dual e = (-1, 1, 1)
//	power and its dual       e = (1, 1, 0)
//	nuclear norm             e = (1, 0, .., 0), so d = max(0, |X|_* - t), and |Z|_2 - t for the dual
//
// It panics unless s has length c.Dim, and returns NaN if an entry is NaN.
func (c Cone) Distance(s []float64) float64 {
	c.mustFit(s)
	switch c.Kind {
	case ZeroCone:
		return maxAbs(s)
	case BoxCone:
		d := 0.0
		for i, v := range s {
			d = max(d, c.Lower[i]-v, v-c.Upper[i])
		}
		return d
	case NuclearNormCone:
		nuclear, _ := c.matrixNorms(s[1:])
		return max(0, nuclear-s[0])
	default:
		return pointedDistance(c.Kind, c.Alpha, s)
	}
}

// DualDistance says how far z is from the dual cone, in the sense of
// [Cone.Distance]. For a box it is the largest multiplier of a bound that is
// infinite: z+ counts where Lower is -Inf, z- where Upper is +Inf.
func (c Cone) DualDistance(z []float64) float64 {
	c.mustFit(z)
	switch c.Kind {
	case ZeroCone:
		return 0 * maxAbs(z) // zero, or NaN
	case BoxCone:
		d := 0.0
		for i, v := range z {
			switch {
			case math.IsNaN(v):
				return v
			case v > 0 && math.IsInf(c.Lower[i], -1), v < 0 && math.IsInf(c.Upper[i], 1):
				d = max(d, math.Abs(v))
			}
		}
		return d
	case NuclearNormCone:
		_, spectral := c.matrixNorms(z[1:])
		return max(0, spectral-z[0])
	default:
		return pointedDistance(dualKind(c.Kind), c.Alpha, z)
	}
}

// boxTerms returns beta(z) = sum l z+ - u z- of a box. Multipliers of infinite bounds are left to
// DualDistance.
func (c Cone) boxTerms(z []float64) (beta float64) {
	for i, v := range z {
		bound := c.Lower[i]
		if v < 0 {
			bound = c.Upper[i]
		}
		if v != 0 && !math.IsInf(bound, 0) {
			beta += bound * v // u v = -u z- for v < 0
		}
	}
	return beta
}

func (c Cone) mustFit(v []float64) {
	if len(v) != c.Dim {
		panic("backends: a vector does not have the dimension of its cone")
	}
}

// dualKind returns the kind of the dual cone; cones not listed are self-dual.
func dualKind(k ConeKind) ConeKind {
	switch k {
	case ExponentialCone:
		return DualExponentialCone
	case DualExponentialCone:
		return ExponentialCone
	case PowerCone:
		return DualPowerCone
	case DualPowerCone:
		return PowerCone
	}
	return k
}

// pointedDistance is Distance for the cones that are neither zero nor a box nor of
// matrices with a norm.
func pointedDistance(k ConeKind, alpha float64, s []float64) float64 {
	switch k {
	case NonnegativeCone:
		d := 0.0
		for _, v := range s {
			d = max(d, -v)
		}
		return d
	case SecondOrderCone:
		if len(s) == 0 {
			return 0
		}
		return max(0, norm2(s[1:])-s[0])
	case PSDCone:
		if definite(s) {
			return 0
		}
		return max(0, -smallestEigenvalue(s))
	}
	size := maxAbs(s)
	if !(size <= math.MaxFloat64) {
		return math.NaN()
	}
	if size > 1e300 { // shifts of it would leave the numbers
		return math.Ldexp(pointedDistance(k, alpha, []float64{math.Ldexp(s[0], -64), math.Ldexp(s[1], -64), math.Ldexp(s[2], -64)}), 64)
	}
	u, v, w := s[0], s[1], s[2]
	switch k {
	case ExponentialCone:
		return smallestShift(size, func(d float64) bool { return inExponential(u-d, v+d, w+d) })
	case DualExponentialCone:
		return smallestShift(size, func(d float64) bool { return inDualExponential(u-d, v+d, w+d) })
	case PowerCone:
		return smallestShift(size, func(d float64) bool { return inPower(alpha, u+d, v+d, w) })
	default: // DualPowerCone
		return smallestShift(size, func(d float64) bool { return inPower(alpha, (u+d)/alpha, (v+d)/(1-alpha), w) })
	}
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

func inPower(a, u, v, w float64) bool {
	return u >= 0 && v >= 0 && math.Pow(u, a)*math.Pow(v, 1-a) >= math.Abs(w)
}

// smallestShift returns the smallest d >= 0 for which in holds, rounded up in the
// tenth digit, for a monotone in and points with entries up to size. Shifts
// below size 2^-60 are within the rounding of the point and are not resolved.
func smallestShift(size float64, in func(d float64) bool) float64 {
	if in(0) {
		return 0
	}
	hi := math.Ldexp(max(size, 1e-290), -60)
	for !in(hi) {
		hi *= 2
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

// smallestEigenvalue of the matrix whose scaled lower triangle is s; NaN if the
// matrix is not finite, and +Inf for order zero.
func smallestEigenvalue(s []float64) float64 {
	n := PSDOrder(len(s))
	if n == 0 {
		return math.Inf(1)
	}
	size := maxAbs(s)
	if size == 0 || !(size <= math.MaxFloat64) {
		return 0 * size // zero, or NaN
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetric(s, n, size), false) {
		return math.NaN()
	}
	return size * eigen.Values(nil)[0]
}

// symmetric returns the matrix of order n whose scaled lower triangle is s,
// divided by size, the largest entry. Entries below 1e-30, far within the rounding
// of the eigenvalues, become zero: the eigensolver fails on blocks of them.
func symmetric(s []float64, n int, size float64) *mat.SymDense {
	out := mat.NewSymDense(n, nil)
	k := 0
	for j := range n {
		for i := j; i < n; i++ {
			v := s[k] / size
			if i != j {
				v /= math.Sqrt2
			}
			if math.Abs(v) >= 1e-30 {
				out.SetSym(i, j, v)
			}
			k++
		}
	}
	return out
}

// maxAbs is the largest absolute entry, NaN if there is one.
func maxAbs(v []float64) float64 {
	d := 0.0
	for _, x := range v {
		d = max(d, math.Abs(x))
	}
	return d
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
