package dca

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/internal/lower/warm"
	"github.com/conetune/conetune/lower"
)

// Penalized is the lower level of a program in penalty form, with a weight w_i for each radius,
//
//	minimize over x  l(x, u) + sum_i w_i P_i(x)   s.t.  g(x, u) <= 0,  x in X,
//
// compiled once with the weights w and the upper variables u as parameters. A solution for the
// multipliers of the constrained form as weights solves that form, and the other way round with r_i = P_i(x).
//
// Blocks are solved side by side. Where B of them have constraints with the radius r_i, as the folds of a
// cross-validation have, its multiplier is the sum of theirs, and so each penalises with w / B: min l(x)/B + w/B P(x)
// in each block is min l(x) + w P(x). It is for one goroutine at a time.
type Penalized struct {
	form                // whose blocks are not compiled before they are needed where there are fits
	fit    *warm.Chain  // of [Program.Fit], nil without
	kept   *Constrained // solves what does not keep [Program.Joint], nil without that
	closed bool
	upper  []float64 // variables, of the last solve
}

// defaultFitTol is the default of [Program.FitTol].
const defaultFitTol = 1e-9

// NewPenalized prepares the penalty form. Of the settings, those of the conic solver count.
func NewPenalized(p Program, s Settings) (*Penalized, error) {
	p = p.Started()
	fit := p.Fit
	if fit != nil && p.Radii < len(p.H0) && fit.Dim() == len(p.H0) {
		p.Fit = nil // of which the constrained form asks more
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	q := &Penalized{form: newForm(&p, &s, "penalty form", true), upper: slices.Clone(p.H0[p.Radii:])}
	if p.Joint != nil {
		var err error
		if q.kept, err = NewConstrained(p, s); err != nil {
			return nil, err
		}
	}
	if fit != nil {
		q.fit = warm.NewChain(fit)
		return q, nil
	}
	return q, q.compile()
}

// Forget makes the next solve independent of those before, as that of a new Penalized.
func (q *Penalized) Forget() error {
	if q.fit != nil {
		q.fit.Forget()
	}
	if q.kept != nil {
		if err := q.kept.Close(); err != nil {
			return err
		}
	}
	return q.form.Close()
}

// set gives the parameters of the solver of a block their values.
func (b *block) set(weights, upper []float64) error {
	for _, of := range b.weights {
		if err := b.solver.Set(of.Parameter, []float64{of.share * weights[of.radius]}); err != nil {
			return err
		}
	}
	if b.h != nil {
		return b.solver.Set(b.h, upper)
	}
	return nil
}

// Solve is [Penalized.Minimize] with the radii, losses and value of the solution.
func (q *Penalized) Solve(ctx context.Context, weights, upper []float64) (*Solution, error) {
	s, err := q.Minimize(ctx, weights, upper)
	if err != nil || s.X == nil {
		return s, err
	}
	if err := q.score(s); err != nil {
		return nil, err
	}
	if !s.finite() {
		s.refuse()
	}
	return s, nil
}

// check says what is wrong with weights.
func (q *Penalized) check(weights []float64) error {
	if q.closed {
		return backends.ErrClosed
	}
	if n := q.program.Radii; len(weights) != n {
		return q.program.errorf("penalty form: %d weights, expected %d", len(weights), n)
	}
	for k, w := range weights {
		if !(w > 0) || math.IsInf(w, 1) {
			return q.program.errorf("penalty form: weight %d is %v, expected a positive finite number", k, w)
		}
	}
	return nil
}

// Minimize solves the penalty form at the weights, positive and one for each radius, and the upper variables, of which
// nil leaves the last. It starts from the solve before. Radii, losses and value are NaN or nil: where there are fits,
// nothing is compiled for them. Where the P_i(x) and u do not keep [Program.Joint], the solution is that of the
// constrained form at the nearest h that does.
func (q *Penalized) Minimize(ctx context.Context, weights, upper []float64) (*Solution, error) {
	if err := q.check(weights); err != nil {
		return nil, err
	}
	return q.MinimizeTo(ctx, weights, upper, 0, false)
}

// MinimizeTo is [Penalized.Minimize] with the fit solved to a relative gap only, where that is larger than
// [Program.FitTol], and at weights of 0 where it can. Alone says that what the fit does not solve is not left to conic
// programs.
func (q *Penalized) MinimizeTo(ctx context.Context, weights, upper []float64, gap float64, alone bool) (*Solution,
	error) {
	if q.closed {
		return nil, backends.ErrClosed
	}
	if upper != nil {
		q.upper = slices.Clone(upper)
	}
	if q.fit != nil {
		if s, err := q.direct(ctx, weights, gap, alone); s != nil || err != nil {
			return s, err
		}
		// The conic programs begin afresh, so that it does not matter which of the points before were theirs.
		if err := q.form.Close(); err != nil {
			return nil, err
		}
	}
	if err := q.check(weights); err != nil {
		return nil, err
	}
	results, c, err := q.conic(ctx, weights)
	if err != nil {
		return nil, err
	}
	s := unscored(c, math.NaN(), weights)
	if results == nil {
		return s, nil
	}
	for i, b := range q.blocks {
		s.X = append(s.X, values(results[i], b.level.X)...)
	}
	if err := q.keep(ctx, s); err != nil {
		return nil, err
	}
	if !s.finite() {
		s.refuse()
	}
	return s, nil
}

// conic solves the conic programs of the blocks; the results are nil where one is of no use.
func (q *Penalized) conic(ctx context.Context, weights []float64) ([]*convex.Result, conic, error) {
	clipped := q.clipped(weights)
	return q.results(ctx, func(b *block) error { return b.set(clipped, q.upper) })
}

// Gradient solves the penalty form by conic programs, and returns the gradient of the validation loss L at the solution
// in the weights and the upper variables, see [convex.Result.Gradient]; nil where a solve was of no use. Where the
// solution is degenerate, it is that of the least norm.
func (q *Penalized) Gradient(ctx context.Context, weights, upper []float64) ([]float64, error) {
	if err := q.check(weights); err != nil {
		return nil, err
	}
	if upper != nil {
		q.upper = slices.Clone(upper)
	}
	results, _, err := q.conic(ctx, weights)
	if err != nil {
		return nil, err
	}
	return q.gradient(ctx, results)
}

// keep replaces a solution that does not keep [Program.Joint], see the field Kept.
func (q *Penalized) keep(ctx context.Context, s *Solution) error {
	p := q.program
	if p.Joint == nil {
		return nil
	}
	if err := q.score(s); err != nil {
		return err
	}
	h := slices.Concat(s.Radii, q.upper)
	if p.keeps(h) {
		return nil
	}
	lo, hi := p.bounds()
	if err := p.nearest(ctx, q.kept.settings, h, h, lo, hi); err != nil {
		return err
	}
	low, err := q.kept.Solve(ctx, h)
	if err != nil {
		return err
	}
	s.Status, s.Residual, s.X, s.Lambda, s.Kept = low.Status, low.Residual, low.X, low.Lambda, h
	if low.X == nil {
		s.refuse()
		return nil
	}
	q.upper = h[p.Radii:]
	return q.score(s)
}

// unscored is a solution without its values.
func unscored(c conic, gap float64, weights []float64) *Solution {
	return &Solution{Status: c.status, Residual: c.residual, Gap: gap, Lambda: slices.Clone(weights), Value: math.NaN(),
		Train: math.NaN(), Validation: math.NaN()}
}

// finite says that all numbers of a solution are, of those that were computed.
func (s *Solution) finite() bool {
	return (s.Radii == nil || finite.All(s.Train, s.Validation) && finite.All(s.Radii...)) && finite.Every(s.X)
}

// direct is by the fit; nil where that cannot.
func (q *Penalized) direct(ctx context.Context, weights []float64, gap float64, alone bool) (*Solution, error) {
	pt, err := q.fit.Solve(ctx, slices.Concat(weights, q.upper), max(gap, cmp.Or(q.program.FitTol, defaultFitTol)))
	if err != nil {
		return nil, q.wrap(err)
	}
	s := unscored(none(backends.Optimal), pt.Gap, weights)
	s.Folds = pt.Folds
	if s.X = pt.X; pt.Solved && s.finite() {
		return s, nil
	}
	if alone || q.joint.alone() || ctx.Err() != nil { // and no conic programs, for nobody
		s.refuse()
		return s, nil
	}
	return nil, nil
}

// score computes the radii, the losses and the value at X.
func (q *Penalized) score(s *Solution) error {
	if q.joint == nil {
		if err := q.compile(); err != nil {
			return err
		}
	}
	defer func() { s.Value = s.Train + floats.Dot(s.Lambda, s.Radii) }()
	s.Radii, s.Train, s.Validation = make([]float64, q.program.Radii), 0, 0
	if q.joint != nil {
		var rows []float64
		s.Validation, s.Train, rows = q.joint.values(iterate{s.X, make([]float64, len(s.Radii))})
		for i, v := range rows {
			j := i % len(s.Radii)
			s.Radii[j] = math.Max(s.Radii[j], v)
		}
		return nil
	}
	q.at(s.X, q.upper, func(b *block, pt convex.Point) {
		s.Train += b.level.Train.Eval(pt)[0]
		s.Validation += b.level.Validation.Eval(pt)[0]
		b.level.raise(s.Radii, b.rows, pt, nil)
	})
	return nil
}

// Stats adds up what the conic solvers did, those of what does not keep [Program.Joint] among them.
func (q *Penalized) Stats() convex.Stats {
	s := q.form.Stats()
	if q.kept != nil {
		s.Add(q.kept.Stats())
	}
	return s
}

// Close frees the solvers. Further calls do nothing.
func (q *Penalized) Close() error {
	q.closed = true
	return q.Forget()
}

// leastShare of the weight that makes the solution zero is a weight that no conic program tells from a smaller one.
const leastShare = 1e-10

// clipped are the weights for conic programs, which measure what they miss by the largest numbers of a program, so that
// a weight of 1e12 hides those beside it: from leastShare to [lower.MostShare] times the weight that, common to all,
// makes the solution zero, of which the path of the program tells. A norm is zero for certain at the upper end.
func (q *Penalized) clipped(weights []float64) []float64 {
	top := slices.Max(append([]float64{0}, slices.Concat(q.program.Path...)...))
	if !(top > 0) {
		return weights
	}
	out := slices.Clone(weights)
	for j, w := range out {
		out[j] = math.Max(leastShare*top, math.Min(w, lower.MostShare*top))
	}
	return out
}
