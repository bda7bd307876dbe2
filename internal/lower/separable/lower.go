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
	s.take(x)
	if s.data.shared {
		s.ms = lambda[len(lambda)-1]
	}
	return nil
}

func (s *Lower) take(x [][]float64) {
	s.b = slices.Clone(x[0])
	if s.data.intercept {
		s.b0 = s.data.constant(x)
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
)

// Solve implements [bilevel.WithinSolver].
func (s *Lower) Solve(ctx context.Context, radii []float64, tol float64) (*bilevel.Within, error) {
	g := s.data
	if len(radii) != g.Penalties() {
		return nil, fmt.Errorf("separable: %d radii, expected %d", len(radii), g.Penalties())
	}
	p := g.within(radii)
	out := &bilevel.Within{Gap: math.Inf(1)}
	rho := firstRho * g.curvature
	if !(rho > 0) {
		rho = 1
	}
	least, idle := leastRho*g.curvature, 0
	for range rounds {
		p.rho, p.centre, p.centre0 = rho, [][]float64{s.b}, []float64{s.b0}
		a := &ascent{program: p, ctx: ctx, workers: 1, newton: s.room}
		a.begin(1, []float64{s.ms})
		near := innerShare * tol
		if out.X == nil {
			near = math.Max(near, earlyShare*halfMean(a.images[0], g.train.Y))
		} else {
			near = math.Max(near, earlyShare*out.Gap)
		}
		arrived := false
		for range steps {
			if ctx.Err() != nil {
				return out, nil
			}
			if arrived = a.lacking() <= near && s.feasible(a); arrived {
				break
			}
			if !a.step() {
				break
			}
		}
		before := out.Gap
		s.report(a, radii, tol, out)
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
		s.b, s.b0, s.ms = slices.Clone(at.b), at.b0, at.ms
		next := slowRho
		if a.steps <= fewSteps {
			next = nextRho
		}
		rho = math.Max(least, next*rho)
	}
	if out.X != nil {
		s.take(out.X)
		if g.shared {
			s.ms = out.Lambda[len(radii)-1]
		}
	}
	return out, nil
}

// violated is how much of a radius |b|_1 may be above it before it is scaled down.
const violated = 1e-9

// lacking bounds the increase of the dual function that is left, but for |b|_1 above its radius.
func (a *ascent) lacking() float64 {
	return a.steepness() + a.at.of[0].ms*math.Abs(a.slopes.ms[0])
}

func (s *Lower) feasible(a *ascent) bool {
	return !s.data.shared || a.slopes.ms[0] <= violated*a.at.r[len(a.at.r)-1]
}

// report takes the point where it has a smaller gap than what is known. From the residuals u = (X b + b0 - y) / n,
// without their mean where there is an intercept, any m >= 0 has
//
//	v(r) >= -y'u - n/2 |u|^2 - sum_g r_g |soft(X_g'u, m)| - r_s m,
//
// and so have all multiples of (u, m), of which the best is taken. Groups within their radii have X_g'u = 0 but for
// rounding, which radii that are far make a gap: there u without these columns is tried, too, see detached.
func (s *Lower) report(a *ascent, radii []float64, tol float64, out *bilevel.Within) {
	g, at := s.data, &a.at.of[0]
	y, n := g.train.Y, float64(len(g.train.Y))
	b, f := slices.Clone(at.b), a.images[0]
	if g.shared {
		if top := radii[len(radii)-1]; at.l1 > top {
			floats.Scale(top/at.l1, b)
			f = make([]float64, len(y))
			g.train.X.Mul(f, b)
			floats.AddConst(at.b0, f)
		}
	}
	loss := halfMean(f, y)
	u, c := at.u, at.c
	if g.intercept {
		u = slices.Clone(u)
		floats.AddConst(-at.c0/n, u)
		c = make([]float64, len(at.c))
		g.train.X.MulTrans(c, u)
	}
	lambda, bound, share := g.bound(u, c, at.ms, radii)
	if loss-bound > tol && at.ms == 0 && g.farther(at, lambda, radii, tol) {
		v, w := g.detached(u, at.norms, radii)
		if l, higher, by := g.bound(v, w, 0, radii); higher > bound {
			lambda, bound, share = l, higher, by
		}
	}
	gap := math.Max(0, loss-bound)
	if !(gap < out.Gap) {
		return
	}
	floats.Scale(share, lambda)
	*out = bilevel.Within{X: [][]float64{b}, Lambda: lambda, Loss: loss, Gap: gap}
	if g.intercept {
		out.X = append(out.X, []float64{at.b0})
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

// farther says whether it is the radii of groups within them that make a gap, and not their norms.
func (g *Regression) farther(at *portion, lambda, radii []float64, tol float64) bool {
	far, near := 0.0, 0.0
	for k, q := range at.norms {
		if q < radii[k] {
			far += lambda[k] * radii[k]
			near += lambda[k] * q
		}
	}
	return far > innerShare*tol && near <= tol
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
