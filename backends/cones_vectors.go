package backends

import (
	"fmt"
	"math"
)

// products has the zero, nonnegative and box cones, which are products of intervals: their rows can be treated one by
// one.
func products(name string, wrong func(c Cone) string) family {
	return family{
		name: name, wrong: wrong, intervals: true, tangent: tangentInterval,
		own: set{distance: func(c Cone, s []float64) (d float64) {
			for i, v := range s {
				low, high := c.interval(i)
				d = max(d, low-v, v-high)
			}
			return d
		}},
		dual: set{
			distance: func(c Cone, z []float64) (d float64) {
				for i, v := range z {
					d = max(d, c.denied(i, v))
				}
				return d
			},
			into: func(c Cone, z []float64) {
				for i, v := range z {
					if c.denied(i, v) > 0 {
						z[i] = 0
					}
				}
			},
		},
	}
}

// Interval returns that of entry i of a zero, nonnegative or box cone. It panics where there is none.
func (c Cone) Interval(i int) (low, high float64) {
	mustHave(c.Kind.Intervals() && i >= 0 && i < c.Dim && (c.Kind != BoxCone || i < min(len(c.Lower), len(c.Upper))))
	return c.interval(i)
}

func (c Cone) interval(i int) (low, high float64) {
	switch c.Kind {
	case BoxCone:
		return c.Lower[i], c.Upper[i]
	case NonnegativeCone:
		return 0, math.Inf(1)
	}
	return 0, 0
}

// denied is the size of a multiplier of row i whose bound is infinite, zero for others.
func (c Cone) denied(i int, z float64) float64 {
	low, high := c.interval(i)
	if z > 0 && math.IsInf(low, -1) || z < 0 && math.IsInf(high, 1) {
		return math.Abs(z)
	}
	return 0 * z // zero, or no number
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

// boundOf returns the bound that a multiplier of row i belongs to.
func (c Cone) boundOf(i int, z float64) float64 {
	low, high := c.interval(i)
	if z < 0 {
		return high
	}
	return low
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

var secondOrder = normSet(func(_ Cone, x []float64) float64 { return norm2(x) })

// normSet is {(t, x): norm(x) <= t}.
func normSet(norm func(c Cone, x []float64) float64) set {
	return set{
		distance: func(c Cone, s []float64) float64 {
			if len(s) == 0 {
				return 0
			}
			return max(0, norm(c, s[1:])-s[0])
		},
		into: func(c Cone, s []float64) {
			if len(s) > 0 {
				s[0] = max(s[0], norm(c, s[1:])*inside(c.Dim))
			}
		},
	}
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
