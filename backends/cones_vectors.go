package backends

import (
	"fmt"
	"math"
)

// The cones that are products of intervals: zero, nonnegative and box.

var zeroFamily = family{
	name: "zero", tangent: tangentZero,
	own: set{distance: func(_ Cone, s []float64) float64 { return maxAbs(s) }},
	dual: set{
		distance: func(_ Cone, z []float64) float64 { return 0 * maxAbs(z) }, // zero, or NaN
		into:     func(Cone, []float64) {},
	},
	separate: func(_ Cone, b, z []float64) {
		i := argmax(b, math.Abs)
		z[i] = -math.Copysign(1, b[i])
	},
	product: &product{
		intervals: func(_ Cone, low, high []float64) {
			clear(low)
			clear(high)
		},
		recession: func(_ Cone, s []float64) { clear(s) },
		left: func(_ Cone, s, rounding, left []float64) {
			for i, v := range s {
				left[i] = math.Abs(v) + rounding[i]
			}
		},
		distances: func(_ Cone, s, _, e []float64) (primal, dual float64) {
			for i, v := range s {
				primal = max(primal, e[i]*math.Abs(v))
			}
			return primal, 0
		},
	},
}

var nonnegativeFamily = family{
	name: "nonnegative", tangent: tangentNonnegative, own: orthant, dual: orthant,
	separate: func(_ Cone, b, z []float64) { z[argmax(b, func(v float64) float64 { return -v })] = 1 },
	product: &product{
		intervals: func(_ Cone, low, high []float64) {
			clear(low)
			for i := range high {
				high[i] = math.Inf(1)
			}
		},
		recession: orthant.into,
		left: func(_ Cone, s, rounding, left []float64) {
			for i, v := range s {
				left[i] = max(0, rounding[i]-v)
			}
		},
		distances: func(_ Cone, s, z, e []float64) (primal, dual float64) {
			for i, v := range s {
				primal = max(primal, -e[i]*v)
				if z[i] < 0 && e[i] > 0 {
					dual = max(dual, -z[i]/e[i])
				}
			}
			return primal, dual
		},
	},
}

var orthant = set{
	distance: func(_ Cone, s []float64) float64 {
		d := 0.0
		for _, v := range s {
			d = max(d, -v)
		}
		return d
	},
	into: func(_ Cone, s []float64) {
		for i, v := range s {
			s[i] = max(0, v)
		}
	},
}

var boxFamily = family{
	name: "box", wrong: wrongBox, tangent: tangentBox, separate: separateBox,
	own: set{
		distance: func(c Cone, s []float64) float64 {
			d := 0.0
			for i, v := range s {
				d = max(d, c.Lower[i]-v, v-c.Upper[i])
			}
			return d
		},
	},
	dual: set{distance: infiniteBounds, into: func(c Cone, z []float64) {
		for i, v := range z {
			if v > 0 && math.IsInf(c.Lower[i], -1) || v < 0 && math.IsInf(c.Upper[i], 1) {
				z[i] = 0
			}
		}
	}},
	product: &product{
		intervals: func(c Cone, low, high []float64) {
			copy(low, c.Lower)
			copy(high, c.Upper)
		},
		recession: func(c Cone, s []float64) {
			for i, v := range s {
				if v < 0 && !math.IsInf(c.Lower[i], -1) || v > 0 && !math.IsInf(c.Upper[i], 1) {
					s[i] = 0
				}
			}
		},
		left: func(c Cone, s, rounding, left []float64) {
			for i, v := range s {
				if !math.IsInf(c.Lower[i], -1) {
					left[i] = max(left[i], rounding[i]-v)
				}
				if !math.IsInf(c.Upper[i], 1) {
					left[i] = max(left[i], rounding[i]+v)
				}
			}
		},
		distances: func(c Cone, s, z, e []float64) (primal, dual float64) {
			for i, v := range s {
				if v < c.Lower[i] || v > c.Upper[i] {
					primal = max(primal, e[i]*max(c.Lower[i]-v, v-c.Upper[i]))
				}
				if e[i] > 0 && (z[i] > 0 && math.IsInf(c.Lower[i], -1) || z[i] < 0 && math.IsInf(c.Upper[i], 1)) {
					dual = max(dual, math.Abs(z[i])/e[i])
				}
			}
			return primal, dual
		},
	},
}

func wrongBox(c Cone) string {
	if len(c.Lower) != c.Dim || len(c.Upper) != c.Dim {
		return fmt.Sprintf("has %d lower and %d upper bounds for dimension %d", len(c.Lower), len(c.Upper), c.Dim)
	}
	for j := range c.Lower {
		if l, u := c.Lower[j], c.Upper[j]; math.IsNaN(l) || math.IsNaN(u) || math.IsInf(l, 1) || math.IsInf(u, -1) {
			return fmt.Sprintf("entry %d has bounds [%g, %g], which are not numbers or infinite on the wrong side", j, l, u)
		} else if l > u {
			return fmt.Sprintf("entry %d has bounds [%g, %g], which no number satisfies", j, l, u)
		}
	}
	return ""
}

// infiniteBounds returns the largest multiplier of an infinite bound.
func infiniteBounds(c Cone, z []float64) float64 {
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
}

func separateBox(c Cone, b, z []float64) {
	worst := 0.0
	at := 0
	for i, v := range b {
		if d := max(c.Lower[i]-v, v-c.Upper[i]); d > worst {
			worst, at = d, i
		}
	}
	z[at] = 1
	if b[at] > c.Upper[at] {
		z[at] = -1
	}
}

// boxTerms returns beta(z) = sum l z+ - u z- of a box. Multipliers of infinite bounds are left to
// DualDistance.
func (c Cone) boxTerms(z []float64) (beta float64) {
	for i, v := range z {
		bound := c.boundOf(i, v)
		if v != 0 && !math.IsInf(bound, 0) {
			beta += bound * v // u v = -u z- for v < 0
		}
	}
	return beta
}

// boundOf returns the bound of a box that a multiplier of row i belongs to.
func (c Cone) boundOf(i int, z float64) float64 {
	if z < 0 {
		return c.Upper[i]
	}
	return c.Lower[i]
}

// largestTerm returns the largest |b_i z_i|. The b_i of a box count from the bounds that multipliers belong to: where
// both are shifted, the program is the same, and so are its terms.
func (c Cone) largestTerm(b, z []float64) (size float64) {
	for i, v := range z {
		from := 0.0
		if c.Kind == BoxCone && v != 0 {
			if bound := c.boundOf(i, v); !math.IsInf(bound, 0) {
				from = bound
			}
		}
		size = max(size, math.Abs((b[i]-from)*v))
	}
	return size
}

// argmax returns the index of the largest f(v[i]).
func argmax(v []float64, f func(float64) float64) int {
	best := 0
	for i := range v {
		if f(v[i]) > f(v[best]) {
			best = i
		}
	}
	return best
}

// secondOrderFamily has the second-order cones, which are their own duals.
var secondOrderFamily = family{
	name: "second-order", own: secondOrder, dual: secondOrder, separate: separateSecondOrder, ray: true,
	shift:     func(_ Cone, s []float64, a float64) { s[0] += a },
	ellipsoid: secondOrderEllipsoid, tangent: tangentSecondOrder,
}

// secondOrderEllipsoid returns D = 2ww' - det(w) J, the quadratic representation of the root w of v: with l = v_0 +-
// |v_1| the eigenvalues of v, those of w are their roots (Alizadeh and Goldfarb 2003).
func secondOrderEllipsoid(v []float64) []float64 {
	n := len(v)
	d := make([]float64, n*n)
	if n == 0 {
		return d
	}
	norm := norm2(v[1:])
	high, low := math.Sqrt(max(0, v[0]+norm)), math.Sqrt(max(0, v[0]-norm))
	w := make([]float64, n)
	w[0] = (high + low) / 2
	for i := 1; i < n && norm > 0; i++ {
		w[i] = (high - low) / 2 * v[i] / norm
	}
	det := high * low
	for i, a := range w {
		for j, b := range w {
			d[i*n+j] = 2 * a * b
		}
		d[i*n+i] += det
	}
	d[0] -= 2 * det
	return d
}

var secondOrder = set{
	distance: func(_ Cone, s []float64) float64 {
		if len(s) == 0 {
			return 0
		}
		return max(0, norm2(s[1:])-s[0])
	},
	into: func(_ Cone, s []float64) {
		if len(s) == 0 {
			return
		}
		if norm := norm2(s[1:]) * inside(len(s)); norm > s[0] {
			s[0] = norm
		}
	},
}

// separateSecondOrder takes z = (1, -v/|v|): b'z = t - |v| < 0.
func separateSecondOrder(_ Cone, b, z []float64) {
	z[0] = 1
	if norm := norm2(b[1:]); norm > 0 {
		for i := 1; i < len(b); i++ {
			z[i] = -b[i] / norm
		}
	}
}
