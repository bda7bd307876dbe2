package separable

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// apart keeps what is zero on its side of rounding.
const apart = 1e-9

// jump takes a step of Newton's method from the centre itself and multipliers m of its groups, with t, instead of from what the Lagrangian is least at: these
// are far apart where rho is small. It is taken where it leads to a better point.
func (a *ascent) jump(m [][]float64, t float64) {
	ahead, held := make([][]float64, len(a.parts)), make([][]float64, len(a.parts))
	a.ahead = make([]*mat.Dense, len(a.parts))
	before := a.at.value
	for k := range a.parts {
		s, x := &a.at.of[k], a.centre[k]
		ms := a.threshold(s)
		held[k], ahead[k] = s.c, make([]float64, len(s.c))
		c := make([]float64, len(s.c))
		for g := range a.groups.len() {
			norm := size(a.groups.of(g), x)
			for _, j := range a.groups.of(g) {
				if x[j] == 0 {
					c[j] = s.c[j]
					if top := (1 - apart) * ms; math.Abs(c[j]) > top && norm+ms > 0 {
						c[j] = math.Copysign(top, c[j])
					}
				} else {
					c[j] = -(m[k][g]*x[j]/norm + math.Copysign(ms, x[j]))
				}
				ahead[k][j] = s.c[j] - c[j]
			}
		}
		s.c = c
		a.shorten(k, s)
		if a.matrix != nil {
			a.ahead[k] = a.turn(k, s)
		}
	}
	a.at.t = t
	a.settle(a.at)
	a.differentiate()
	d := a.direction(ahead)
	a.ahead = nil
	for k := range a.parts {
		a.at.of[k].c = held[k]
	}
	if d != nil {
		a.move(d, 1)
		if a.try.value > before {
			a.take()
			return
		}
	}
	a.evaluate(a.at)
	a.differentiate()
}
