package machine

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/lower/bilevel"
)

// The subproblem of VF-iDCA for machines.
//
// With z^t = (w^t, c^t) of the folds, h = (r, wbar) and the mean losses L and l, it is
//
//	minimize   L(z) + rho/2 |z - Z|^2 + rho/2 |h - H|^2 + alpha t
//	subject to V = l(z) - value + gamma'(h - H) - epsilon <= t,  |w_j^t| - wbar_j <= t,  |w^t|^2/2 - r <= t,
//	           t >= 0,  low <= h <= high.
//
// All folds are solved together, with few rows and features by [interior], and else, or where that leaves too large a
// gap, by the method of multipliers with semismooth Newton steps, as [augmented] solves one machine: hinges have the
// band of a width, and the constraints are quadratic penalties of a stiffness that goes up as the width goes down,
//
//	(max(0, m + stiffness g)^2 - m^2) / (2 stiffness)   for  g <= 0 with the multiplier m.
//
// Newton steps are those of [newton], with the bounds of h and t by active sets.
//
// The multipliers, made smaller until those of all constraints are alpha at most, give a lower bound of the optimum, as
// for them the Lagrangian falls apart into parabolas. The least h at which the bounds of the features hold, but for t,
// gives an upper one. The difference is the gap.

// Subproblem solves one subproblem after the other, each from the one before. It implements [bilevel.Subproblem], for
// one goroutine at a time.
type Subproblem struct {
	folds   []*fold
	workers int
	p       int
	scale   float64 // of alpha in the last solve, 0 before the first
	m0      float64 // the multiplier of V
	// the features that the preconditioner of Newton steps has in its block at most: up to mostWhole all of them, else
	// manyHeavy, but in tests
	block int
	few   bool // whether features and rows are few, so that [interior] takes less time
	inner *interior
}

// Constants of the method were chosen on 6 000 and 24 000 rows of 100 normal features in three folds, by the steps of a
// run.
const (
	// mostJointSteps bounds the Newton steps of a subproblem, mostJointInner those for the same multipliers.
	mostJointSteps, mostJointInner = 400, 60
	// fewInner steps for the same multipliers leave room for a narrower band.
	fewInner = 15
	// mostShort steps in turn of less than shortStep say that the band is too narrow to hold the machines.
	mostShort, shortStep = 2, 0.05
	// jointShare is the number of working rows of a fold for each unknown, beside those at their kinks.
	jointShare = 5
	// startShare of alpha is the multiplier of V that a first solve begins with, and wideShare that by conjugate
	// gradients, which takes tens of steps to become smaller; firstBand is the share of the first band that these begin
	// with: the centre is a solution of the lower level, so that rows are near their kinks or far from them.
	startShare, wideShare, firstBand = 0.5, 0.2, 0.1
	// boxStiffness is that of the bounds of the features, relative to the others.
	boxStiffness = 0.1

	// Up to mostWhole features the block of Newton steps is the whole matrix. Where these are also at most rowShare for
	// each training row, subproblems take 0.1 to 1.1 of the time of conic programs, and where they are more, up to ten
	// times as much: generated tables of 60 to 1 500 rows and 20 to 1 200 features, sonar, a1a and w1a.
	mostWhole, rowShare = 400, 2
	// mostFixes bounds the changes of the active set of h in one step.
	mostFixes = 20
)

// NewSubproblem takes the rows of the folds, with the same features, and the number of folds that are computed with at
// once.
func NewSubproblem(stacks []Stack, workers int) *Subproblem {
	s := &Subproblem{workers: workers, block: manyHeavy, p: stacks[0].X.Columns()}
	for t := range stacks {
		s.folds = append(s.folds, newFold(&stacks[t], t, len(stacks)))
	}
	if s.p <= mostWhole {
		s.block = s.p
		s.few = !slices.ContainsFunc(s.folds, func(f *fold) bool { return f.rows.n > manyRows })
	}
	return s
}

// Quick says whether a subproblem with the training rows of g in one of its folds takes less time than a conic program:
// where its Newton steps need no iterations and the features are not many beside the rows, or where there are many
// rows.
func (g *Problem) Quick() bool {
	return !g.squared && (g.rows.p <= min(mostWhole, rowShare*g.rows.n) || g.rows.n > manyRows || g.Wide())
}

// solving is one solve.
type solving struct {
	*Subproblem
	c         *bilevel.Centre
	h         []float64
	t         float64
	width     float64
	box, ball float64 // stiffness
	stiff     float64 // of V
	value     float64 // of V, smoothed
	m0Now     float64
	same      bool
	apart     float64
	slope     []float64 // of h
	slopeT    float64
	dh        []float64
	height    []float64 // h, and
	rate      []float64 // its rates, of along
	dt        float64
	newton    *newton
	gap       float64 // at the point now
	least     float64 // the largest lower bound so far
	damp      float64 // what the curvature is enlarged by where steps are short
	steps     int
	short     int // steps in turn that were short
	out       *bilevel.Subsolution
}

// large says whether its Newton steps take many conjugate gradients.
func (s *Subproblem) large() bool { return s.p > mostStored }

// each calls f for the folds, side by side, and says whether all were.
func (s *solving) each(f func(f *fold) bool) bool {
	ok := make([]bool, len(s.folds))
	crew.Each(len(s.folds), s.workers, func(t int) { ok[t] = f(s.folds[t]) })
	return !slices.Contains(ok, false)
}

// Solve is a [bilevel.Subproblem].
func (s *Subproblem) Solve(ctx context.Context, c *bilevel.Centre) (*bilevel.Subsolution, error) {
	p := s.p
	if len(c.X) != len(s.folds) || len(c.R) != p+1 {
		return nil, fmt.Errorf("machine: the centre has %d folds and %d radii, expected %d and %d", len(c.X), len(c.R),
			len(s.folds), p+1)
	}
	out := &bilevel.Subsolution{Gap: math.Inf(1), Objective: math.Inf(1)}
	q := &solving{Subproblem: s, c: c, h: slices.Clone(c.R), slope: make([]float64, p+1),
		dh: make([]float64, p+1), height: make([]float64, p+1), rate: make([]float64, p+1), least: math.Inf(-1), out: out}
	for _, f := range s.folds {
		f.end.Begin(ctx, 0)
		defer f.end.End()
		f.radius = math.Inf(1)
	}
	if s.few {
		if s.inner == nil {
			s.inner = newInterior(s)
		}
		s.inner.run(q)
	}
	if !(out.Gap <= c.Tol) {
		if q.newton = newNewton(q); q.begin() {
			q.run()
		}
	}
	out.Fits = len(s.folds) * q.steps
	if out.Solved = out.Gap <= q.c.Tol; !out.Solved {
		s.forget()
	}
	return out, nil
}

// begin makes the state that of the first Newton step; false where it was ended.
func (q *solving) begin() bool {
	s, c, p := q.Subproblem, q.c, q.p
	for j, h := range c.R {
		q.h[j] = math.Max(c.Low[j], math.Min(c.High[j], h))
	}
	for t, f := range s.folds {
		copy(f.z, c.X[t][0])
		f.z[p] = c.X[t][1][0]
	}
	first := s.scale == 0
	s.start(c)
	for _, f := range s.folds {
		q.t = math.Max(q.t, f.squares()-q.h[0])
		for j, w := range f.z[:p] {
			q.t = math.Max(q.t, math.Abs(w)-q.h[1+j])
		}
	}
	if !q.each(func(f *fold) bool { return !f.end.Look() && f.measure() }) {
		return false
	}
	if first {
		for _, f := range s.folds {
			for i, v := range f.margins {
				f.shares[i] = max(0, min(1, v))
			}
		}
	}
	s.scale = c.Alpha
	for _, f := range s.folds {
		copy(f.prox, f.shares)
	}
	if !q.each(func(f *fold) bool { return f.sum() }) {
		return false
	}
	for _, f := range s.folds {
		q.width = math.Max(q.width, f.band())
	}
	q.width = math.Min(widest, q.width)
	if first && q.large() {
		q.width *= firstBand
	}
	q.width = math.Max(narrowest, q.width)
	return q.each(func(f *fold) bool { return f.choose(jointShare) })
}

// forget makes the next solve independent of those before.
func (s *Subproblem) forget() {
	s.scale = 0
	for _, f := range s.folds {
		f.ball = 0
		clear(f.over)
		clear(f.under)
	}
}

// start makes the multipliers those of the last solve, in the measure of alpha.
func (s *Subproblem) start(c *bilevel.Centre) {
	share := 1.0
	if s.scale > 0 {
		share = c.Alpha / s.scale
	} else {
		s.m0 = startShare * c.Alpha
		if s.large() {
			s.m0 = wideShare * c.Alpha
		}
	}
	s.m0 *= share
	for t, f := range s.folds {
		if s.scale == 0 {
			f.ball = s.m0 * c.Gamma[0] / float64(len(s.folds))
			for j, g := range c.Gamma[1:] {
				if w := c.X[t][0][j]; w > 0 {
					f.over[j] = s.m0 * g / float64(len(s.folds))
				} else if w < 0 {
					f.under[j] = s.m0 * g / float64(len(s.folds))
				}
			}
			continue
		}
		floats.Scale(share, f.over)
		floats.Scale(share, f.under)
		f.ball *= share
	}
}

// between says whether the multiplier of V is within its limits: none is larger than alpha.
func (q *solving) between() bool { return q.m0Now > 0 && q.m0Now < q.c.Alpha }

// stiffen sets the stiffness of the constraints for the width.
func (q *solving) stiffen() {
	unit := math.Max(1, q.c.Alpha)
	q.box = boxStiffness * unit / q.width
	q.ball = unit / q.width
	q.stiff = unit / q.width
}

// evaluate computes all functions and the gradient. It says in same whether the band and the constraints that hold are,
// and in apart what the regularisation is.
func (q *solving) evaluate(measured bool) bool {
	q.stiffen()
	if !q.each(func(f *fold) bool { return f.classify(q.width) }) {
		return false
	}
	if measured {
		for _, f := range q.folds {
			f.losses()
		}
	}
	c := q.c
	q.value = -c.Value - c.Epsilon - q.t
	for j, g := range c.Gamma {
		q.value += g * (q.h[j] - c.R[j])
	}
	for _, f := range q.folds {
		q.value += f.smooth[1]
	}
	q.m0Now = math.Max(0, math.Min(c.Alpha, q.m0+q.stiff*q.value))
	q.slopeT = c.Alpha - q.m0Now
	q.same, q.apart = true, (q.m0Now-q.m0)*(q.m0Now-q.m0)/(2*q.stiff)
	for j, g := range c.Gamma {
		q.slope[j] = c.Rho*(q.h[j]-c.R[j]) + q.m0Now*g
	}
	for t, f := range q.folds {
		q.slopeT -= f.multipliers(q.h, q.t, q.box, q.ball, q.c.Alpha)
		q.same, q.apart = q.same && f.same, q.apart+f.apart[0]+q.m0Now*f.apart[1]
		q.slope[0] -= f.ballNow
		for j := range q.p {
			q.slope[1+j] -= f.overNow[j] + f.underNow[j]
			w := f.z[j]
			f.gradient[j] = c.Rho*(w-c.X[t][0][j]) + f.overNow[j] - f.underNow[j] + f.ballNow*w - f.sums[0][j] -
				q.m0Now*f.sums[1][j]
		}
		f.gradient[q.p] = c.Rho*(f.z[q.p]-c.X[t][1][0]) - f.sums[0][q.p] - q.m0Now*f.sums[1][q.p]
	}
	return true
}

// certify computes the gap at the point and the multipliers now, and that of the best point and the best multipliers so
// far, which need not be of the same step: it keeps the multipliers and, if all rows are measured, the point. The first
// point is the centre, so that none is kept that is worse.
func (q *solving) certify(measured bool) (now, best float64) {
	c := q.c
	// The upper bound: h goes up to where the features are within it, but for t.
	h := slices.Clone(q.h)
	for _, f := range q.folds {
		h[0] = math.Max(h[0], math.Min(c.High[0], f.half-q.t))
		for j, w := range f.z[:q.p] {
			h[1+j] = math.Max(h[1+j], math.Min(c.High[1+j], math.Abs(w)-q.t))
		}
	}
	upper, v, worst := 0.0, -c.Value-c.Epsilon, 0.0
	for j, g := range c.Gamma {
		d := h[j] - c.R[j]
		upper += c.Rho / 2 * d * d
		v += g * d
	}
	for t, f := range q.folds {
		upper += f.loss[0]
		v += f.loss[1]
		worst = math.Max(worst, f.half-h[0])
		for j, w := range f.z[:q.p] {
			worst = math.Max(worst, math.Abs(w)-h[1+j])
			d := w - c.X[t][0][j]
			upper += c.Rho / 2 * d * d
		}
		d := f.z[q.p] - c.X[t][1][0]
		upper += c.Rho / 2 * d * d
	}
	upper += c.Alpha * math.Max(worst, math.Max(0, v))
	bound, o := q.bound(), q.out
	if bound > q.least {
		q.least, o.M0, o.M = bound, q.m0Now, nil
		for _, f := range q.folds {
			m := make([]float64, q.p+1)
			m[0] = f.ballNow
			floats.AddTo(m[1:], f.overNow, f.underNow)
			o.M = append(o.M, m)
		}
	}
	if measured && upper < o.Objective {
		o.Objective, o.R, o.X = upper, h, nil
		for _, f := range q.folds {
			o.X = append(o.X, [][]float64{slices.Clone(f.z[:q.p]), {f.z[q.p]}})
		}
	}
	o.Gap = o.Objective - q.least
	return upper - bound, math.Min(upper, o.Objective) - q.least
}

// bound is the dual function at the multipliers now.
func (q *solving) bound() float64 {
	c, share := q.c, 1.0
	if sum := c.Alpha - q.slopeT; sum > c.Alpha {
		share = c.Alpha / sum
	}
	m0 := share * q.m0Now
	out := -m0 * (c.Value + c.Epsilon)
	push := make([]float64, q.p+1) // the slope of the Lagrangian in h beside that of the parabola
	floats.AddScaled(push, m0, c.Gamma)
	for t, f := range q.folds {
		out += f.total[0] + m0*f.total[1]
		ball := share * f.ballNow
		push[0] -= ball
		for j, x := range c.X[t][0] {
			push[1+j] -= share * (f.overNow[j] + f.underNow[j])
			v := f.sums[0][j] + m0*f.sums[1][j] - share*(f.overNow[j]-f.underNow[j]) + c.Rho*x
			out += c.Rho/2*x*x - v*v/(2*(c.Rho+ball))
		}
		x := c.X[t][1][0]
		v := f.sums[0][q.p] + m0*f.sums[1][q.p] + c.Rho*x
		out += c.Rho/2*x*x - v*v/(2*c.Rho)
	}
	for j, v := range push {
		h := math.Max(c.Low[j], math.Min(c.High[j], c.R[j]-v/c.Rho))
		d := h - c.R[j]
		out += c.Rho/2*d*d + v*h - m0*c.Gamma[j]*c.R[j]
	}
	return out
}

// run takes Newton steps until the gap is small enough.
func (q *solving) run() {
	since, updated := 0, math.Inf(1)
	measured := true
	for {
		if !q.evaluate(measured) {
			return
		}
		gap, best := q.certify(measured)
		q.gap = gap
		over := q.steps >= mostJointSteps
		far := slices.ContainsFunc(q.folds, func(f *fold) bool { return f.far() })
		if !measured && (best <= q.c.Tol || far || over) {
			if measured = q.remeasure(); !measured {
				return
			}
			continue
		}
		if q.out.Gap <= q.c.Tol || over {
			return
		}
		fall, whole, ok := q.step()
		if !ok {
			if !measured && q.remeasure() && q.evaluate(true) {
				q.certify(true)
			}
			return
		}
		measured = false
		q.steps++
		since++
		if q.short >= mostShort {
			q.width, q.short, since = math.Min(widest, 2*q.width), 0, 0
			continue
		}
		if !q.evaluate(false) {
			return
		}
		if whole && q.same || fall <= enough*q.apart || since >= mostJointInner {
			q.update()
			// in a narrower band the multipliers would run away from a point that is not followed
			if since <= fewInner && gap < updated {
				q.width = math.Max(q.width/2, narrowest)
			}
			updated = gap
			since = 0
		}
	}
}

// remeasure computes the margins of all rows, and chooses those at work anew.
func (q *solving) remeasure() bool {
	return q.each(func(f *fold) bool { return f.measure() && f.choose(jointShare) })
}

// update takes the multipliers as they are.
func (q *solving) update() {
	for _, f := range q.folds {
		copy(f.over, f.overNow)
		copy(f.under, f.underNow)
		f.ball = f.ballNow
		f.renew()
	}
	q.m0 = q.m0Now
}
