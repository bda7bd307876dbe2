package tune

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
)

// conicFit is a fit of any program by conic programs, with the derivatives of [convex.Result.Gradient]: its penalty
// form or, where [dca.Program.Joint] bounds radii, its constrained form, whose hyperparameters are the radii
// themselves. Its gap is the largest residual, whatever the tolerance, and its gradient the adjoint's in every mode, as
// that of the Jacobian by columns is the same.
type conicFit struct {
	sync.Mutex // of what is solved by the form
	form       io.Closer
	solve      func(ctx context.Context, h []float64) (*dca.Solution, error)
	gradient   func(ctx context.Context, h []float64) ([]float64, error)
	project    func(ctx context.Context, h, of []float64) error // nil without Joint
	top        float64
	low, high  []float64
	path       [][]float64
}

// pathPoints is the number of points of a path, from the largest common weights of a search down or from the largest
// radii, that a descent may begin at.
const pathPoints = 20

// conicFit makes that of the task, which is to be closed.
func (t *task) conicFit(ctx context.Context) (*conicFit, error) {
	p := t.Program
	p.Fit = nil
	if p.Joint != nil {
		return t.constrainedFit(ctx, &p)
	}
	low, high, err := t.dataRanges(ctx)
	if err != nil {
		return nil, err
	}
	by, err := dca.NewPenalized(p, t.settings())
	if err != nil {
		return nil, err
	}
	f := &conicFit{form: by, top: slices.Max(high[:max(1, p.Radii)]), low: slices.Clone(low), high: slices.Clone(high)}
	f.solve = func(ctx context.Context, h []float64) (*dca.Solution, error) {
		return by.Solve(ctx, h[:p.Radii], h[p.Radii:])
	}
	f.gradient = func(ctx context.Context, h []float64) ([]float64, error) {
		return by.Gradient(ctx, h[:p.Radii], h[p.Radii:])
	}
	// Weights in their ranges, with the upper variables of the start as far as they are within theirs.
	for k := range pathPoints {
		h := make([]float64, len(p.H0))
		for j := range h {
			if h[j] = max(low[j], min(high[j], p.H0[j])); j < p.Radii {
				h[j] = high[j] * math.Pow(low[j]/high[j], float64(k)/(pathPoints-1))
			}
		}
		f.path = append(f.path, h)
	}
	// Weights may go as far down, and as far up, as those of other fits.
	for j, v := range high[:p.Radii] {
		f.low[j], f.high[j] = min(low[j], lower.LeastShare*v), lower.MostShare*v
	}
	return f, nil
}

// constrainedFit has the line of the program for its path, and radii in ranges about that.
func (t *task) constrainedFit(ctx context.Context, p *dca.Program) (*conicFit, error) {
	by, err := dca.NewConstrained(*p, t.settings())
	if err != nil {
		return nil, err
	}
	f := &conicFit{form: by, solve: by.Solve, gradient: by.Gradient, top: 1, low: make([]float64, len(p.H0)),
		high: make([]float64, len(p.H0))}
	if f.path, err = by.Line(ctx, pathPoints); err == nil && f.path == nil && ctx.Err() == nil {
		err = fmt.Errorf("%s: no hyperparameters within their bounds keep Joint", t.Model.Name())
	}
	if err != nil || f.path == nil {
		return f, err
	}
	f.top = slices.Max(f.path[0][:max(1, p.Radii)])
	for j := range f.low {
		if j >= p.Radii {
			f.low[j], f.high[j], err = upperRange(p, j)
		} else if f.low[j], f.high[j] = lower.LeastShare*f.top, lower.MostShare*f.top; p.Lo != nil {
			f.low[j] = max(f.low[j], p.Lo[j])
		}
		if p.Hi != nil {
			f.high[j] = min(f.high[j], p.Hi[j])
		}
		if err != nil {
			return f, err
		}
	}
	f.project = func(ctx context.Context, h, of []float64) error {
		f.Lock()
		defer f.Unlock()
		return by.Nearest(ctx, h, of, f.low, f.high)
	}
	for _, h := range f.path {
		if err := f.project(ctx, h, slices.Clone(h)); err != nil {
			return f, err
		}
	}
	return f, nil
}

// Dim implements [lower.Fit].
func (f *conicFit) Dim() int { return len(f.low) }

// LambdaMax implements [lower.Fit].
func (f *conicFit) LambdaMax() float64 { return f.top }

// Solve implements [lower.Fit].
func (f *conicFit) Solve(ctx context.Context, h []float64, _ float64, _ *lower.Point) (*lower.Point, error) {
	f.Lock()
	defer f.Unlock()
	s, err := f.solve(ctx, h)
	if err != nil {
		return nil, err
	}
	return &lower.Point{Lambda: slices.Clone(h), X: s.X, Validation: s.Validation, Gap: s.Residual,
		Solved: s.X != nil && s.Status == backends.Optimal, State: s.Lambda}, nil
}

// Traits implements [lower.Fit].
func (f *conicFit) Traits() lower.Traits {
	return lower.Traits{
		Bounds: func() (low, high []float64) { return f.low, f.high },
		Path:   func() [][]float64 { return slices.Clone(f.path) },
		Gradient: func(ctx context.Context, at *lower.Point, _ lower.Mode, _ float64) ([]float64, error) {
			f.Lock()
			defer f.Unlock()
			g, err := f.gradient(ctx, at.Lambda)
			if g == nil && err == nil { // which ends the search
				g = slices.Repeat([]float64{math.NaN()}, f.Dim())
			}
			return g, err
		}}
}
