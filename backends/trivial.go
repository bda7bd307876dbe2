package backends

import "math"

// InfiniteBound is the size from which on a bound of a [BoxCone] counts as infinite, as readers and many solvers
// have it.
const InfiniteBound = 1e20

// withInfinite returns the cones with bounds of InfiniteBound and beyond as infinite ones.
func withInfinite(cones []Cone) []Cone {
	out := append([]Cone(nil), cones...)
	for i, c := range out {
		if c.Kind != BoxCone {
			continue
		}
		for j := range c.Lower {
			l, u := c.Lower[j], c.Upper[j]
			if far := l <= -InfiniteBound && !math.IsInf(l, -1) || u >= InfiniteBound && !math.IsInf(u, 1); !far {
				continue
			}
			if &out[i].Lower[0] == &cones[i].Lower[0] {
				out[i].Lower, out[i].Upper = append([]float64(nil), c.Lower...), append([]float64(nil), c.Upper...)
			}
			if l <= -InfiniteBound {
				out[i].Lower[j] = math.Inf(-1)
			}
			if u >= InfiniteBound {
				out[i].Upper[j] = math.Inf(1)
			}
		}
	}
	return out
}

// outsideCone is how far, relative to it, a right-hand side alone must be outside of its cone to count as outside.
const outsideCone = 1e-9

// trivial looks for a contradiction within a row, or the rows of a cone, without entries or between two rows with one
// entry each, and for a variable that nothing but q concerns. It returns a certificate, or nil. None of
// these is left to a backend: its tolerances may not see them, and its arithmetic is not exact.
func trivial(p *Problem, single *singleBounds) *Solution {
	n, m := p.Dims()
	low, high := single.low, single.high
	infeasible := func() *Solution { return &Solution{Status: PrimalInfeasible, Z: make([]float64, m)} }
	for i, b := range p.B {
		if single.count[i] > 0 || math.IsNaN(low[i]) || b >= low[i] && b <= high[i] {
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
			copy(out.Z[first:], separator(c, b))
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
		if !single.used[j] && q != 0 {
			x := make([]float64, n)
			x[j] = -math.Copysign(1, q)
			return &Solution{Status: DualInfeasible, X: x}
		}
	}
	return nil
}
