package multipliers

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/numerics"
)

// dual is a concave function of multipliers m >= floor whose sum is at most most.
type dual struct {
	floor []float64
	most  float64
	// at evaluates the function; nil where that was not possible.
	at func(ctx context.Context, m []float64) (*dualPoint, error)
	// curvature is minus the second derivative at the last point that was evaluated, by rows; nil where the context ended.
	curvature func(ctx context.Context, m []float64) [][]float64
	// tol is an increase of the function that is of no interest: steps that promise less are taken as long as each
	// promises half as much as the one before, as the values of the constraints go with the root of it.
	tol  float64
	last *dualPoint // that was evaluated
	// loose ends with a step that promises less than tol, and pinned keeps the first multiplier.
	loose, pinned bool
}

// dualPoint is its value with the first derivative.
type dualPoint struct {
	m, slope []float64
	value    float64
	enough   bool // no better point is asked for
}

const (
	// steps bounds the Newton steps, searches the points on one of them.
	steps, searches = 100, 30
	// exactShare of the function is an increase that nobody can want.
	exactShare = 1e-28
	// retries bounds how often multipliers are made larger until the fit can be solved.
	retries = 6
	// stretch bounds how much a multiplier grows or falls in one step.
	stretch = 10
)

// maximize returns the best point, nil where none could be evaluated.
func (f *dual) maximize(ctx context.Context, start []float64) (*dualPoint, error) {
	m := slices.Clone(start)
	for i := range m {
		m[i] = math.Max(m[i], f.floor[i])
	}
	if total := floats.Sum(m); total > f.most {
		floats.Scale(f.most/total, m)
	}
	at, err := f.first(ctx, m)
	before := math.Inf(1)
	for range steps {
		if at == nil || err != nil || at.enough {
			return at, err
		}
		curvature := f.curvature(ctx, at.m)
		if curvature == nil {
			return at, nil
		}
		d := f.newton(at, curvature)
		promise := floats.Dot(at.slope, d)
		if !(promise > exactShare*math.Abs(at.value)) || promise <= f.tol && (f.loose || promise >= before/2) {
			return at, nil // or rounding has the last word
		}
		before = promise
		next, err := f.search(ctx, at, d)
		if next == nil && err == nil { // of a value that was not yet the least over the variables nothing is better
			if next, err = f.evaluate(ctx, at.m); next != nil && !(next.value < at.value-f.tol) {
				next = nil
			}
		}
		if next != nil && next != f.last {
			next, err = f.evaluate(ctx, next.m)
		}
		if next == nil || err != nil {
			return at, err
		}
		at = next
	}
	return at, err
}

func (f *dual) evaluate(ctx context.Context, m []float64) (at *dualPoint, err error) {
	f.last, err = f.at(ctx, m)
	return f.last, err
}

// first evaluates the function at m or, where that is not possible, farther from the floor.
func (f *dual) first(ctx context.Context, m []float64) (at *dualPoint, err error) {
	for range retries {
		if at, err = f.evaluate(ctx, m); at != nil || err != nil || ctx.Err() != nil || !math.IsInf(f.most, 1) {
			return at, err
		}
		m = slices.Clone(m)
		floats.Scale(stretch*stretch, f.free(m))
	}
	return nil, nil
}

// free are the multipliers that move.
func (f *dual) free(m []float64) []float64 {
	if f.pinned {
		return m[1:]
	}
	return m
}

// newton is the step that the second derivative suggests.
func (f *dual) newton(at *dualPoint, curvature [][]float64) []float64 {
	n := len(at.m)
	b := numerics.Boxed{
		G: at.slope, K: curvature, Lo: make([]float64, n), Hi: make([]float64, n),
		Most: math.Max(0, f.most-floats.Sum(at.m)),
	}
	if b.Most <= 1e-15*f.most && !math.IsInf(f.most, 1) {
		b.Most = 0
	}
	unit := slices.Max(f.free(at.m))
	if unit == 0 {
		unit = math.Min(1, f.most)
	}
	for i, v := range at.m {
		floor := f.floor[i]
		if floor > 0 {
			floor = math.Max(floor, v/stretch)
		}
		b.Lo[i] = math.Min(0, floor-v)
		b.Hi[i] = stretch * math.Max(v, unit)
	}
	if f.pinned {
		b.Lo[0], b.Hi[0] = 0, 0
	}
	return b.Solve()
}

// search goes along d until the slope has all but gone; nil where nothing is better.
func (f *dual) search(ctx context.Context, from *dualPoint, d []float64) (*dualPoint, error) {
	slope := floats.Dot(from.slope, d)
	var last, best *dualPoint
	var err error
	found := numerics.Search(slope, numerics.Little, searches, func(t float64) (s float64, ok, done bool) {
		m := make([]float64, len(d))
		floats.AddScaledTo(m, from.m, t, d)
		for i := range m {
			m[i] = math.Max(m[i], f.floor[i])
		}
		if last, err = f.evaluate(ctx, m); last == nil {
			return 0, false, err != nil || ctx.Err() != nil
		}
		if last.value > from.value && (best == nil || last.value > best.value) {
			best = last
		}
		// Also where the value cannot tell any more.
		return floats.Dot(last.slope, d), true, slope <= f.tol || last.enough
	})
	if found && last != nil || err != nil {
		return last, err
	}
	return best, nil
}
