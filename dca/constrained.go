package dca

import (
	"context"
	"math"
	"time"

	"github.com/conetune/conetune/convex"
)

// Constrained is the lower level of a program within its constraints, compiled once with h as a parameter,
//
//	minimize over x  l(x, h)   s.t.  P_i(x) <= r_i,  g(x, h) <= 0,  x in X,
//
// for methods that take steps in h = (r, u) themselves, as they must where [Program.Joint] is what bounds these: its
// gradient is that of F(h) = L(x(h), h). It is for one goroutine at a time.
type Constrained struct {
	form
	settings *Settings
	taken    time.Duration // by the last solve
	scale    float64       // |l| at x = 0 and the first h
}

// Solve solves the lower level at h. The value, the losses and the multipliers are those of the solution.
func (c *Constrained) Solve(ctx context.Context, h []float64) (*Solution, error) {
	s, err := c.solve(ctx, h)
	if err != nil {
		return nil, err
	}
	s.Stats, s.Validation = c.Stats(), math.NaN()
	if s.X == nil {
		s.Value = math.NaN()
	} else if c.blocks != nil {
		s.Validation = 0
		c.form.at(s.X, h, func(b *block, pt convex.Point) { s.Validation += b.level.Validation.Eval(pt)[0] })
	}
	s.Train = s.Value
	return s, nil
}

// Gradient solves the lower level at h, and returns the gradient of F there, see [convex.Result.Gradient]; nil where
// the solve was of no use. Where the solution is degenerate, it is that of the least norm.
func (c *Constrained) Gradient(ctx context.Context, h []float64) ([]float64, error) {
	results, _, err := c.results(ctx, func(b *block) error { return b.solver.Set(b.h, h) })
	if err != nil {
		return nil, err
	}
	return c.gradient(ctx, results)
}

// Line returns n points from where the constraints hold nothing back to where they hold back all that they can, each at
// the same share of the way from the last to the end: h with bounds and [Program.Joint] kept. It is nil where there is
// no such h, or the context ended.
func (c *Constrained) Line(ctx context.Context, n int) (points [][]float64, err error) {
	l, err := c.program.newLine(ctx, c.settings)
	if l == nil {
		return nil, err
	}
	for k := range n {
		points = append(points, l.at(math.Pow(lineStep, float64(k))))
	}
	return points, nil
}

// Nearest moves h into bounds and, where [Program.Joint] is above 0, to the nearest point at which it is not, in
// distances relative to the size of each entry of some others, such as h itself. The error is for a program of that
// which is not convex, or was not solved.
func (c *Constrained) Nearest(ctx context.Context, h, of, lo, hi []float64) error {
	p := c.program
	if err := p.nearest(ctx, c.settings, h, of, lo, hi); err != nil || p.keeps(h) {
		return err
	}
	return p.errorf("no hyperparameters were found near %.3g that keep Joint", h)
}
