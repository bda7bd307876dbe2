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
// entry each, and for a variable that nothing but q concerns. It returns a certificate, z or x, or nothing. None of
// these is left to a backend: its tolerances may not see them, and its arithmetic is not exact.
func trivial(p *Problem, low, high []float64, single *singleBounds) (z, x []float64) {
	n, m := p.Dims()
	for i, b := range p.B {
		if single.count[i] > 0 || math.IsNaN(low[i]) || b >= low[i] && b <= high[i] {
			continue
		}
		z = make([]float64, m)
		z[i] = 1
		if b > high[i] {
			z[i] = -1
		}
		return z, nil
	}
	for first, c := range Rows(p.Cones) {
		b, empty := p.B[first:first+c.Dim], c.Dim > 0 && math.IsNaN(low[first])
		for i := first; i < first+c.Dim; i++ {
			empty = empty && single.count[i] == 0
		}
		if empty && c.Distance(b) > outsideCone*maxAbs(b) {
			z = make([]float64, m)
			copy(z[first:], separator(c, b))
			return z, nil
		}
	}
	for j, l := range single.lower {
		row, upper := single.lowerRow[j], single.upperRow[j]
		if row == upper || !(l > single.upper[j]) {
			continue
		}
		// a_l z_l + a_u z_u = 0 exactly, with a_u z_u > 0
		z = make([]float64, m)
		al, au := single.lowerEntry[j], single.upperEntry[j]
		_, exponent := math.Frexp(math.Sqrt(math.Abs(al)) * math.Sqrt(math.Abs(au)))
		z[row] = -math.Copysign(math.Ldexp(math.Abs(au), -exponent), al)
		z[upper] = math.Copysign(math.Ldexp(math.Abs(al), -exponent), au)
		return z, nil
	}
	for j, q := range p.Q {
		if !single.used[j] && q != 0 {
			x = make([]float64, n)
			x[j] = -math.Copysign(1, q)
			return nil, x
		}
	}
	return nil, nil
}

// withoutVariables answers a problem with n = 0, where the only question is whether b is
// in K: with s = b and z = 0 the point is optimal, and otherwise the plane that
// separates b from the cone it violates most is the certificate.
func (s *checkedSolver) withoutVariables(p *Problem) *Solution {
	m := len(p.B)
	out := &Solution{Status: Optimal, X: []float64{}, S: slices.Clone(p.B), Z: make([]float64, m)}
	if out.S == nil {
		out.S = []float64{}
	}
	if r, _, _ := Recheck(p, out.X, out.S, out.Z); r.Primal <= s.options.Eps {
		return out
	}
	worst, worstRow, worstDistance, row := 0, 0, 0.0, 0
	for i, c := range p.Cones {
		if d := c.Distance(p.B[row : row+c.Dim]); d > worstDistance {
			worst, worstRow, worstDistance = i, row, d
		}
		row += c.Dim
	}
	if worstDistance == 0 { // a distance is no number
		out.Status = NumericalError
		return out
	}
	c := p.Cones[worst]
	copy(out.Z[worstRow:], separator(c, p.B[worstRow:worstRow+c.Dim]))
	out.Status, out.X, out.S = PrimalInfeasible, nil, nil
	return out
}
