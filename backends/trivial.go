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

// trivial looks for a contradiction within a row without entries or between two rows with one entry each, and for a variable
// that nothing but q concerns. It returns a certificate, z or x, or nothing. None of these is left to a backend: its
// tolerances may not see them, and its arithmetic is not exact.
func trivial(p *Problem) (z, x []float64) {
	n, m := p.Dims()
	low, high := intervals(p)
	count, column := make([]int32, m), make([]int32, m) // nonzeros of a row, and the column of the last one
	value := make([]float64, m)
	alone := make([]bool, n)
	for j := range alone {
		alone[j] = true
	}
	if p.P != nil {
		raw := p.P.RawMatrix()
		for j := range n {
			for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
				if raw.Data[k] != 0 {
					alone[j], alone[raw.Ind[k]] = false, false
				}
			}
		}
	}
	if p.A != nil {
		raw := p.A.RawMatrix()
		for j := range n {
			for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
				if v := raw.Data[k]; v != 0 {
					i := raw.Ind[k]
					count[i]++
					column[i], value[i] = int32(j), v
					alone[j] = false
				}
			}
		}
	}
	certificate := func() []float64 { return make([]float64, m) }
	type side struct {
		at  rounded
		row int
	}
	lower, upper := make(map[int32]side), make(map[int32]side)
	for i, b := range p.B {
		switch {
		case math.IsNaN(low[i]):
		case count[i] == 0 && b < low[i]:
			z = certificate()
			z[i] = 1
			return z, nil
		case count[i] == 0 && b > high[i]:
			z = certificate()
			z[i] = -1
			return z, nil
		case count[i] == 1:
			j, a := column[i], value[i]
			atLow, atHigh := quotient(b, low[i], a), quotient(b, high[i], a) // the values of x where s is at its bounds
			if a < 0 {
				atLow, atHigh = atHigh, atLow
			}
			if s, ok := lower[j]; !ok || atHigh.value > s.at.value {
				lower[j] = side{atHigh, i}
			}
			if s, ok := upper[j]; !ok || atLow.value < s.at.value {
				upper[j] = side{atLow, i}
			}
		}
	}
	for j := range int32(n) {
		l, okL := lower[j]
		u, okU := upper[j]
		if !okL || !okU || l.row == u.row || !(l.at.value-l.at.bound > u.at.value+u.at.bound) {
			continue
		}
		// a_l z_l + a_u z_u = 0 exactly, with a_u z_u > 0
		z = certificate()
		al, au := value[l.row], value[u.row]
		_, exponent := math.Frexp(math.Sqrt(math.Abs(al)) * math.Sqrt(math.Abs(au)))
		z[l.row] = -math.Copysign(math.Ldexp(math.Abs(au), -exponent), al)
		z[u.row] = math.Copysign(math.Ldexp(math.Abs(al), -exponent), au)
		return z, nil
	}
	for j, q := range p.Q {
		if alone[j] && q != 0 {
			x = make([]float64, n)
			x[j] = -math.Copysign(1, q)
			return nil, x
		}
	}
	return nil, nil
}
