package separable

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// Lower solves the lower level within radii, each time from the solve before. It is for one goroutine at a time.
type Lower struct {
	data *Regression
	ms   float64
	b    []float64
	b0   float64
	room []system
}

// NewLower begins at zero.
func NewLower(data *Regression) *Lower {
	return &Lower{data: data, room: make([]system, 1), b: make([]float64, data.train.X.Columns())}
}

// Begin implements [bilevel.WithinSolver].
func (s *Lower) Begin(_ context.Context, lambda []float64, x [][]float64) error {
	if len(lambda) != s.data.Penalties() || len(x) != len(s.data.Shape()) {
		return fmt.Errorf("separable: a start of %d weights and %d variables, expected %d and %d", len(lambda), len(x),
			s.data.Penalties(), len(s.data.Shape()))
	}
	s.take(lambda, x)
	return nil
}

func (s *Lower) take(lambda []float64, x [][]float64) {
	if s.b, s.b0 = slices.Clone(x[0]), s.data.constant(x); s.data.shared {
		s.ms = lambda[len(lambda)-1]
	}
}

const (
	// firstRho times the curvature of the loss is the first weight of the proximal term. The next ones are smaller by
	// nextRho, by slowRho after more than fewSteps, and larger by backRho where steps were not enough; leastRho bounds
	// them.
	firstRho, nextRho, slowRho, backRho, leastRho = 3e-2, 0.03, 0.5, 30, 1e-10
	// rounds bounds the proximal steps, steps the steps of Newton's method of one.
	rounds, steps, fewSteps = 40, 40, 8
	// stalled is the share of the gap that is left after a round that was of no use, and inVain bounds such rounds.
	stalled, inVain = 0.9, 8
	// innerShare of the tolerance, or earlyShare of the gap, is what a proximal step may lack.
	innerShare, earlyShare = 0.01, 1e-6
	// violated is how much of a radius |b|_1 may be above it before it is scaled down.
	violated = 1e-9
	// leastNormRho times the curvature is the weight where the proximal term decides: what l is above 0 in the end is of
	// the order of its square. leastNormGap is what its step may lack, relative to the objective: the distance to the
	// solution is its root. What rounding leaves may be leastNormEnough times that.
	leastNormRho, leastNormGap, leastNormEnough = 1e-9, 1e-13, 1e3
)

// begin starts a proximal step of some weight.
func (s *Lower) begin(ctx context.Context, radii []float64, rho float64) (*ascent, error) {
	g := s.data
	if len(radii) != g.Penalties() {
		return nil, fmt.Errorf("separable: %d radii, expected %d", len(radii), g.Penalties())
	}
	a := &ascent{ctx: ctx, workers: 1, newton: s.room, program: &program{
		parts:  []*part{newPart(g.intercept, set{Rows: g.train, weight: 1 / float64(len(g.train.Y)), training: true})},
		groups: g.groups, shared: g.shared, fixed: true, rho: rho, centre: [][]float64{s.b}, centre0: []float64{s.b0},
		radius: radii, gamma: make([]float64, len(radii)), low: radii, high: radii,
	}}
	a.begin(1, []float64{s.ms})
	return a, nil
}

// climb takes steps until the dual function of a lower level lacks no more than near, and says whether it came there.
func (a *ascent) climb(near func() float64, most int) bool {
	for range most {
		if a.ctx.Err() != nil {
			return false
		}
		if a.lacking() <= near() && (!a.shared || a.slopes.ms[0] <= violated*a.at.r[len(a.at.r)-1]) {
			return true
		}
		if !a.step() {
			return false
		}
	}
	return false
}

// lacking bounds the increase of the dual function that is left, but for |b|_1 above its radius.
func (a *ascent) lacking() float64 {
	return a.steepness() + a.at.of[0].ms*math.Abs(a.slopes.ms[0])
}

// LeastNorm returns the coefficients, and with an intercept b0, for which
//
//	|b|^2 + b0^2   is least subject to   X b + b0 = y,   |b_g| <= r_g for each group g,   |b|_1 <= r_s,
//
// by a proximal step from zero of a small weight. It is nil where the loss is not at most the given one in the end, for
// example because no point within the radii interpolates the training rows.
func (g *Regression) LeastNorm(ctx context.Context, radii []float64, loss float64) ([][]float64, error) {
	a, err := NewLower(g).begin(ctx, radii, leastNormRho*g.curvature)
	if err != nil || !(a.rho > 0) {
		return nil, err
	}
	// Where all coefficients are free and move, the first step leads to the solution without radii from where that is so.
	start := &a.at.of[0]
	floats.Scale(leastNormRho, start.u)
	floats.Scale(leastNormRho, start.c)
	start.c0 *= leastNormRho
	a.evaluate(a.at)
	a.differentiate(a.at)
	near := func() float64 { return leastNormGap * math.Abs(a.at.value) }
	if !a.climb(near, most) && (ctx.Err() != nil || !(a.lacking() <= leastNormEnough*near())) {
		return nil, nil
	}
	x, f := g.scaled(a)
	if !(halfMean(f, g.train.Y) <= loss) {
		return nil, nil
	}
	return x, nil
}

// scaled is the point of an ascent, scaled to the radius of |b|_1 where that is above, and its predictions.
func (g *Regression) scaled(a *ascent) (x [][]float64, f []float64) {
	at, f := &a.at.of[0], a.images[0]
	x = [][]float64{slices.Clone(at.b)}
	if g.shared {
		if top := a.radius[len(a.radius)-1]; at.l1 > top {
			floats.Scale(top/at.l1, x[0])
			f = make([]float64, len(f))
			a.parts[0].mul(f, x[0], at.b0)
		}
	}
	if g.intercept {
		x = append(x, []float64{at.b0})
	}
	return x, f
}

// Solve implements [bilevel.WithinSolver].
func (s *Lower) Solve(ctx context.Context, radii []float64, tol float64) (*bilevel.Within, error) {
	g := s.data
	out := &bilevel.Within{Gap: math.Inf(1)}
	rho := firstRho * g.curvature
	if !(rho > 0) {
		rho = 1
	}
	least, idle := leastRho*g.curvature, 0
	for range rounds {
		a, err := s.begin(ctx, radii, rho)
		if err != nil {
			return nil, err
		}
		near := math.Max(innerShare*tol, earlyShare*math.Min(out.Gap, halfMean(a.images[0], g.train.Y)))
		arrived := a.climb(func() float64 { return near }, steps)
		if ctx.Err() != nil {
			return out, nil
		}
		before := out.Gap
		g.report(a, idle > 0, tol, out)
		if idle++; !(out.Gap > stalled*before) {
			idle = 0
		}
		if out.Gap <= tol || out.Gap <= enough*tol && idle > 1 {
			out.Solved = true
			break
		}
		if idle > inVain {
			break
		}
		at := &a.at.of[0]
		if !arrived {
			rho *= backRho
			continue
		}
		s.b, s.b0, s.ms = at.b, at.b0, at.ms
		next := slowRho
		if a.steps <= fewSteps {
			next = nextRho
		}
		rho = math.Max(least, next*rho)
	}
	if out.X != nil {
		s.take(out.Lambda, out.X)
	}
	return out, nil
}

// report takes the point where it has a smaller gap than what is known. From the residuals u = (X b + b0 - y) / n,
// without their mean where there is an intercept, any m >= 0 has
//
//	v(r) >= -y'u - n/2 |u|^2 - sum_g r_g |soft(X_g'u, m)| - r_s m,
//
// and so have all multiples of (u, m), of which the best is taken. Groups within their radii have X_g'u = 0 but for
// rounding, which radii that are far make a gap: where it is hard to come nearer u without these columns is tried, too,
// see detached.
func (g *Regression) report(a *ascent, hard bool, tol float64, out *bilevel.Within) {
	at, radii, n := &a.at.of[0], a.radius, float64(len(g.train.Y))
	x, f := g.scaled(a)
	loss := halfMean(f, g.train.Y)
	u, c := at.u, at.c
	if g.intercept {
		u = slices.Clone(u)
		floats.AddConst(-at.c0/n, u)
		c = make([]float64, len(at.c))
		g.train.X.MulTrans(c, u)
	}
	lambda, bound, share := g.bound(u, c, at.ms, radii)
	if hard && loss-bound > tol && at.ms == 0 {
		v, w := g.detached(u, at.norms, radii)
		if l, higher, by := g.bound(v, w, 0, radii); higher > bound {
			lambda, bound, share = l, higher, by
		}
	}
	if gap := math.Max(0, loss-bound); gap < out.Gap {
		floats.Scale(share, lambda)
		*out = bilevel.Within{X: x, Lambda: lambda, Loss: loss, Gap: gap}
	}
}

// bound returns the multipliers of report for u, with c = X'u, the bound, and the multiple of (u, m) that it is of.
func (g *Regression) bound(u, c []float64, ms float64, radii []float64) (lambda []float64, bound, share float64) {
	lambda = make([]float64, len(radii))
	linear := floats.Dot(g.train.Y, u)
	cut := make([]float64, len(c))
	for j, v := range c {
		cut[j] = numerics.Soft(v, ms)
	}
	for k, group := range g.groups {
		lambda[k] = size(group, cut)
		linear += radii[k] * lambda[k]
	}
	if g.shared {
		lambda[len(lambda)-1] = ms
		linear += radii[len(radii)-1] * ms
	}
	if square := float64(len(u)) * floats.Dot(u, u); linear < 0 && square > 0 {
		share = -linear / square
		bound = share * -linear / 2
	}
	return lambda, bound, share
}

// detached returns u without its components in the columns of groups within their radii, of which it has none but for
// rounding, and X'u, where those are zero. Columns that depend on others but for rounding keep what they have.
func (g *Regression) detached(u, norms, radii []float64) (v, c []float64) {
	x, v := g.train.X, slices.Clone(u)
	basis := numerics.Basis{Least: dependent}
	var of []int
	for k, q := range norms {
		if !(q < radii[k]) {
			continue
		}
		for _, j := range g.groups[k] {
			column := make([]float64, len(u))
			x.Axpy(1, j, column)
			if g.intercept {
				floats.AddConst(-floats.Sum(column)/float64(len(column)), column)
			}
			if basis.Grow(column) != nil {
				of = append(of, j)
			}
		}
	}
	basis.Without(v)
	c = make([]float64, x.Columns())
	x.MulTrans(c, v)
	for _, j := range of {
		c[j] = 0
	}
	return v, c
}

// dependent is the part of a column that is rounding where the rest is of others.
const dependent = 1e-8
