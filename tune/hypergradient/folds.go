package hypergradient

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Folds is the mean of several models that share their hyperparameters, as the folds of a cross-validation do: each has a
// lower level of its own, and the validation loss is the mean of theirs.
type Folds struct{ models []Model }

// NewFolds takes models with the same number of hyperparameters.
func NewFolds(models []Model) (*Folds, error) {
	if len(models) == 0 {
		return nil, fmt.Errorf("hypergradient: no folds")
	}
	for t, m := range models {
		if m.Dim() != models[0].Dim() {
			return nil, fmt.Errorf("hypergradient: fold %d has %d hyperparameters, fold 0 has %d", t, m.Dim(), models[0].Dim())
		}
	}
	return &Folds{models}, nil
}

// Dim is that of each fold.
func (f *Folds) Dim() int { return f.models[0].Dim() }

// LambdaMax is the largest of the folds'.
func (f *Folds) LambdaMax() float64 {
	most := 0.0
	for _, m := range f.models {
		most = math.Max(most, m.LambdaMax())
	}
	return most
}

// Path is that of the fold with the largest LambdaMax.
func (f *Folds) Path() [][]float64 {
	return slices.MaxFunc(f.models, func(a, b Model) int {
		switch {
		case a.LambdaMax() < b.LambdaMax():
			return -1
		case a.LambdaMax() > b.LambdaMax():
			return 1
		}
		return 0
	}).Path()
}

// Bounds are the narrowest of the folds that have some, and else those of any search.
func (f *Folds) Bounds() (low, high []float64) {
	low, high = slices.Repeat([]float64{leastShare * f.LambdaMax()}, f.Dim()), slices.Repeat([]float64{math.Inf(1)}, f.Dim())
	for t, m := range f.models {
		b, ok := m.(Bounded)
		if !ok {
			continue
		}
		l, h := b.Bounds()
		for i := range low {
			if low[i] = math.Max(low[i], l[i]); t == 0 {
				low[i] = l[i]
			}
			high[i] = math.Min(high[i], h[i])
		}
	}
	return low, high
}

// Solve implements [Model], fold by fold; the values of the variables of one fold follow those of the fold before.
func (f *Folds) Solve(ctx context.Context, lambda []float64, tol float64, start *Point) (*Point, error) {
	out := &Point{Lambda: slices.Clone(lambda), Solved: true}
	points := make([]*Point, len(f.models))
	for t, m := range f.models {
		var from *Point
		if start != nil {
			from = start.State.([]*Point)[t]
		}
		pt, err := m.Solve(ctx, lambda, tol, from)
		if err != nil {
			return nil, err
		}
		points[t] = pt
		out.X = append(out.X, pt.X...)
		out.Validation += pt.Validation / float64(len(f.models))
		out.Gap, out.Solved = math.Max(out.Gap, pt.Gap), out.Solved && pt.Solved
	}
	out.State = points
	return out, nil
}

// Gradient implements [Model]: the mean of the folds' gradients.
func (f *Folds) Gradient(ctx context.Context, at *Point, o GradientOptions) ([]float64, error) {
	sum := make([]float64, f.Dim())
	for t, m := range f.models {
		g, err := m.Gradient(ctx, at.State.([]*Point)[t], o)
		if err != nil {
			return nil, err
		}
		floats.AddScaled(sum, 1/float64(len(f.models)), g)
	}
	return sum, nil
}
