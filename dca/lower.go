package dca

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/convex"
)

// lower is the lower level, min l(x, h) s.t. constraints <= 0, compiled once with h a parameter.
type lower struct {
	program *Program
	level   Level
	h       *convex.Parameter
	solver  *convex.Solver
	taken   time.Duration // by the last solve
	scale   float64       // |l| at x = 0 and the first h
	eps     float64       // of the conic solver
}

// lowerSolution is the outcome at one h.
type lowerSolution struct {
	result *convex.Result
	h      []float64
	value  float64     // v(h)
	x      [][]float64 // a solution
	// slope is a subgradient of v at h, -gamma in the radii.
	slope []float64
	upper float64 // L(x, h)
	weak  []bool  // for each radius: its multiplier vanishes up to weakShare
}

func newLower(p *Program, s *Settings) (*lower, error) {
	m := convex.NewModel()
	h := m.Parameter("h", len(p.H0))
	l := &lower{program: p, h: h, level: p.Build(m, h.Expr()), eps: s.Solver.WithDefaults().Eps}
	if err := p.check(&l.level); err != nil {
		return nil, err
	}
	m.Minimize(l.level.Train)
	for _, c := range l.level.Constraints {
		m.Constrain(convex.LessEqual(c, convex.Const(0)))
	}
	m.Constrain(l.level.Set...)
	prog, err := m.Compile(convex.CompileOptions{})
	if err != nil {
		return nil, p.errorf("lower level: %w", err)
	}
	if err := h.Set(p.H0); err != nil {
		return nil, err
	}
	zero := make([][]float64, len(l.level.X))
	for i, v := range l.level.X {
		zero[i] = make([]float64, v.Len())
	}
	l.scale = math.Abs(l.level.Train.Eval(point(l.level.X, zero))[0])
	l.solver, err = prog.Solver(s.convex())
	if err != nil {
		return nil, p.errorf("lower level: %w", err)
	}
	return l, nil
}

// convex are the options of both compiled solvers.
func (s *Settings) convex() convex.SolverOptions {
	return convex.SolverOptions{Backend: s.Backend, Options: s.Solver, WorkingSets: !s.NoWorkingSets}
}

// solve solves the lower level at h. The solution's x is nil when the result is of no use.
func (l *lower) solve(ctx context.Context, h []float64) (*lowerSolution, error) {
	if err := l.h.Set(h); err != nil {
		return nil, err
	}
	start := time.Now()
	res, err := l.solver.Solve(ctx)
	l.taken = time.Since(start)
	if err != nil {
		return nil, l.program.errorf("lower level: %w", err)
	}
	out := &lowerSolution{result: res, h: slices.Clone(h)}
	if !usable(res) {
		return out, nil
	}
	out.value = res.Objective
	out.x = values(res, l.level.X)
	out.slope = res.Sensitivity(l.h)
	out.weak = make([]bool, l.program.Radii)
	largest, scale := 0.0, math.Max(l.scale, math.Abs(out.value))
	for _, r := range h[:l.program.Radii] {
		largest = math.Max(largest, r)
	}
	for j := range l.program.Radii {
		// v does not grow in a radius, and a multiplier that over the largest radius does less than
		// the solver can tell is none: with the penalty, and divided by rho, rounding would move h.
		work := -out.slope[j] * largest
		if !(work > l.eps*scale) {
			out.slope[j] = 0
		}
		out.weak[j] = !(work > weakShare*scale)
	}
	return out, nil
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
