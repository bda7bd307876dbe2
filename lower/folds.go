package lower

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Folds is the mean of several fits that share their hyperparameters, as the folds of a cross-validation do: each has a
// lower level of its own, and the validation loss is the mean of theirs.
type Folds struct{ parts []Penalised }

// NewFolds takes fits with the same number of hyperparameters.
func NewFolds(parts []Penalised) (*Folds, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("lower: no folds")
	}
	for t, p := range parts {
		if p.Dim() != parts[0].Dim() {
			return nil, fmt.Errorf("lower: fold %d has %d hyperparameters, fold 0 has %d", t, p.Dim(), parts[0].Dim())
		}
	}
	return &Folds{parts}, nil
}

// OverFolds makes the fit of a model from those of its folds, of which a split has one: that fit itself, or the mean of several.
func OverFolds(folds int, fit func(t int) (Penalised, error)) (Penalised, error) {
	parts := make([]Penalised, folds)
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

// mean is what [DifferentiableOf], [StarterOf] and [ConstrainedOf] know folds by, whatever they are wrapped in.
func (f *Folds) mean() *Folds { return f }

// Dim is that of each fold.
func (f *Folds) Dim() int { return f.parts[0].Dim() }

// LambdaMax is the largest of the folds'.
func (f *Folds) LambdaMax() float64 {
	most := 0.0
	for _, p := range f.parts {
		most = math.Max(most, p.LambdaMax())
	}
	return most
}

// Bounds implements [Bounded]: the narrowest of the folds'.
func (f *Folds) Bounds() (low, high []float64) {
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

// Solve implements [Penalised], fold by fold; the values of the variables of one fold follow those of the fold before. The gap is the
// largest of theirs.
func (f *Folds) Solve(ctx context.Context, lambda []float64, tol float64, start *Point) (*Point, error) {
	out := &Point{Lambda: slices.Clone(lambda), Solved: true}
	points := make([]*Point, len(f.parts))
	for t, p := range f.parts {
		var from *Point
		if start != nil {
			from = start.State.([]*Point)[t]
		}
		pt, err := p.Solve(ctx, lambda, tol, from)
		if err != nil {
			return nil, err
		}
		points[t] = pt
		out.X = append(out.X, pt.X...)
		out.Validation += pt.Validation / float64(len(f.parts))
		out.Gap, out.Solved = math.Max(out.Gap, pt.Gap), out.Solved && pt.Solved
	}
	out.State = points
	return out, nil
}

// FoldLosses are the validation losses of the folds at a point, nil for a fit without folds.
func FoldLosses(pt *Point) []float64 {
	points, ok := pt.State.([]*Point)
	if !ok {
		if s, ok := pt.State.(interface{ FoldLosses() []float64 }); ok {
			return s.FoldLosses()
		}
		return nil
	}
	losses := make([]float64, len(points))
	for t, p := range points {
		losses[t] = p.Validation
	}
	return losses
}

// DifferentiableOf returns a fit as a [Differentiable], nil where it is none. Folds are one if all of theirs are.
func DifferentiableOf(p Penalised) Differentiable {
	f, ok := p.(interface{ mean() *Folds })
	if !ok {
		d, _ := p.(Differentiable)
		return d
	}
	out := differentiableFolds{Folds: f.mean()}
	for _, part := range out.Folds.parts {
		d := DifferentiableOf(part)
		if d == nil {
			return nil
		}
		out.parts = append(out.parts, d)
	}
	return out
}

// differentiableFolds are folds of fits that can be differentiated.
type differentiableFolds struct {
	*Folds
	parts []Differentiable
}

// Path is that of the fold with the largest LambdaMax.
func (f differentiableFolds) Path() [][]float64 {
	return slices.MaxFunc(f.parts, func(a, b Differentiable) int { return cmp.Compare(a.LambdaMax(), b.LambdaMax()) }).Path()
}

// Gradient implements [Differentiable]: the mean of the folds' gradients.
func (f differentiableFolds) Gradient(ctx context.Context, at *Point, o GradientOptions) ([]float64, error) {
	sum := make([]float64, f.Dim())
	for t, p := range f.parts {
		g, err := p.Gradient(ctx, at.State.([]*Point)[t], o)
		if err != nil {
			return nil, err
		}
		floats.AddScaled(sum, 1/float64(len(f.parts)), g)
	}
	return sum, nil
}

// BilevelsOf returns a fit as a [Bilevel], folds as one for each of theirs; nil where there is one that is none, or a [Scaled] that is not quick.
func BilevelsOf(p Penalised) []Bilevel {
	parts := []Penalised{p}
	if f, ok := p.(interface{ mean() *Folds }); ok {
		parts = f.mean().parts
	}
	var out []Bilevel
	for _, part := range parts {
		j, ok := part.(Bilevel)
		if !ok {
			return nil
		}
		if s, ok := part.(Scaled); ok && !s.Quick(len(parts)) {
			return nil
		}
		out = append(out, j)
	}
	return out
}

// StarterOf returns a fit as a [Starter], nil where it is none. Folds are one if all of theirs are, and take the best start of each.
func StarterOf(p Penalised) Starter {
	f, ok := p.(interface{ mean() *Folds })
	if !ok {
		s, _ := p.(Starter)
		return s
	}
	out := startingFolds{Folds: f.mean()}
	for _, part := range out.Folds.parts {
		s := StarterOf(part)
		if s == nil {
			return nil
		}
		out.parts = append(out.parts, s)
	}
	return out
}

// startingFolds are folds of starters.
type startingFolds struct {
	*Folds
	parts []Starter
}

// Start implements [Starter].
func (f startingFolds) Start(lambda []float64, points []*Point) *Point {
	starts, of := make([]*Point, len(f.parts)), make([]*Point, len(points))
	for t, p := range f.parts {
		for k, pt := range points {
			of[k] = pt.State.([]*Point)[t]
		}
		starts[t] = p.Start(lambda, of)
	}
	return &Point{State: starts}
}

// ConstrainedOf returns a fit as a [Constrained], nil where it is none. Folds are one if all of theirs are, and a [Bilevel] says by a method
// Constrained which one it is.
func ConstrainedOf(p Penalised) Constrained {
	if b, ok := p.(interface{ Constrained() Constrained }); ok {
		return b.Constrained()
	}
	f, ok := p.(interface{ mean() *Folds })
	if !ok {
		c, _ := p.(Constrained)
		return c
	}
	out := constrainedFolds{Folds: f.mean()}
	for _, part := range out.Folds.parts {
		c := ConstrainedOf(part)
		if c == nil {
			return nil
		}
		out.parts = append(out.parts, c)
	}
	return out
}

// constrainedFolds are folds of fits within radii.
type constrainedFolds struct {
	*Folds
	parts []Constrained
}

// Within implements [Constrained]: each fold within the radii, with the means of the losses and multipliers. The gap is the largest of theirs.
func (f constrainedFolds) Within(ctx context.Context, radii []float64, tol float64) (*Within, error) {
	out := &Within{Lambda: make([]float64, len(radii)), Solved: true}
	share := 1 / float64(len(f.parts))
	for _, p := range f.parts {
		w, err := p.Within(ctx, radii, tol)
		if err != nil {
			return nil, err
		}
		out.X = append(out.X, w.X...)
		floats.AddScaled(out.Lambda, share, w.Lambda)
		out.Loss += share * w.Loss
		out.Gap, out.Solved = math.Max(out.Gap, w.Gap), out.Solved && w.Solved
	}
	return out, nil
}
