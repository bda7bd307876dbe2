package separable

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/lower/radii"
)

// Subproblem solves the subproblems of an iteration, each time from the multipliers of the one before. It is for one
// goroutine at a time.
type Subproblem struct {
	data    []*Regression
	parts   []*part
	workers int
	m0      float64
	ms      []float64
	room    []system
}

// NewSubproblem takes the data of the parts, which have the same penalties. So many parts at most are solved at once.
func NewSubproblem(data []*Regression, workers int) *Subproblem {
	s := &Subproblem{data: data, workers: workers, room: make([]system, len(data))}
	share := 1 / float64(len(data))
	for _, g := range data {
		p := newPart(g.intercept,
			set{Rows: g.val, weight: share / float64(len(g.val.Y))},
			set{Rows: g.train, weight: share / float64(len(g.train.Y)), training: true},
		)
		if g.matrix != nil {
			p.places = slices.Concat(g.matrix.val, g.matrix.train)
		}
		s.parts = append(s.parts, p)
	}
	return s
}

// patience is for how many steps the gap may stay as it is, most bounds the steps.
const patience, most = 40, 200

// enough times the tolerance is a gap that is taken where rounding lets it get no smaller.
const enough = 20

// Solve is a [bilevel.Subproblem].
func (s *Subproblem) Solve(ctx context.Context, c *bilevel.Centre) (*bilevel.Subsolution, error) {
	g := s.data[0]
	if len(c.X) != len(s.data) || len(c.R) != g.Penalties() {
		return nil, fmt.Errorf("separable: a centre of %d parts and %d radii, expected %d and %d", len(c.X), len(c.R),
			len(s.data), g.Penalties())
	}
	p := &program{
		parts: s.parts, groups: g.groups, shared: g.shared, matrix: g.matrix, rho: c.Rho,
		radius: c.R, gamma: c.Gamma, low: c.Low, high: c.High, alpha: c.Alpha, offset: c.Value + c.Epsilon,
	}
	for _, x := range c.X {
		p.centre, p.centre0 = append(p.centre, x[0]), append(p.centre0, g.constant(x))
		if g.matrix != nil {
			p.centreG = append(p.centreG, x[1])
		}
	}
	a := &ascent{program: p, ctx: ctx, workers: s.workers, newton: s.room}
	a.begin(s.start(c))
	out := &bilevel.Subsolution{Gap: math.Inf(1)}
	var stall numerics.Stall
	for range most {
		if ctx.Err() != nil {
			return out, nil
		}
		gap := a.objective(c) - a.at.value
		idle := stall.Idle(gap)
		if gap <= c.Tol || idle > patience || gap <= enough*c.Tol && idle > 1 || !a.step() {
			break
		}
	}
	value := a.objective(c)
	r := a.at.r
	// the multipliers leave radii uncertain by the rounding of norms, which counts with alpha
	if value-a.at.value > c.Tol {
		values, apart := a.values()
		best := radii.Best(c, values, r)
		if v := radii.Objective(c, values, apart, best); v < value {
			value, r = v, best
		}
	}
	s.report(a, r, value, value-a.at.value, out)
	out.Solved = out.Gap <= enough*c.Tol // above the tolerance only where rounding ended it
	out.Fits = a.steps
	s.m0, s.ms = a.at.m0, nil
	for t := range a.at.of {
		s.ms = append(s.ms, a.at.of[t].ms)
	}
	return out, nil
}

// start are the multipliers to begin with.
func (s *Subproblem) start(c *bilevel.Centre) (m0 float64, ms []float64) {
	m0, ms = s.m0, slices.Clone(s.ms)
	if ms == nil {
		m0, ms = c.Alpha/4, make([]float64, len(c.X))
		if s.data[0].shared {
			for t := range ms {
				ms[t] = m0 * c.Gamma[len(c.Gamma)-1] / float64(len(ms))
			}
		}
	}
	share := min(1, c.Alpha/(m0+floats.Sum(ms)))
	floats.Scale(share, ms)
	return math.Max(share*m0, leastShare*c.Alpha), ms
}

// values are those of the minimiser of the Lagrangian, with its squared distance from the centre.
func (a *ascent) values() (values []bilevel.Values, apart float64) {
	square := func(x, y float64) float64 { return (x - y) * (x - y) }
	for t, p := range a.parts {
		s := &a.at.of[t]
		v := bilevel.Values{Penalties: make([]float64, len(a.radius))}
		for i := range p.sets {
			rows := &p.sets[i]
			if loss := halfMean(rows.of(a.images[t]), rows.Y); rows.training {
				v.Train = loss
			} else {
				v.Validation = loss
			}
		}
		for g, q := range s.norms {
			v.Penalties[g] = math.Min(q, a.at.r[g]+a.at.t)
		}
		if a.shared {
			v.Penalties[len(a.groups)] = s.l1
		}
		for j, b := range s.b {
			apart += square(b, a.centre[t][j])
		}
		if p.intercept {
			apart += square(s.b0, a.centre0[t])
		}
		if a.matrix != nil {
			apart += square(floats.Distance(s.g.RawMatrix().Data, a.centreG[t], 2), 0)
		}
		values = append(values, v)
	}
	return values, apart
}

// objective is that of the subproblem at the minimiser of the Lagrangian, with the least t.
func (a *ascent) objective(c *bilevel.Centre) float64 {
	values, apart := a.values()
	return radii.Objective(c, values, apart, a.at.r)
}

// report takes the point.
func (s *Subproblem) report(a *ascent, r []float64, value, gap float64, out *bilevel.Subsolution) {
	at := a.at
	*out = bilevel.Subsolution{R: slices.Clone(r), M0: at.m0, Objective: value, Gap: gap}
	for t := range at.of {
		of := &at.of[t]
		x := [][]float64{slices.Clone(of.b)}
		if a.matrix != nil {
			x = append(x, slices.Clone(of.g.RawMatrix().Data))
		}
		if a.parts[t].intercept {
			x = append(x, []float64{of.b0})
		}
		m := make([]float64, len(at.r))
		for g, q := range of.norms {
			m[g] = a.rho * math.Max(0, q-at.t-at.r[g])
		}
		if a.shared {
			m[len(a.groups)] = of.ms
		}
		out.X, out.M = append(out.X, x), append(out.M, m)
	}
}
