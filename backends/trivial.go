package backends

import (
	"math"
	"slices"
)

// InfiniteBound is the size from which on a bound of a [BoxCone] counts as infinite, as readers and many solvers
// have it.
const InfiniteBound = 1e20

// withInfinite returns the cones with bounds of InfiniteBound and beyond as infinite ones.
func withInfinite(cones []Cone) []Cone {
	return withBounds(cones, func(_ int, lower, upper float64) (float64, float64) {
		if lower <= -InfiniteBound {
			lower = math.Inf(-1)
		}
		if upper >= InfiniteBound {
			upper = math.Inf(1)
		}
		return lower, upper
	})
}

// withBounds returns the cones with other bounds of the rows of boxes.
func withBounds(cones []Cone, of func(row int, lower, upper float64) (l, u float64)) []Cone {
	out, first := slices.Clone(cones), 0
	for k, c := range cones {
		if c.Kind == BoxCone {
			own := &out[k]
			own.Lower, own.Upper = make([]float64, c.Dim), make([]float64, c.Dim)
			for i := range c.Dim {
				own.Lower[i], own.Upper[i] = of(first+i, c.Lower[i], c.Upper[i])
			}
		}
		first += c.Dim
	}
	return out
}

// cancelledTerms say what rounding of the largest entry of b, and of q, may be in a problem: what a row or a variable
// without entries contradicts by no more is none, as it is left where terms have cancelled. It is found when first
// asked for; nothing is so small where there is no such number, or where rows may be in units of their own.
type cancelledTerms struct {
	p     Problem
	known bool
	b, q  float64
}

func (c *cancelledTerms) find() {
	if c.known {
		return
	}
	c.known = true
	some := false
	without := func(v []float64) (least float64, out []float64) {
		least, out = lastPlaces*maxAbs(v), slices.Clone(v)
		for i, x := range out {
			if math.Abs(x) <= least {
				some = some || x != 0
				out[i] = 0
			}
		}
		return least, out
	}
	rest := c.p
	c.b, rest.B = without(rest.B)
	c.q, rest.Q = without(rest.Q)
	if !some || !new(units).of(&rest).plain {
		c.b, c.q = 0, 0
	}
}

// row says whether a row without entries holds, outside being how far its right-hand side is outside of its interval.
func (c *cancelledTerms) row(outside float64) bool {
	if outside > 0 {
		c.find()
	}
	return outside <= c.b
}

// variable says the same of one that nothing but q concerns.
func (c *cancelledTerms) variable(q float64) bool {
	if q != 0 {
		c.find()
	}
	return math.Abs(q) <= c.q
}

// outsideCone is how far, relative to it, a right-hand side alone must be outside of its cone to count as outside.
const outsideCone = 1e-9

// trivial looks for a contradiction within a row, or the rows of a cone, without entries or between two rows with one
// entry each, and for a variable that nothing but q concerns. It returns a certificate, or nil. None of
// these is left to a backend: its tolerances may not see them, and its arithmetic is not exact.
func trivial(p *Problem, single *singleBounds) *Solution {
	n, m := p.Dims()
	low, high := single.low, single.high
	cancelled := cancelledTerms{p: *p}
	infeasible := func() *Solution { return &Solution{Status: PrimalInfeasible, Z: make([]float64, m)} }
	for i, b := range p.B {
		if single.count[i] > 0 || math.IsNaN(low[i]) || cancelled.row(max(low[i]-b, b-high[i])) {
			continue
		}
		out := infeasible()
		if out.Z[i] = 1; b > high[i] {
			out.Z[i] = -1
		}
		return out
	}
	for first, c := range Rows(p.Cones) {
		b, empty := p.B[first:first+c.Dim], c.Dim > 0 && math.IsNaN(low[first])
		for i := first; i < first+c.Dim; i++ {
			empty = empty && single.count[i] == 0
		}
		if empty && c.Distance(b) > outsideCone*maxAbs(b) {
			out := infeasible()
			families[c.Kind].separate(c, b, out.Z[first:first+c.Dim])
			return out
		}
	}
	for j, l := range single.lower {
		row, upper := single.lowerRow[j], single.upperRow[j]
		if row == upper || !(l > single.upper[j]) {
			continue
		}
		// a_l z_l + a_u z_u = 0 exactly, with a_u z_u > 0
		al, au := single.lowerEntry[j], single.upperEntry[j]
		_, exponent := math.Frexp(math.Sqrt(math.Abs(al)) * math.Sqrt(math.Abs(au)))
		out := infeasible()
		out.Z[row] = -math.Copysign(math.Ldexp(math.Abs(au), -exponent), al)
		out.Z[upper] = math.Copysign(math.Ldexp(math.Abs(al), -exponent), au)
		return out
	}
	for j, q := range p.Q {
		if !single.used[j] && !cancelled.variable(q) {
			x := make([]float64, n)
			x[j] = -math.Copysign(1, q)
			return &Solution{Status: DualInfeasible, X: x}
		}
	}
	return nil
}
