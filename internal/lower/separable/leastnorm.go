package separable

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// leastNormRho times the curvature of the loss is the weight of |x|^2 / 2 beside it: what l is above 0 in the end is
	// of the order of its square.
	leastNormRho = 1e-9
	// leastNormGap is the gap, relative to the objective: the distance to the solution is its root. What rounding leaves
	// may be so many times that.
	leastNormGap, leastNormEnough = 1e-13, 1e3
	// leastNormFeasible is how much of its radius |b|_1 may be above it before it is scaled down.
	leastNormFeasible = 1e-10
)

// LeastNorm returns the coefficients, and with an intercept b0, for which
//
//	|b|^2 + b0^2   is least subject to   X b + b0 = y,   |b_g| <= r_g for each group g,   |b|_1 <= r_s,
//
// by the dual of the lower level with a small weight of this square, from zero. It is nil where the loss is not at most
// the given one in the end, for example because no point within the radii interpolates the training rows.
func (g *Regression) LeastNorm(ctx context.Context, radii []float64, loss float64) ([][]float64, error) {
	if len(radii) != g.Penalties() {
		return nil, fmt.Errorf("separable: %d radii, expected %d", len(radii), g.Penalties())
	}
	rho, y := leastNormRho*g.curvature, g.train.Y
	if !(rho > 0) {
		return nil, nil
	}
	p := g.within(radii)
	p.rho, p.centre, p.centre0 = rho, [][]float64{make([]float64, g.train.X.Columns())}, []float64{0}
	a := &ascent{program: p, ctx: ctx, workers: 1, newton: make([]system, 1)}
	a.begin(1, []float64{0})
	// Where all coefficients are free and move, the first step leads to the solution without radii: u = -share y, with the
	// best X'y as b.
	direction, image := make([]float64, g.train.X.Columns()), make([]float64, len(y))
	sum := p.parts[0].mulTrans(direction, y)
	p.parts[0].mul(image, direction, sum)
	square := floats.Dot(image, image)
	if !(square > 0) {
		return nil, nil
	}
	s := &a.at.of[0]
	copy(s.u, y)
	floats.Scale(-rho*floats.Dot(image, y)/square, s.u)
	s.c0 = p.parts[0].mulTrans(s.c, s.u)
	a.evaluate(a.at)
	a.differentiate(a.at)
	for range most {
		if ctx.Err() != nil {
			return nil, nil
		}
		x, gap := g.interpolating(a, radii)
		if gap <= leastNormGap {
			return g.atMost(x, loss), nil
		}
		if !a.step() {
			if gap > leastNormGap*leastNormEnough {
				return nil, nil
			}
			return g.atMost(x, loss), nil
		}
	}
	return nil, nil
}

// within is the lower level within radii, without centre.
func (g *Regression) within(radii []float64) *program {
	return &program{
		parts:  []*part{newPart(g.intercept, set{Rows: g.train, weight: 1 / float64(len(g.train.Y)), training: true})},
		groups: g.groups, shared: g.shared, fixed: true,
		radius: radii, gamma: make([]float64, len(radii)), low: radii, high: radii,
	}
}

// interpolating is the point of an ascent, scaled to the radius of |b|_1 where rounding has it above, and its gap
// relative to the dual function.
func (g *Regression) interpolating(a *ascent, radii []float64) (x [][]float64, gap float64) {
	at, s := a.at, &a.at.of[0]
	b := append([]float64(nil), s.b...)
	factor := 1.0
	if g.shared {
		if top := radii[len(radii)-1]; s.l1 > top {
			if s.l1 > top*(1+leastNormFeasible) {
				return nil, math.Inf(1)
			}
			factor = top / s.l1
		}
	}
	floats.Scale(factor, b)
	x = [][]float64{b}
	if g.intercept {
		x = append(x, []float64{s.b0})
	}
	value := g.loss(g.train, nil, x) + a.rho/2*floats.Dot(b, b)
	if g.intercept {
		value += a.rho / 2 * s.b0 * s.b0
	}
	return x, (value - at.value) / math.Abs(value)
}

// atMost is a point if its loss is.
func (g *Regression) atMost(x [][]float64, loss float64) [][]float64 {
	if x == nil || !(g.loss(g.train, nil, x) <= loss) {
		return nil
	}
	return x
}
