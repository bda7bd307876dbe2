package planted

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// generalizedPower draws a cone of up to four weights, binary fractions three times in four.
func (d *draw) generalizedPower() backends.Cone {
	weights := [][]float64{{1}, {0.5, 0.5}, {0.25, 0.75}, {0.25, 0.25, 0.5}, {0.125, 0.5, 0.375},
		{0.25, 0.25, 0.25, 0.25}}[d.IntN(6)]
	if d.chance(4) {
		weights = make([]float64, 2+d.IntN(3))
		sum := 0.0
		for i := range weights {
			weights[i] = 0.05 + d.Float64()
			sum += weights[i]
		}
		for i := range weights {
			weights[i] /= sum
		}
	}
	return backends.GeneralizedPower(weights, 1+d.IntN(3))
}

// generalizedPowerPair takes s = (x, y) with |y| = prod x_i^w_i and the normal k (w_i |y|/x_i, -y/|y|), or a face y = 0
// with x_i z_i = 0. With exact, all x_i are |y|, and weights that are no binary fractions have the face alone.
func (d *draw) generalizedPowerPair(weights, s, z []float64, exact bool) {
	k := len(weights)
	binary := true
	for _, w := range weights {
		binary = binary && 8*w == math.Floor(8*w)
	}
	switch {
	case d.degenerate(4) || exact && !binary:
		for i := range k {
			switch d.IntN(3) {
			case 0:
				s[i] = d.amount()
			case 1:
				z[i] = d.amount()
			}
		}
	case exact || d.chance(2):
		ray, by := d.light(1+len(s)-k), d.amount()
		for i, w := range weights {
			s[i], z[i] = ray[0], by*w*ray[0]
		}
		for i, y := range ray[1:] {
			s[k+i], z[k+i] = y, -by*y
		}
		if !binary { // z is rounded
			for i := range k {
				z[i] *= d.inward()
			}
		}
	default:
		mean, by := 1.0, d.amount()
		for i, w := range weights {
			s[i] = 0.1 + 3*d.Float64()
			mean *= math.Pow(s[i], w)
		}
		y := d.orthogonal(len(s) - k)[0]
		for i, w := range weights {
			z[i] = by * w * mean / s[i]
		}
		for i, v := range y {
			s[k+i], z[k+i] = mean*v/d.inward(), -by*v/d.inward()
		}
	}
}
