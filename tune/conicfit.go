package tune

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
)

// conicFit is a fit of any program: its penalty form by conic programs, with the derivatives of
// [convex.Result.Gradient]. Its gap is the largest residual of these, whatever the tolerance.
type conicFit struct {
	sync.Mutex // of what is solved by
	by         *dca.Penalized
	radii      int
	start      []float64 // of all hyperparameters
	low, high  []float64 // of searches
}

// pathPoints is the number of common weights, from the largest of a search down, that a descent may begin at.
const pathPoints = 20

// conicFit makes that of the task, which is to be closed.
func (t *task) conicFit(ctx context.Context) (*conicFit, error) {
	low, high, err := t.dataRanges(ctx)
	if err != nil {
		return nil, err
	}
	p := t.Program
	p.Fit = nil
	by, err := dca.NewPenalized(p, t.settings())
	return &conicFit{by: by, radii: p.Radii, start: p.H0, low: low, high: high}, err
}

// Dim implements [lower.Fit].
func (f *conicFit) Dim() int { return len(f.start) }

// LambdaMax implements [lower.Fit].
func (f *conicFit) LambdaMax() float64 { return slices.Max(f.high[:max(1, f.radii)]) }

// Solve implements [lower.Fit].
func (f *conicFit) Solve(ctx context.Context, h []float64, _ float64, _ *lower.Point) (*lower.Point, error) {
	f.Lock()
	defer f.Unlock()
	s, err := f.by.Solve(ctx, h[:f.radii], h[f.radii:])
	if err != nil {
		return nil, err
	}
	return &lower.Point{Lambda: slices.Clone(h), X: s.X, Validation: s.Validation, Gap: s.Residual,
		Solved: s.X != nil && s.Status == backends.Optimal}, nil
}

// Traits implements [lower.Fit].
func (f *conicFit) Traits() lower.Traits {
	return lower.Traits{Bounds: f.bounds, Path: f.path,
		Gradient: func(ctx context.Context, at *lower.Point, _ lower.Mode, _ float64) ([]float64, error) {
			f.Lock()
			defer f.Unlock()
			g, err := f.by.Gradient(ctx, at.Lambda[:f.radii], at.Lambda[f.radii:])
			if g == nil && err == nil { // which ends the search
				g = slices.Repeat([]float64{math.NaN()}, f.Dim())
			}
			return g, err
		}}
}

// bounds lets weights go as far down, and as far up, as those of other fits.
func (f *conicFit) bounds() (low, high []float64) {
	low, high = slices.Clone(f.low), slices.Clone(f.high)
	for j, v := range f.high[:f.radii] {
		low[j], high[j] = min(low[j], lower.LeastShare*v), lower.MostShare*v
	}
	return low, high
}

// path are weights in their ranges, with the upper variables of the start as far as they are within theirs.
func (f *conicFit) path() (path [][]float64) {
	for k := range pathPoints {
		h := make([]float64, f.Dim())
		for j := range h {
			if h[j] = max(f.low[j], min(f.high[j], f.start[j])); j < f.radii {
				h[j] = f.high[j] * math.Pow(f.low[j]/f.high[j], float64(k)/(pathPoints-1))
			}
		}
		path = append(path, h)
	}
	return path
}
