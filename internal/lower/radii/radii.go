// Package radii has what does not depend on how the subproblems of VF-iDCA are solved: their objective, and the best
// radii for given points.
package radii

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/bilevel"
)

// Objective is that of a subproblem with the least t, for parts with these values of the functions at a squared
// distance from their centres.
func Objective(c *bilevel.Centre, values []bilevel.Values, apart float64, r []float64) float64 {
	b := newBest(c, values)
	d := floats.Distance(r, c.R, 2)
	sum := c.Rho/2*(d*d+apart) + c.Alpha*b.above(r)
	for _, v := range values {
		sum += v.Validation / float64(len(values))
	}
	return sum
}

// bisections bounds those of [Best], which come to rounding.
const bisections = 200

// Best returns the best radii for the points of parts with these values of the functions, given some radii. They
// minimise
//
//	rho/2 |r - R|^2 + alpha t   over Low <= r <= High and t >= 0   subject to   V + gamma'(r - R) <= t,   P_j - r_j <= t,
//
// with V what the loss is above the lower level's, and P_j the largest penalty of the parts. Radii that follow from the
// multipliers meet their constraints only to the rounding of the multipliers, times alpha: where many coefficients are
// in use and alpha is large that is more than a gap may be.
//
// The objective is convex in t, with the derivative alpha - eta - sum_j mu_j, where eta and mu are the multipliers of
// the constraints at the best r for t.
func Best(c *bilevel.Centre, values []bilevel.Values, r []float64) []float64 {
	b := newBest(c, values)
	least := 0.0
	for j, p := range b.most {
		least = math.Max(least, p-c.High[j])
	}
	distance := floats.Distance(r, c.R, 2)
	lo, hi := least, least+c.Rho/2*distance*distance/c.Alpha+b.above(r)
	for range bisections {
		t := (lo + hi) / 2
		if t <= lo || t >= hi {
			break
		}
		if b.slope(t) < 0 {
			lo = t
		} else {
			hi = t
		}
	}
	b.slope(hi)
	return slices.Clone(b.r)
}

// best are the best radii r for some t.
type best struct {
	c     *bilevel.Centre
	value float64   // V
	most  []float64 // P
	r     []float64
}

func newBest(c *bilevel.Centre, values []bilevel.Values) *best {
	b := &best{c: c, value: -c.Value - c.Epsilon, most: slices.Clone(values[0].Penalties), r: make([]float64, len(c.R))}
	for _, v := range values {
		b.value += v.Train / float64(len(values))
		for j, p := range v.Penalties {
			b.most[j] = math.Max(b.most[j], p)
		}
	}
	return b
}

// above is the least t for radii.
func (b *best) above(r []float64) float64 {
	t := math.Max(0, b.loss(r))
	for j, p := range b.most {
		t = math.Max(t, p-r[j])
	}
	return t
}

// loss is V + gamma'(r - R).
func (b *best) loss(r []float64) float64 {
	sum := b.value
	for j, g := range b.c.Gamma {
		sum += g * (r[j] - b.c.R[j])
	}
	return sum
}

// at sets r to its best for t and a multiplier eta.
func (b *best) at(t, eta float64) {
	c := b.c
	for j, g := range c.Gamma {
		b.r[j] = math.Min(c.High[j], math.Max(math.Max(c.Low[j], b.most[j]-t), c.R[j]-eta*g/c.Rho))
	}
}

// slope sets r to its best for t, and returns the derivative of the objective, minus infinity where no r is good
// enough.
func (b *best) slope(t float64) float64 {
	c, eta := b.c, 0.0
	if b.at(t, 0); b.loss(b.r) > t {
		lo, hi := 0.0, c.Alpha // more would be a negative derivative anyhow
		if b.at(t, hi); b.loss(b.r) > t {
			return math.Inf(-1)
		}
		for range bisections {
			eta = (lo + hi) / 2
			if eta <= lo || eta >= hi {
				break
			}
			if b.at(t, eta); b.loss(b.r) > t {
				lo = eta
			} else {
				hi = eta
			}
		}
		eta = hi
		b.at(t, eta)
	}
	sum := c.Alpha - eta
	for j, g := range c.Gamma {
		if mu := c.Rho*(b.r[j]-c.R[j]) + eta*g; mu > 0 && b.r[j] == b.most[j]-t {
			sum -= mu
		}
	}
	return sum
}
