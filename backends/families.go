package backends

import (
	"fmt"
	"math"
	"slices"
)

// family is what the package knows of one kind of cone. A new kind is a file with its set and its dual, and a row of
// families.
type family struct {
	name string
	// wrong says what is wrong with the sizes and numbers of a cone, "" for nothing. It is nil where every dimension is
	// right.
	wrong func(c Cone) string
	// own is the cone, dual its dual cone.
	own, dual set
	// separate writes z in the dual of c with b'z < 0 into z, which is zero, for b outside c. It is nil for products of
	// intervals, whose rows are looked at one by one.
	separate func(c Cone, b, z []float64)
	// intervals says that it is a product of intervals.
	intervals bool
	// shift adds a multiple of the direction e of Distance, which is that of the dual cone too; nil for products of
	// intervals.
	shift func(c Cone, s []float64, a float64)
	// ellipsoid returns the symmetric D, row by row, of the ellipsoid {v + Dw: |w| <= 1} of Dikin at a point v of the
	// cone; nil where it is not known.
	ellipsoid func(v []float64) []float64
	// tangent linearises the cone at complementary s and z, which differ from the caller's by positive factors; those of a
	// box are the distances from the nearest bounds.
	tangent func(c Cone, t *tangents, first int, s, z []float64)
	// ray says that a cone with one row is the ray of the nonnegative numbers.
	ray bool
}

// set is a closed convex cone, or a box.
type set struct {
	// distance is that of [Cone.Distance].
	distance func(c Cone, s []float64) float64
	// into moves s into the set, so far inside that the rounding of the test of membership does not matter. A
	// product of intervals has it for its dual only.
	into func(c Cone, s []float64)
	// barely moves s into the set by no more than it takes to be sure of it; nil where into does so.
	barely func(c Cone, s []float64)
}

// families has a row for each ConeKind.
var families = [...]family{
	ZeroCone:            products("zero", nil),
	NonnegativeCone:     products("nonnegative", nil),
	BoxCone:             products("box", wrongBox),
	SecondOrderCone:     secondOrderFamily,
	PSDCone:             psdFamily,
	ExponentialCone:     exponentialFamilies.family("exponential", false),
	DualExponentialCone: exponentialFamilies.family("dual exponential", true),
	PowerCone:           powerFamilies.family("power", false),
	DualPowerCone:       powerFamilies.family("dual power", true),
	NuclearNormCone:     nuclearNormFamily,

	GeneralizedPowerCone:     generalizedPowerFamilies.family("generalized power", false),
	DualGeneralizedPowerCone: generalizedPowerFamilies.family("dual generalized power", true),
}

// known says whether there is such a kind.
func (k ConeKind) known() bool { return k >= 0 && int(k) < len(families) }

// String returns the name of the cone as it appears in messages.
func (k ConeKind) String() string {
	if !k.known() {
		return fmt.Sprintf("ConeKind(%d)", int(k))
	}
	return families[k].name
}

// Intervals says whether the cone is a product of intervals: zero, nonnegative or a box.
func (k ConeKind) Intervals() bool { return k.known() && families[k].intervals }

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
//	generalized power, dual  e = (1, .., 1, 0, .., 0), ones for x
//	nuclear norm             e = (1, 0, .., 0), so d = max(0, |X|_* - t), and |Z|_2 - t for the dual
//
// It panics unless the cone has a known kind and bounds, and s length c.Dim, and returns NaN if an entry is NaN.
func (c Cone) Distance(s []float64) float64 {
	c.mustFit(s)
	return families[c.Kind].own.distance(c, s)
}

// DualDistance says how far z is from the dual cone, in the sense of
// [Cone.Distance]. For a box it is the largest multiplier of a bound that is
// infinite: z+ counts where Lower is -Inf, z- where Upper is +Inf.
func (c Cone) DualDistance(z []float64) float64 {
	c.mustFit(z)
	return families[c.Kind].dual.distance(c, z)
}

func (c Cone) mustFit(v []float64) {
	if c.Kind < 0 || int(c.Kind) >= len(families) {
		panic("backends: a cone has no known kind")
	}
	if len(v) != c.Dim || c.Kind == BoxCone && (len(c.Lower) != c.Dim || len(c.Upper) != c.Dim) {
		panic("backends: a vector does not have the dimension of its cone")
	}
}

// validate returns what is wrong with the cone.
func (c Cone) validate(field string) error {
	if !c.Kind.known() {
		return bad(field, "unknown kind %d", int(c.Kind))
	}
	if c.Dim < 0 {
		return bad(field, "negative dimension %d", c.Dim)
	}
	if wrong := families[c.Kind].wrong; wrong != nil {
		if reason := wrong(c); reason != "" {
			return bad(field, "%s", reason)
		}
	}
	return nil
}

// intoDual moves z into the dual cone, so far inside that the rounding of the test of membership
// does not matter. Multipliers of infinite bounds of a box become zero.
func (c Cone) intoDual(z []float64) { families[c.Kind].dual.into(c, z) }

// barelyIntoDual does so by no more than it takes.
func (c Cone) barelyIntoDual(z []float64) { families[c.Kind].dual.intoBarely(c, z) }

// intoBarely moves s into the set by no more than it takes.
func (of *set) intoBarely(c Cone, s []float64) {
	if of.barely != nil {
		of.barely(c, s)
	} else {
		of.into(c, s)
	}
}

// intoRecession moves s into the recession cone.
func (c Cone) intoRecession(s []float64) {
	switch f := &families[c.Kind]; {
	case c.Dim == 0:
	case f.intervals:
		for i, v := range s {
			if low, high := c.interval(i); v < 0 && !math.IsInf(low, -1) || v > 0 && !math.IsInf(high, 1) {
				s[i] = 0
			}
		}
	default:
		f.own.into(c, s)
	}
}

// awayFromRecession writes into left how far the direction s, known up to rounding, is from some point of the recession
// cone, entry by entry: from near, which intoRecession has made of s, unless there is a barely.
func (c Cone) awayFromRecession(s, near, rounding, left []float64) {
	f := &families[c.Kind]
	if c.Dim == 0 {
		return
	}
	if f.intervals {
		for i, v := range s {
			low, high := c.interval(i)
			left[i] = 0
			if !math.IsInf(low, -1) {
				left[i] = max(left[i], rounding[i]-v)
			}
			if !math.IsInf(high, 1) {
				left[i] = max(left[i], rounding[i]+v)
			}
		}
		return
	}
	if f.own.barely != nil {
		near = slices.Clone(s)
		f.own.barely(c, near)
	}
	for i, v := range near {
		left[i] = math.Abs(v-s[i]) + rounding[i]
	}
}

// inUnits has Distance and DualDistance, which are given, in the units e of s and 1/e of z, which the rows of a cone
// that is no product of intervals share.
func (c Cone) inUnits(s, z, e []float64, outside, outsideDual float64) (primal, dual float64) {
	if !families[c.Kind].intervals {
		if c.Dim > 0 && e[0] > 0 {
			return e[0] * outside, outsideDual / e[0]
		}
		return 0, 0
	}
	for i, v := range s {
		if low, high := c.interval(i); v < low || v > high {
			primal = max(primal, e[i]*max(low-v, v-high))
		}
		if e[i] > 0 {
			dual = max(dual, c.denied(i, z[i])/e[i])
		}
	}
	return primal, dual
}

// writeIntervals writes the intervals of the entries, and NaN for a cone that is no product of these.
func (c Cone) writeIntervals(low, high []float64) {
	f := &families[c.Kind]
	switch {
	case f.intervals:
		for i := range low {
			low[i], high[i] = c.interval(i)
		}
	case f.ray && c.Dim == 1:
		high[0] = math.Inf(1)
	default:
		for i := range low {
			low[i], high[i] = math.NaN(), math.NaN()
		}
	}
}

// interior returns a point of the interior of a cone that is no product of intervals.
func interior(c Cone) []float64 {
	e := make([]float64, c.Dim)
	families[c.Kind].shift(c, e, 1)
	return e
}

// inside is one and some units of rounding for each of n operations.
func inside(n int) float64 { return 1 + 4*float64(n+4)*unitRoundoff }

// curved is a cone that is given by tests of membership, with its dual.
type curved struct {
	wrong func(c Cone) string
	// inOwn and inDual say whether s + a e is in the cone or in its dual.
	inOwn, inDual             func(c Cone, s []float64, a float64) bool
	shift                     func(c Cone, s []float64, a float64)
	separateOwn, separateDual func(c Cone, b, z []float64)
	boundary                  boundary
}

// family returns that of the cone, or of its dual.
func (k curved) family(name string, dual bool) family {
	out := family{name: name, wrong: k.wrong, own: k.set(k.inOwn), dual: k.set(k.inDual), separate: k.separateOwn,
		shift: k.shift, tangent: k.boundary.tangent(dual)}
	if dual {
		out.own, out.dual, out.separate = out.dual, out.own, k.separateDual
	}
	return out
}

// set is the cone of a test.
func (k curved) set(in func(c Cone, s []float64, a float64) bool) set {
	return set{
		distance: func(c Cone, s []float64) float64 { return shiftInto(c, s, in) },
		into: func(c Cone, s []float64) {
			less := make([]float64, len(s)) // by more than the rounding of the test
			k.shift(c, less, -4*float64(len(s)+4)*unitRoundoff)
			for i, v := range s {
				less[i] = v + less[i]*math.Abs(v)
			}
			if !in(c, less, 0) { // what is inside stays, so that equations that it meets hold
				k.shift(c, s, shiftInto(c, s, in)*(1+1e-9)+16*unitRoundoff*maxAbs(s))
			}
		},
	}
}

// shiftInto returns the smallest d >= 0 with s + d e in the cone.
func shiftInto(c Cone, s []float64, in func(c Cone, s []float64, a float64) bool) float64 {
	size := maxAbs(s)
	if !(size <= math.MaxFloat64) {
		return math.NaN()
	}
	if size > 1e300 { // shifts of it would leave the numbers
		small := make([]float64, len(s))
		for i, v := range s {
			small[i] = math.Ldexp(v, -64)
		}
		return math.Ldexp(shiftInto(c, small, in), 64)
	}
	return smallestShift(size, func(d float64) bool { return in(c, s, d) })
}
