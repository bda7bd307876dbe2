package separable

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
)

// Subproblem solves the subproblems of an iteration, each time from the multipliers of the one before. It is for one goroutine at a time.
type Subproblem struct {
	data    []*Regression
	parts   []*part
	workers int
	m0      float64
	ms      []float64
	room    []system
	last    []*folded // the last matrix of each part
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

// Solve is a [lower.Subproblem].
func (s *Subproblem) Solve(ctx context.Context, c *lower.Centre) (*lower.Subsolution, error) {
	g := s.data[0]
	if len(c.X) != len(s.data) || len(c.R) != g.Penalties() {
		return nil, fmt.Errorf("separable: a centre of %d parts and %d radii, expected %d and %d", len(c.X), len(c.R), len(s.data), g.Penalties())
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
	for t := range p.centreG {
		a.known = append(a.known, s.known(t, p.centreG[t]))
	}
	a.begin(s.start(c))
	a.jump(a.guess())
	out := &lower.Subsolution{Gap: math.Inf(1)}
	least, idle := math.Inf(1), 0
	for range most {
		if ctx.Err() != nil {
			return out, nil
		}
		value := a.objective()
		gap := value - a.at.value
		if idle++; gap < 0.9*least {
			least, idle = gap, 0
		}
		if gap <= c.Tol || idle > patience || gap <= enough*c.Tol && idle > 1 {
			break
		}
		if !a.step() {
			break
		}
	}
	value := a.objective()
	if dual := a.at.value; value-dual > c.Tol {
		value = a.balance(value)
		a.at.value = dual
	}
	s.report(a, value, value-a.at.value, out)
	out.Solved = out.Gap <= enough*c.Tol // above the tolerance only where rounding ended it
	out.Fits = a.steps
	s.m0, s.ms = a.at.m0, nil
	s.remember(a)
	for t := range a.at.of {
		s.ms = append(s.ms, a.at.of[t].ms)
	}
	return out, nil
}

// guess are multipliers of the groups at the centre, and t there: those that leave the radii where they are.
func (a *ascent) guess() (m [][]float64, t float64) {
	norms := make([][]float64, len(a.parts))
	m = make([][]float64, len(a.parts))
	for k := range a.parts {
		norms[k], m[k] = make([]float64, a.groups.len()), make([]float64, a.groups.len())
		for g := range norms[k] {
			norms[k][g] = size(a.groups.of(g), a.centre[k])
			t = math.Max(t, norms[k][g]-a.radius[g])
		}
	}
	for g := range a.groups.len() {
		sum, count := 0.0, 0.0
		for k := range a.parts {
			s := &a.at.of[k]
			if norms[k][g] < (a.radius[g]+t)*(1-touching) {
				continue
			}
			own := 0.0
			for _, j := range a.groups.of(g) {
				x := a.centre[k][j]
				own -= s.c[j]*x + a.threshold(s)*math.Abs(x)
			}
			m[k][g] = math.Max(0, own/norms[k][g])
			sum += m[k][g]
			count++
		}
		want := a.at.m0 * a.gamma[g]
		if a.radius[g] <= a.low[g] && sum < want || a.radius[g] >= a.high[g] && sum > want {
			continue
		}
		for k := range a.parts {
			switch {
			case norms[k][g] < (a.radius[g]+t)*(1-touching):
			case sum > 0:
				m[k][g] *= want / sum
			default:
				m[k][g] = want / count
			}
		}
	}
	return m, t
}

// touching is the share of a radius that a norm may be below it and count as held by it.
const touching = 1e-6

// start are the multipliers to begin with, and the centre.
func (s *Subproblem) start(c *lower.Centre) (m0 float64, ms []float64, b [][]float64, b0 []float64) {
	for _, x := range c.X {
		b, b0 = append(b, x[0]), append(b0, s.data[0].constant(x))
	}
	m0, ms = s.m0, slices.Clone(s.ms)
	if ms == nil {
		m0, ms = c.Alpha/4, make([]float64, len(c.X))
		if s.data[0].shared {
			for t := range ms {
				ms[t] = m0 * c.Gamma[len(c.Gamma)-1] / float64(len(ms))
			}
		}
	}
	total := m0
	for _, v := range ms {
		total += v
	}
	if total > c.Alpha {
		m0 *= c.Alpha / total
		for t := range ms {
			ms[t] *= c.Alpha / total
		}
	}
	return math.Max(m0, leastShare*c.Alpha), ms, b, b0
}

// objective is that of the subproblem at the minimiser of the Lagrangian, with the least t. The radius of |b|_1 makes up for what |b|_1 is above, as
// rounding of so many coefficients would count with alpha.
func (a *ascent) objective() float64 {
	at := a.at
	if a.shared {
		s, most := a.groups.len(), 0.0
		for t := range at.of {
			most = math.Max(most, at.of[t].l1-at.t)
		}
		if over := most - at.r[s]; over > 0 && over < 1e-6*most {
			at.r[s] = math.Min(most, a.high[s])
		}
	}
	sum, value, worst := 0.0, -a.offset, 0.0
	for g, v := range a.gamma {
		d := at.r[g] - a.radius[g]
		sum += a.rho / 2 * d * d
		value += v * d
	}
	for t, p := range a.parts {
		s := &at.of[t]
		for i := range p.sets {
			rows := &p.sets[i]
			loss := rows.weight * float64(len(rows.Y)) * halfMean(rows.of(a.images[t]), rows.Y)
			if rows.training {
				value += loss
			} else {
				sum += loss
			}
		}
		for j, b := range s.b {
			d := b - a.centre[t][j]
			sum += a.rho / 2 * d * d
		}
		if p.intercept {
			d := s.b0 - a.centre0[t]
			sum += a.rho / 2 * d * d
		}
		if a.matrix != nil {
			d := floats.Distance(s.g.RawMatrix().Data, a.centreG[t], 2)
			sum += a.rho / 2 * d * d
		}
		for g, q := range s.norms {
			worst = math.Max(worst, math.Min(q, at.r[g]+at.t)-at.r[g])
		}
		if a.shared {
			worst = math.Max(worst, s.l1-at.r[a.groups.len()])
		}
	}
	return sum + a.alpha*math.Max(worst, math.Max(0, value))
}

// balances bounds the steps of balance.
const balances = 4

// balance is the least objective along t, the radii and all else that makes the coefficients as it is. The multipliers leave t uncertain by the rounding of
// norms that may be many times the radii, which the objective counts with alpha. There what the training loss and the norms are above is the same.
func (a *ascent) balance(least float64) float64 {
	at := a.at
	best := at.t
	rest := math.Max(0, a.rest(at))
	to := func(t float64) {
		at.t = t
		for k := range at.of {
			a.shrink(k, at)
		}
		a.differentiate()
	}
	for range balances {
		next := at.t + (a.violated()-at.t)/(1+rest/at.m0)
		if !(next >= 0) || next == at.t {
			break
		}
		to(next)
		if value := a.objective(); value < least {
			least, best = value, next
		}
	}
	if at.t != best {
		to(best)
		a.objective()
	}
	return least
}

// violated is by how much the value constraint is.
func (a *ascent) violated() float64 {
	value := -a.offset
	for g, v := range a.gamma {
		value += v * (a.at.r[g] - a.radius[g])
	}
	for t, p := range a.parts {
		for i := range p.sets {
			if rows := &p.sets[i]; rows.training {
				value += rows.weight * float64(len(rows.Y)) * halfMean(rows.of(a.images[t]), rows.Y)
			}
		}
	}
	return value
}

// report takes the point.
func (s *Subproblem) report(a *ascent, value, gap float64, out *lower.Subsolution) {
	at := a.at
	*out = lower.Subsolution{R: slices.Clone(at.r), M0: at.m0, Objective: value, Gap: gap}
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
			m[a.groups.len()] = of.ms
		}
		out.X, out.M = append(out.X, x), append(out.M, m)
	}
}
