package planted

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// member draws a point of the cone without rounding, multiplier one of the dual cone
// with finite beta, recession a direction that never leaves the cone.
func (d *draw) member(c backends.Cone) []float64 {
	s := make([]float64, c.Dim)
	switch c.Kind {
	case backends.ZeroCone:
	case backends.NonnegativeCone:
		for i := range s {
			s[i] = d.amount() * float64(d.IntN(2))
		}
	case backends.BoxCone:
		for i := range s {
			s[i] = d.between(c.Lower[i], c.Upper[i])
		}
	default:
		return d.memberCurved(c)
	}
	return s
}

func (d *draw) memberCurved(c backends.Cone) []float64 {
	switch d.IntN(4) {
	case 0:
		return make([]float64, c.Dim)
	case 1:
		if s, ok := d.edge(c); ok {
			return s
		}
	}
	return d.inside(c)
}

func (d *draw) multiplier(c backends.Cone) []float64 {
	z := make([]float64, c.Dim)
	switch c.Kind {
	case backends.ZeroCone:
		return d.numbers(c.Dim)
	case backends.NonnegativeCone:
		return d.member(c)
	case backends.BoxCone:
		for i := range z {
			z[i] = d.number()
			if z[i] > 0 && !near(c.Lower[i]) || z[i] < 0 && !near(c.Upper[i]) || d.chance(2) {
				z[i] = 0
			}
		}
		return z
	default:
		return d.memberCurved(dual(c))
	}
}

func (d *draw) recession(c backends.Cone) []float64 {
	if c.Kind != backends.BoxCone {
		return d.member(c)
	}
	r := make([]float64, c.Dim)
	for i := range r {
		low, high := !math.IsInf(c.Lower[i], -1), !math.IsInf(c.Upper[i], 1)
		switch {
		case low && high || d.chance(2):
		case low:
			r[i] = d.amount()
		case high:
			r[i] = -d.amount()
		default:
			r[i] = d.number()
		}
	}
	return r
}

// directions draws a recession direction r and a multiplier z with r'z = 0, exactly.
func (d *draw) directions(c backends.Cone) (r, z []float64) {
	switch c.Kind {
	case backends.BoxCone:
		r, z = d.recession(c), d.multiplier(c)
		for i := range r {
			if r[i] != 0 {
				z[i] = 0
			}
		}
		return r, z
	case backends.NuclearNormCone:
		if d.chance(2) {
			return d.inside(c), make([]float64, c.Dim)
		}
		return make([]float64, c.Dim), d.inside(dual(c))
	}
	return d.pair(c, true)
}
