package lower

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/crew"
)

// folds is the mean of several fits that share their hyperparameters, as the folds of a cross-validation do: each has a
// lower level of its own, and the validation loss is the mean of theirs.
type folds struct{ parts []Fit }

// NewFolds takes fits with the same number of hyperparameters.
func NewFolds(parts []Fit) (Fit, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("lower: no folds")
	}
	for t, p := range parts {
		if p.Dim() != parts[0].Dim() {
			return nil, fmt.Errorf("lower: fold %d has %d hyperparameters, fold 0 has %d", t, p.Dim(), parts[0].Dim())
		}
	}
	return &folds{parts}, nil
}

// OverFolds makes the fit of a model from those of its folds, of which a split has one: that fit itself, or the mean of
// several.
func OverFolds(folds int, fit func(t int) (Fit, error)) (Fit, error) {
	parts := make([]Fit, folds)
	for t := range parts {
		var err error
		if parts[t], err = fit(t); err != nil {
			return nil, err
		}
	}
	if folds == 1 {
		return parts[0], nil
	}
	return NewFolds(parts)
}

// Dim is that of each fold.
func (f *folds) Dim() int { return f.parts[0].Dim() }

// LambdaMax is the largest of the folds'.
func (f *folds) LambdaMax() float64 {
	most := 0.0
	for _, p := range f.parts {
		most = math.Max(most, p.LambdaMax())
	}
	return most
}

// bounds are the narrowest of the folds'.
func (f *folds) bounds() (low, high []float64) {
	low, high = BoundsOf(f.parts[0])
	low, high = slices.Clone(low), slices.Clone(high)
	for _, p := range f.parts[1:] {
		l, h := BoundsOf(p)
		for i := range low {
			low[i], high[i] = math.Max(low[i], l[i]), math.Min(high[i], h[i])
		}
	}
	return low, high
}

// Solve implements [Fit], the folds side by side; the values of the variables of one fold follow those of the fold
// before. The gap is the largest of theirs.
func (f *folds) Solve(ctx context.Context, lambda []float64, tol float64, start *Point) (*Point, error) {
	out := &Point{Lambda: slices.Clone(lambda), Solved: true}
	points, errs := make([]*Point, len(f.parts)), make([]error, len(f.parts))
	crew.All(len(f.parts), func(t int) {
		var from *Point
		if start != nil {
			from = start.State.([]*Point)[t]
		}
		points[t], errs[t] = f.parts[t].Solve(ctx, lambda, tol, from)
	})
	for t, pt := range points {
		if errs[t] != nil {
			return nil, errs[t]
		}
		out.X = append(out.X, pt.X...)
		out.Validation += pt.Validation / float64(len(f.parts))
		out.Folds = append(out.Folds, pt.Validation)
		out.Gap, out.Solved = math.Max(out.Gap, pt.Gap), out.Solved && pt.Solved
	}
	out.State = points
	return out, nil
}

// Traits implements [Fit]: what all folds can. The path is that of the fold with the largest LambdaMax, the gradient
// the mean of theirs, the start the best of each.
func (f *folds) Traits() Traits {
	each := make([]Traits, len(f.parts))
	out := Traits{Bounds: f.bounds, Coarse: math.Inf(1)}
	gradient, start, parts := true, true, true
	for t, p := range f.parts {
		each[t] = p.Traits()
		out.Coarse = math.Min(out.Coarse, each[t].Coarse)
		gradient, start = gradient && each[t].Gradient != nil, start && each[t].Start != nil
		out.Parts = append(out.Parts, each[t].Parts...)
		parts = parts && len(each[t].Parts) > 0
	}
	if !parts {
		out.Parts = nil
	}
	if gradient {
		out.Path = func() [][]float64 {
			largest, most := 0, 0.0
			for t, p := range f.parts {
				if top := p.LambdaMax(); top > most {
					largest, most = t, top
				}
			}
			return each[largest].Path()
		}
		out.Gradient = func(ctx context.Context, at *Point, mode Mode, tol float64) ([]float64, error) {
			return f.gradient(ctx, each, at, mode, tol)
		}
	}
	if start {
		out.Start = func(lambda []float64, points []*Point) *Point { return f.start(each, lambda, points) }
	}
	return out
}

// gradient is the mean of the folds' gradients.
func (f *folds) gradient(ctx context.Context, each []Traits, at *Point, mode Mode, tol float64) ([]float64, error) {
	sum := make([]float64, f.Dim())
	for t, p := range each {
		g, err := p.Gradient(ctx, at.State.([]*Point)[t], mode, tol)
		if err != nil {
			return nil, err
		}
		floats.AddScaled(sum, 1/float64(len(each)), g)
	}
	return sum, nil
}

// start has the best start of each fold.
func (f *folds) start(each []Traits, lambda []float64, points []*Point) *Point {
	starts, of := make([]*Point, len(each)), make([]*Point, len(points))
	for t, p := range each {
		for k, pt := range points {
			of[k] = pt.State.([]*Point)[t]
		}
		starts[t] = p.Start(lambda, of)
	}
	return &Point{State: starts}
}
