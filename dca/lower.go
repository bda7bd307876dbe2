package dca

import (
	"context"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// NewConstrained prepares the lower level. Of the settings, those of the conic solver count.
func NewConstrained(p Program, s Settings) (*Constrained, error) {
	s, err := p.prepared(s)
	if err != nil {
		return nil, err
	}
	return newConstrained(&p, &s)
}

func newConstrained(p *Program, s *Settings) (*Constrained, error) {
	l := &Constrained{form: newForm(p, s, "lower level", false), settings: s}
	if l.joint != nil {
		l.scale = floats.Sum(l.joint.scale) / float64(len(l.joint.scale))
		return l, nil
	}
	if err := l.compile(); err != nil {
		return l, err
	}
	for _, b := range l.blocks {
		l.scale += b.level.Train.Eval(point(b.level.X, zeros(b.level.X)))[0]
	}
	l.scale = math.Abs(l.scale)
	return l, nil
}

// zeros returns x = 0.
func (l *Constrained) zeros() (x [][]float64) {
	if l.joint != nil {
		return l.joint.zeros()
	}
	for _, b := range l.blocks {
		x = append(x, zeros(b.level.X)...)
	}
	return x
}

// convex are the options of both compiled solvers.
func (s *Settings) convex() convex.SolverOptions {
	return convex.SolverOptions{Backend: s.Backend, Options: s.Solver, WorkingSets: !s.NoWorkingSets}
}

// solve solves the lower level at h, its blocks side by side. The solution's x is nil when the result is of no use.
func (l *Constrained) solve(ctx context.Context, h []float64) (*Solution, error) {
	if out, err := l.direct(ctx, h); out != nil || err != nil {
		return out, err
	}
	out := &Solution{h: slices.Clone(h), Gap: math.NaN()}
	out.by(none(backends.Cancelled))
	if l.blocks == nil && ctx.Err() != nil { // nothing is compiled for nobody
		return out, nil
	}
	start := time.Now()
	results, c, err := l.results(ctx, func(b *block) error { return b.solver.Set(b.h, h) })
	l.taken = time.Since(start)
	if err != nil {
		return nil, err
	}
	if out.by(c); results == nil {
		return out, nil
	}
	out.slope = make([]float64, len(h))
	for i, res := range results { // always in the same order
		out.Value += res.Objective
		out.parts = append(out.parts, res.Objective)
		out.X = append(out.X, values(res, l.blocks[i].level.X)...)
		floats.Add(out.slope, res.Sensitivity(l.blocks[i].h))
	}
	l.judge(out)
	out.check()
	return out, nil
}

// direct is by the fits of [Program.Fit]; nil where there are none, or where they cannot.
func (l *Constrained) direct(ctx context.Context, h []float64) (*Solution, error) {
	if l.joint == nil || !(slices.Min(h) > 0) {
		return nil, nil
	}
	start := time.Now()
	out, err := l.joint.lower(ctx, h)
	l.taken = time.Since(start)
	if err != nil {
		return nil, l.wrap(err)
	}
	if out != nil && out.X != nil {
		if out.check(); out.X == nil && !l.joint.alone() {
			return nil, nil
		}
		l.judge(out)
	}
	return out, nil
}

// judge takes multipliers for zero that the solver cannot tell from it, and puts those of the radii into Lambda.
func (l *Constrained) judge(out *Solution) {
	scale := math.Max(l.scale, math.Abs(out.Value))
	reach := l.reach(out.h)
	out.weak = make([]bool, len(reach))
	for j, most := range reach {
		// v does not grow in a radius, and a multiplier that over the largest radius does less than
		// the solver can tell is none: with the penalty, and divided by rho, rounding would move h.
		work := -out.slope[j] * most
		if !(work > l.settings.Solver.WithDefaults().Eps*scale) {
			out.slope[j] = 0
		}
		out.weak[j] = !(work > weakShare*scale)
	}
	out.Lambda = make([]float64, l.program.Radii)
	for j := range out.Lambda {
		if out.slope[j] != 0 { // not -0
			out.Lambda[j] = -out.slope[j]
		}
	}
}

// reach returns for each radius and bound how large it may get, by which its multiplier is judged: the largest radius,
// and the upper end of a bound or, if that is infinite, the largest bound.
func (l *Constrained) reach(h []float64) []float64 {
	radii, both := l.program.Radii, l.program.Radii+l.program.Bounds
	reach, largest := make([]float64, both), slices.Max(append([]float64{0}, h[:radii]...))
	for j := range reach {
		switch {
		case j < radii:
			reach[j] = largest
		case l.program.Hi != nil && !math.IsInf(l.program.Hi[j], 1):
			reach[j] = l.program.Hi[j]
		default:
			reach[j] = slices.Max(h[radii:both])
		}
	}
	return reach
}

// weakShare is the share of l that a multiplier has to do over the largest radius to count as one
// that holds something back.
const weakShare = 1e-6

// Solution is a solution of one of the convex programs: of the lower level at fixed hyperparameters, of that in penalty
// form, or of a subproblem.
type Solution struct {
	// Status is that of the conic solve. Of several blocks it is that of the first whose result is of no use or, where all
	// are, of the first that missed its tolerances.
	Status backends.Status
	// Residual is the largest residual of the conic solves, NaN where [Program.Fit] was taken; Gap is the gap of that, NaN
	// where conic programs were.
	Residual, Gap float64
	// X are the values of the lower-level variables, nil where the solve was of no use. So are numbers then, or NaN.
	X [][]float64
	// Kept, where the penalty form has a solution that does not keep [Program.Joint], is the nearest h that does, of whose
	// constrained form X is a solution with the multipliers Lambda; else nil.
	Kept []float64
	// Value is the objective at X.
	Value float64
	// Lambda are the multipliers of the radii, or the weights of the penalty form.
	Lambda []float64
	// Radii are the P_i(x), for a radius of several constraints the largest, of the penalty form only; Train and
	// Validation are l and L, but for L where [Program.Fit] solved the constrained form.
	Radii             []float64
	Train, Validation float64
	// Folds are the validation losses of the folds, of the penalty form by a fit that knows them; else nil.
	Folds []float64
	// Stats are what the conic solver did so far; see [Penalized.Stats] for the penalty form.
	Stats convex.Stats

	// The rest is of the lower level with radii alone.

	conic conic
	h     []float64
	parts []float64 // what the blocks have in the value
	slope []float64 // a subgradient of v at h, -gamma in the radii
	weak  []bool    // for each radius and bound: its multiplier vanishes up to weakShare
}

// prepared are valid settings for a valid program, with their defaults.
func (p *Program) prepared(s Settings) (Settings, error) {
	s = s.withDefaults()
	s.PathStart = s.PathStart || p.H0 == nil
	*p = p.Started()
	if err := p.validate(); err != nil {
		return s, err
	}
	return s, s.validate(p)
}

// LowerLevel solves the lower level at H0. Of the settings, those of the conic solver count.
func LowerLevel(ctx context.Context, p Program, s Settings) (*Solution, error) {
	c, err := NewConstrained(p, s)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.joint.begin(ctx, s.Near, c.zeros()); err != nil {
		return nil, err
	}
	return c.Solve(ctx, c.program.H0)
}

// Subproblem solves the second program of the first iteration, whose centre is the solution l of the lower level of p,
// as a conic program. Of the settings, those of the conic solver count, Rho and Alpha0. The value is computed by the
// functions of the model.
func (l *Solution) Subproblem(ctx context.Context, p Program, s Settings) (*Solution, error) {
	s = s.withDefaults()
	if l.slope == nil || l.X == nil {
		return nil, p.errorf("subproblem: there is no solution of the lower level")
	}
	lo, hi := p.bounds()
	b, err := newSubproblem(&p, &s, lo, hi, nil)
	if err != nil {
		return nil, err
	}
	defer b.close()
	b.set(iterate{l.X, l.h}, l, s.Alpha0)
	at, err := b.solve(ctx)
	if err != nil {
		return nil, err
	}
	out := &Solution{Status: at.status, Residual: at.residual, Gap: math.NaN(), X: at.z.x, Value: math.NaN(),
		Stats: b.solver.Stats()}
	if at.z.h != nil {
		out.Value = b.evaluate(at.z).objective
	}
	return out, nil
}
