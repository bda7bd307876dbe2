package pdhg

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// point returns the point of the last step, where looked, in the scale of the problem. Multipliers of bounds take what
// there is of Px + q + A'z.
func (v *state) point(p *backends.Problem) (x, s, z []float64) {
	n, m := p.Dims()
	x, s, z = make([]float64, n), make([]float64, m), make([]float64, m)
	for j, t := range v.newX {
		x[j] = t * v.d[j] * v.right
		g := v.q[j] + v.columns.times(j, v.newZ) + v.p.times(j, v.newX)
		v.takeIn(z, j, g/(v.cost*v.d[j]))
	}
	for i, r := range v.row {
		z[r] = v.newZ[i] * v.e[i] / v.cost
	}
	copy(s, p.Slack(x))
	for first, c := range backends.Rows(p.Cones) {
		if own := s[first : first+c.Dim]; !c.Kind.Intervals() && c.Dim > 0 {
			w := v.work[:c.Dim]
			copy(w, own)
			outsideSecondOrder(w)
			for k, d := range w {
				own[k] += d
			}
		} else {
			for k := range own {
				low, high := c.Interval(k)
				own[k] = clamp(own[k], low, high)
			}
		}
	}
	return x, s, z
}

// takeIn gives g of column j to the multiplier of the bound that can take it, and says whether there is one.
func (v *state) takeIn(z []float64, j int, g float64) bool {
	b := &v.bounds[j]
	switch {
	case g > 0 && b.lowerRow >= 0:
		z[b.lowerRow] = -g / b.lowerEntry
	case g < 0 && b.upperRow >= 0:
		z[b.upperRow] = -g / b.upperEntry
	default:
		return g == 0
	}
	return true
}

// rays returns dx and dz as certificates, nil where what is left of them, beside their values, is more than eps: that
// no x satisfies the constraints, in the multipliers, and that the objective falls without bound, in the variables.
func (v *state) rays(p *backends.Problem, dx, dz []float64, eps float64) (z, x []float64) {
	n, m := p.Dims()
	value, left := 0.0, 0.0
	z = make([]float64, m)
	for i, r := range v.row {
		z[r] = dz[i] * v.e[i]
		value += v.b[i] * dz[i]
		switch d := dz[i]; {
		case v.inBlock(i):
		case d > 0:
			value -= v.low[i] * d
		case d < 0:
			value -= v.high[i] * d
		}
	}
	for j := range n {
		switch g := v.columns.times(j, dz); {
		case !v.takeIn(z, j, g/(v.d[j]*v.right)):
			left += math.Abs(g)
		case g > 0:
			value -= g * v.lower[j]
		case g < 0:
			value -= g * v.upper[j]
		}
	}
	if !(value < 0 && left <= -eps*value) {
		z = nil
	}
	value, left = 0, 0
	x = make([]float64, n)
	for j, d := range dx {
		x[j] = d * v.d[j]
		value += v.q[j] * d
		left += math.Abs(v.p.times(j, dx))
		if d < 0 && !math.IsInf(v.lower[j], 0) || d > 0 && !math.IsInf(v.upper[j], 0) {
			left += math.Abs(d)
		}
	}
	for i := range dz {
		s := -v.rows.times(i, dx)
		v.work[i] = 0
		if low, high := v.low[i], v.high[i]; v.inBlock(i) || s < 0 && !math.IsInf(low, 0) || s > 0 && !math.IsInf(high, 0) {
			v.work[i] = s
		}
	}
	for _, b := range v.blocks {
		outsideSecondOrder(v.work[b.first:b.end])
	}
	for _, s := range v.work {
		left += math.Abs(s)
	}
	if !(value < 0 && left <= -eps*value) {
		x = nil
	}
	return z, x
}
