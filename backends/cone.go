package backends

import (
	"iter"
	"math"

	"github.com/conetune/conetune/internal/dense"
)

// ConeKind names a family of cones.
type ConeKind int

// The cones of the contract. Vectors are in the order given here.
const (
	// ZeroCone is {0}; its rows are equations.
	ZeroCone ConeKind = iota
	// NonnegativeCone is the nonnegative orthant.
	NonnegativeCone
	// BoxCone is the set of s with Lower <= s <= Upper, entry by entry.
	BoxCone
	// SecondOrderCone is {(t, v): |v|_2 <= t}.
	SecondOrderCone
	// PSDCone holds the n x n symmetric positive semidefinite matrices as their
	// lower triangle by columns, (1,1), (2,1), .., (n,1), (2,2), .., with the
	// off-diagonal entries multiplied by sqrt 2.
	PSDCone
	// ExponentialCone is the closure of {(u, v, w): v > 0, v exp(u/v) <= w}.
	ExponentialCone
	// DualExponentialCone is the dual of ExponentialCone,
	// the closure of {(u, v, w): u < 0, -u exp(v/u) <= e w}.
	DualExponentialCone
	// PowerCone is {(u, v, w): u^a v^(1-a) >= |w|, u, v >= 0} with a = Alpha.
	PowerCone
	// DualPowerCone is the dual of PowerCone,
	// {(u, v, w): (u/a)^a (v/(1-a))^(1-a) >= |w|, u, v >= 0}.
	DualPowerCone
	// NuclearNormCone is {(t, X): |X|_* <= t} with the sum |X|_* of the singular
	// values of a matrix X of Rows x Cols, whose entries come by columns after t.
	// Its dual is {(t, Z): |Z|_2 <= t} with the largest singular value |Z|_2. It is
	// a cone that few backends have; the others take [X1 X; X' X2] in a PSDCone with
	// (tr X1 + tr X2) / 2 <= t.
	NuclearNormCone
	// GeneralizedPowerCone is {(x, z): prod x_i^w_i >= |z|_2, x >= 0} with w = Weights of sum 1, and
	// the entries of z after those of x.
	GeneralizedPowerCone
	// DualGeneralizedPowerCone is the dual of GeneralizedPowerCone,
	// {(x, z): prod (x_i/w_i)^w_i >= |z|_2, x >= 0}.
	DualGeneralizedPowerCone
)

// Rows yields the cones of a product with their first rows.
func Rows(cones []Cone) iter.Seq2[int, Cone] {
	return func(yield func(first int, c Cone) bool) {
		first := 0
		for _, c := range cones {
			if !yield(first, c) {
				return
			}
			first += c.Dim
		}
	}
}

// rowsOf is the number of rows of all.
func rowsOf(cones []Cone) (rows int) {
	for _, c := range cones {
		rows += c.Dim
	}
	return rows
}

// Blocks visits the cones that are no products of intervals, whose rows can be scaled together only: their first rows,
// and how many they have.
func Blocks(cones []Cone, visit func(first, dim int)) {
	for first, c := range Rows(cones) {
		if !c.Kind.Intervals() && c.Dim > 0 {
			visit(first, c.Dim)
		}
	}
}

// Cone is one factor of the product K.
type Cone struct {
	Kind ConeKind
	// Dim is the number of rows of A that the cone takes; for a PSDCone of
	// order n it is n(n+1)/2, for a NuclearNormCone 1 + Rows Cols.
	Dim int
	// Lower and Upper are the bounds of a BoxCone, of length Dim, entries
	// -Inf and +Inf allowed. Nil for other cones.
	Lower, Upper []float64
	// Alpha is the exponent of a power cone, 0 < Alpha < 1.
	Alpha float64
	// Rows and Cols are the size of the matrix of a NuclearNormCone, 0 for other cones.
	Rows, Cols int
	// Weights are the exponents of a generalized power cone, positive, with the sum 1. Nil for other cones.
	Weights []float64
}

// Zero returns the cone {0} of dimension n.
func Zero(n int) Cone { return Cone{Kind: ZeroCone, Dim: n} }

// Nonnegative returns the nonnegative orthant of dimension n.
func Nonnegative(n int) Cone { return Cone{Kind: NonnegativeCone, Dim: n} }

// Box returns the set of s with lower <= s <= upper.
func Box(lower, upper []float64) Cone {
	return Cone{Kind: BoxCone, Dim: len(lower), Lower: lower, Upper: upper}
}

// SecondOrder returns the second-order cone of dimension n, its first entry
// being the bound on the norm of the others.
func SecondOrder(n int) Cone { return Cone{Kind: SecondOrderCone, Dim: n} }

// PSD returns the cone of positive semidefinite matrices of order n.
func PSD(n int) Cone { return Cone{Kind: PSDCone, Dim: fitting(float64(n) * (float64(n) + 1) / 2)} }

// fitting returns a dimension, -1, which no problem may have, if it does not fit into an int.
func fitting(dim float64) int {
	if dim >= math.MaxInt {
		return -1
	}
	return int(dim)
}

// Exponential returns the exponential cone.
func Exponential() Cone { return Cone{Kind: ExponentialCone, Dim: 3} }

// DualExponential returns the dual exponential cone.
func DualExponential() Cone { return Cone{Kind: DualExponentialCone, Dim: 3} }

// Power returns the power cone with exponent a.
func Power(a float64) Cone { return Cone{Kind: PowerCone, Dim: 3, Alpha: a} }

// DualPower returns the dual power cone with exponent a.
func DualPower(a float64) Cone { return Cone{Kind: DualPowerCone, Dim: 3, Alpha: a} }

// NuclearNorm returns the cone of a bound t and matrices of rows x cols whose
// nuclear norm is at most t.
func NuclearNorm(rows, cols int) Cone {
	return Cone{Kind: NuclearNormCone, Dim: fitting(1 + float64(rows)*float64(cols)), Rows: rows, Cols: cols}
}

// GeneralizedPower returns the cone of the weighted geometric means, with the weights alpha, that bound the norm of m
// numbers. Like Box it keeps alpha, which must not change.
func GeneralizedPower(alpha []float64, m int) Cone {
	return Cone{Kind: GeneralizedPowerCone, Dim: len(alpha) + m, Weights: alpha}
}

// DualGeneralizedPower returns the dual cone.
func DualGeneralizedPower(alpha []float64, m int) Cone {
	return Cone{Kind: DualGeneralizedPowerCone, Dim: len(alpha) + m, Weights: alpha}
}

// smallestShift returns the smallest d >= 0 for which in holds, rounded up in the
// tenth digit, for a monotone in and points with entries up to size. Shifts
// below size 2^-60 are within the rounding of the point and are not resolved.
func smallestShift(size float64, in func(d float64) bool) float64 {
	if in(0) {
		return 0
	}
	hi := math.Ldexp(max(size, 1e-290), -60)
	if !in(hi) { // by 2, 4, 16, .. times as much, and then the least power of two
		far := func(power int) bool { v := math.Ldexp(hi, power); return !(v <= math.MaxFloat64) || in(v) }
		out, inside := 0, 1
		for ; !far(inside); inside *= 2 {
			out = inside
		}
		for inside > out+1 {
			if mid := (out + inside) / 2; far(mid) {
				inside = mid
			} else {
				out = mid
			}
		}
		if hi = math.Ldexp(hi, inside); !(hi <= math.MaxFloat64) { // as where an entry is NaN
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
