package separable

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/numerics"
)

// ascent maximises the dual function of a program from one point on.
type ascent struct {
	*program
	ctx     context.Context
	workers int
	at, try *point
	images  [][]float64 // X b + b0 of each part, with the entries of the matrix
	slope   [][]float64 // X b + b0 - y - u / weight of each part
	slopes  slopes
	newton  []system // of each part; the room in them is of use for the next ascent
	steps   int
	hot     []int // room for level
}

// slopes are the derivatives in the few multipliers.
type slopes struct {
	m0 float64
	ms []float64
}

// begin starts at multipliers m0 and ms with u = weight (X b + b0 - y) at the centre.
func (a *ascent) begin(m0 float64, ms []float64) {
	a.at, a.try = a.newPoint(), a.newPoint()
	a.at.m0 = m0
	a.images, a.slope = make([][]float64, len(a.parts)), make([][]float64, len(a.parts))
	a.slopes.ms = make([]float64, len(a.parts))
	for t, p := range a.parts {
		s := &a.at.of[t]
		s.ms = ms[t]
		a.slope[t] = make([]float64, p.rows)
		var g []float64
		if a.matrix != nil {
			g = a.centreG[t]
		}
		a.images[t] = make([]float64, p.rows)
		p.image(a.images[t], a.centre[t], a.centre0[t], g)
		for i := range p.sets {
			rows := &p.sets[i]
			w, f, u := rows.by(m0), rows.of(a.images[t]), rows.of(s.u)
			for k, y := range rows.Y {
				u[k] = w * (f[k] - y)
			}
		}
		s.c0 = p.mulTrans(s.c, s.u)
	}
	a.evaluate(a.at)
	a.differentiate(a.at)
}

// differentiate sets the derivatives at a point.
func (a *ascent) differentiate(at *point) {
	loss, linear := 0.0, -a.offset-at.t
	for t, p := range a.parts {
		s := &at.of[t]
		var g []float64
		if s.g != nil {
			g = s.g.RawMatrix().Data
		}
		p.image(a.images[t], s.b, s.b0, g)
		for i := range p.sets {
			rows := &p.sets[i]
			w, f, u, slope := rows.by(at.m0), rows.of(a.images[t]), rows.of(s.u), rows.of(a.slope[t])
			for k, y := range rows.Y {
				slope[k] = f[k] - y - u[k]/w
			}
			if rows.training {
				loss += rows.weight * floats.Dot(u, u) / (2 * w * w)
			}
		}
		if a.shared {
			a.slopes.ms[t] = s.l1 - at.r[len(a.groups)] - at.t
		}
	}
	if a.fixed {
		return
	}
	for g, v := range a.gamma {
		linear += v * (at.r[g] - a.radius[g])
	}
	a.slopes.m0 = loss + linear
}

// along is the derivative along d where there were derivatives last.
func (a *ascent) along(d *direction) float64 {
	slope := a.slopes.m0 * d.m0
	for t := range d.of {
		slope += floats.Dot(a.slope[t], d.of[t].u) + a.slopes.ms[t]*d.of[t].ms
	}
	return slope
}

// steepness is |X b + b0 - y - u / weight|^2 in the weights, over 2: what the conjugate of the losses lacks.
func (a *ascent) steepness() float64 {
	sum := 0.0
	for t, p := range a.parts {
		for i := range p.sets {
			g := p.sets[i].of(a.slope[t])
			sum += p.sets[i].by(a.at.m0) / 2 * floats.Dot(g, g)
		}
	}
	return sum
}

const (
	// gained of the increase that the slope promises has to come true on a step.
	gained = 1e-4
	// searches bounds the points on a step.
	searches = 40
	// rounded is a share of the terms of the dual function that is rounding.
	rounded = 1e-14
)

// step takes a step of Newton's method; it says whether there is progress.
func (a *ascent) step() bool {
	d := a.direction()
	if d == nil {
		return false
	}
	a.steps++
	promise := a.along(d)
	if !(promise > 0) || math.IsInf(promise, 1) {
		return false
	}
	noise := rounded * (math.Abs(a.at.value) + a.magnitude())
	steep := a.steepness()
	last, rounding := 1.0, false
	found := numerics.Search(promise, numerics.Little, searches, func(size float64) (slope float64, ok, done bool) {
		a.move(d, size)
		a.differentiate(a.try)
		last = size
		gain := a.try.value - a.at.value
		if rounding = promise*size <= noise && gain >= -noise; rounding {
			return 0, true, true
		}
		return a.along(d), gain >= gained*size*promise, false
	})
	if !found && !(a.try.value > a.at.value) {
		a.differentiate(a.at)
		return false
	}
	a.at, a.try = a.try, a.at
	return !rounding || last < 1 || a.steepness() < steep/2 // a shorter step met a kink, which the next one knows of
}

// magnitude is that of the terms of the dual function.
func (a *ascent) magnitude() float64 {
	sum := 0.0
	for t, p := range a.parts {
		for i := range p.sets {
			s := &p.sets[i]
			for k, u := range s.of(a.at.of[t].u) {
				sum += math.Abs(u * s.Y[k])
			}
		}
	}
	return sum
}

// move evaluates the point at a share of the direction.
func (a *ascent) move(d *direction, size float64) {
	from, to := a.at, a.try
	to.m0 = from.m0 + size*d.m0
	for t := range to.of {
		x, y, by := &from.of[t], &to.of[t], &d.of[t]
		y.ms = math.Max(0, x.ms+size*by.ms)
		y.c0 = x.c0 + size*by.c0
		floats.AddScaledTo(y.u, x.u, size, by.u)
		floats.AddScaledTo(y.c, x.c, size, by.c)
	}
	a.evaluate(to)
}
