package dca

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/crew"
)

// lowerForm is the lower level, min l(x, h) s.t. constraints <= 0, its blocks compiled once with h a parameter.
type lowerForm struct {
	program *Program
	blocks  []*block
	taken   time.Duration // by the last solve
	scale   float64       // |l| at x = 0 and the first h
	eps     float64       // of the conic solver
	workers int           // see [Settings]
	joint   *joint        // nil where there is no such fit
	options convex.SolverOptions
}

// block is one of the independent parts of the lower level.
type block struct {
	level  Level
	h      *convex.Parameter
	solver *convex.Solver
}

// lowerSolution is the outcome at one h.
type lowerSolution struct {
	conic conic
	gap   float64 // of [Program.Fit], NaN where conic programs were solved
	h     []float64
	value float64     // v(h)
	parts []float64   // what the blocks have in it
	x     [][]float64 // a solution
	// slope is a subgradient of v at h, -gamma in the radii.
	slope []float64
	upper float64 // L(x, h)
	weak  []bool  // for each radius and bound: its multiplier vanishes up to weakShare
}

// conic sums up one or several conic solves: the status of the first that is of no use or, if all are, of the first
// that missed its tolerances; the largest residual, NaN where there was no solve; iterations and sizes of working sets
// in all; and what they were solved by.
type conic struct {
	status             backends.Status
	residual           float64
	iterations, active int
	engine             string // several joined by commas
	note               string // what else there is to say of a solve of no use
}

func newLower(p *Program, s *Settings) (*lowerForm, error) {
	l := &lowerForm{program: p, workers: s.workers(), eps: s.Solver.WithDefaults().Eps, joint: newJoint(p, s)}
	l.options = l.joint.bound(s.convex())
	if l.joint != nil {
		l.scale = floats.Sum(l.joint.scale) / float64(len(l.joint.scale))
		return l, nil
	}
	return l, l.compile()
}

// compile compiles the conic programs, unless that was done before.
func (l *lowerForm) compile() error {
	if l.blocks != nil {
		return nil
	}
	p := l.program
	scale := 0.0
	for _, build := range p.builders() {
		m := convex.NewModel()
		b := &block{h: m.Parameter("h", len(p.H0))}
		b.level = build(m, b.h.Expr())
		if err := p.check(&b.level); err != nil {
			return err
		}
		m.Minimize(b.level.Train)
		for _, c := range b.level.Constraints {
			m.Constrain(convex.LessEqual(c, convex.Const(0)))
		}
		m.Constrain(b.level.Set...)
		prog, err := m.Compile()
		if err != nil {
			return p.errorf("lower level: %w", err)
		}
		if err := b.h.Set(p.H0); err != nil {
			return err
		}
		scale += b.level.Train.Eval(point(b.level.X, zeros(b.level.X)))[0]
		if b.solver, err = prog.Solver(l.options); err != nil {
			return p.errorf("lower level: %w", err)
		}
		l.blocks = append(l.blocks, b)
	}
	l.scale = math.Abs(scale)
	return nil
}

// zeros returns x = 0.
func (l *lowerForm) zeros() (x [][]float64) {
	if l.joint != nil {
		return l.joint.zeros()
	}
	for _, b := range l.blocks {
		x = append(x, zeros(b.level.X)...)
	}
	return x
}

// zeros returns x = 0.
func zeros(vars []*convex.Variable) [][]float64 {
	x := make([][]float64, len(vars))
	for i, v := range vars {
		x[i] = make([]float64, v.Len())
	}
	return x
}

// convex are the options of both compiled solvers.
func (s *Settings) convex() convex.SolverOptions {
	return convex.SolverOptions{Backend: s.Backend, Options: s.Solver, WorkingSets: !s.NoWorkingSets}
}

// solve solves the lower level at h, its blocks side by side. The solution's x is nil when the result is of no use.
func (l *lowerForm) solve(ctx context.Context, h []float64) (*lowerSolution, error) {
	if out, err := l.direct(ctx, h); out != nil || err != nil {
		return out, err
	}
	if l.blocks == nil && ctx.Err() != nil { // nothing is compiled for nobody
		return &lowerSolution{h: slices.Clone(h), gap: math.NaN(), conic: conic{status: backends.Cancelled, residual: math.NaN()}}, nil
	}
	if err := l.compile(); err != nil {
		return nil, err
	}
	for _, b := range l.blocks {
		if err := b.h.Set(h); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	results := make([]*convex.Result, len(l.blocks))
	err := sideBySide(len(l.blocks), l.workers, func(i int) (err error) {
		results[i], err = l.blocks[i].solver.Solve(ctx)
		return err
	})
	l.taken = time.Since(start)
	if c, yes := l.joint.refused(err); yes {
		return &lowerSolution{h: slices.Clone(h), gap: math.NaN(), conic: c}, nil
	}
	if err != nil {
		return nil, l.program.errorf("lower level: %w", err)
	}
	out := &lowerSolution{h: slices.Clone(h), conic: summary(results...), gap: math.NaN()}
	if !slices.ContainsFunc(results, func(r *convex.Result) bool { return !usable(r) }) {
		l.add(out, results)
	}
	return out, nil
}

// add fills in what the results of the blocks add up to, always in the same order.
func (l *lowerForm) add(out *lowerSolution, results []*convex.Result) {
	out.slope = make([]float64, len(out.h))
	for i, res := range results {
		out.value += res.Objective
		out.parts = append(out.parts, res.Objective)
		out.x = append(out.x, values(res, l.blocks[i].level.X)...)
		for j, s := range res.Sensitivity(l.blocks[i].h) {
			out.slope[j] += s
		}
	}
	l.judge(out)
	out.check()
}

// direct is by the fits of [Program.Fit]; nil where there are none, or where they cannot.
func (l *lowerForm) direct(ctx context.Context, h []float64) (*lowerSolution, error) {
	if l.joint == nil || !(slices.Min(h) > 0) {
		return nil, nil
	}
	start := time.Now()
	out, err := l.joint.lower(ctx, h)
	l.taken = time.Since(start)
	if err != nil {
		return nil, l.program.errorf("lower level: %w", err)
	}
	if out != nil && out.x != nil {
		if out.check(); out.x == nil && !l.joint.alone() {
			return nil, nil
		}
		l.judge(out)
	}
	return out, nil
}

// judge takes multipliers for zero that the solver cannot tell from it.
func (l *lowerForm) judge(out *lowerSolution) {
	scale := math.Max(l.scale, math.Abs(out.value))
	reach := l.reach(out.h)
	out.weak = make([]bool, len(reach))
	for j, most := range reach {
		// v does not grow in a radius, and a multiplier that over the largest radius does less than
		// the solver can tell is none: with the penalty, and divided by rho, rounding would move h.
		work := -out.slope[j] * most
		if !(work > l.eps*scale) {
			out.slope[j] = 0
		}
		out.weak[j] = !(work > weakShare*scale)
	}
}

// reach returns for each radius and bound how large it may get, by which its multiplier is judged: the largest radius,
// and the upper end of a bound or, if that is infinite, the largest bound.
func (l *lowerForm) reach(h []float64) []float64 {
	radii, both := l.program.Radii, l.program.Radii+l.program.Bounds
	reach := make([]float64, both)
	largest := 0.0
	for _, r := range h[:radii] {
		largest = math.Max(largest, r)
	}
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

// sideBySide calls f(0) to f(n-1), as many at a time as there are workers, and returns the first error.
func sideBySide(n, workers int, f func(i int) error) error {
	errs := make([]error, n)
	crew.Each(n, workers, func(i int) { errs[i] = f(i) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// summary adds up conic results.
func summary(results ...*convex.Result) conic {
	c := conic{status: backends.Optimal}
	sure := true // no result of no use yet
	for _, r := range results {
		c.iterations += r.Iterations
		c.active += r.Active
		if e := string(r.Engine); !strings.Contains(c.engine, e) {
			c.engine = strings.TrimPrefix(c.engine+","+e, ",")
		}
		switch {
		case !usable(r) && sure:
			c.status, c.residual, sure = r.Status, r.Residuals.Max(), false
		case sure:
			c.residual = math.Max(c.residual, r.Residuals.Max())
			if c.status == backends.Optimal {
				c.status = r.Status
			}
		}
	}
	return c
}

// close frees the solvers.
func (l *lowerForm) close() {
	for _, b := range l.blocks {
		b.solver.Close()
	}
}

// stats adds up what the solvers did.
func (l *lowerForm) stats() Stats {
	var s Stats
	if l.joint != nil {
		s.Iterations = l.joint.fits
	}
	for _, b := range l.blocks {
		s.add(b.solver.Stats())
	}
	return s
}

// weakShare is the share of l that a multiplier has to do over the largest radius to count as one
// that holds something back.
const weakShare = 1e-6

// lambda returns the multipliers of the radii.
func (s *lowerSolution) lambda(radii int) []float64 {
	out := make([]float64, radii)
	for j := range out {
		if s.slope[j] != 0 { // not -0
			out[j] = -s.slope[j]
		}
	}
	return out
}

// values reads the variables' values.
func values(res *convex.Result, vars []*convex.Variable) [][]float64 {
	out := make([][]float64, len(vars))
	for i, v := range vars {
		out[i] = res.Value(v)
	}
	return out
}
