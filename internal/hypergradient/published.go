package hypergradient

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
)

// Backtracking are the steps of Feng and Simon's program for IGJO: lambda' = max(lambda - t g, Floor) with the
// gradient g in lambda itself. While
//
//	f(lambda') > f(lambda) - Share t |g|^2   (or f(lambda), where the right side is negative)
//
// t shrinks, by its factor's third power where the lower level could not be solved, and it never grows again. The
// search ends at the first point that is no better, at a decrease of less than Enough, or than the tolerance times
// f(lambda) if one is set, and at a step below Least. t, Share and Floor have the units of the hyperparameters.
type Backtracking struct {
	// Start is the value of all hyperparameters that it begins with, MaxIter bounds the steps.
	Start   float64
	MaxIter int
	// First is the first step, Shrink what a refused one is multiplied by, Least the smallest.
	First, Shrink, Least float64
	// Share is the decrease asked for, Enough the one to go on for.
	Share, Enough float64
	// Floor is the least value of a hyperparameter.
	Floor float64
}

// Normalised are the steps for IFDM of its authors' program, sparse-ho: with the gradient g in the logarithms of
// lambda,
//
//	log lambda' = log lambda - t g,   t = Length / |g|   for the first Free steps, or until f goes up for the first time.
//
// From then on t stays, but after a point that is worse than the one before the next step is taken and then t shrinks.
// Nothing is taken back, and nothing but the number of points or a step that moves nothing ends the search.
type Normalised struct {
	// Length is that of the first steps, Shrink what t is multiplied by.
	Length, Shrink float64
	// Free is the number of steps of that length at most.
	Free int
}

// backtrack goes down from one start.
func (s *search) backtrack(ctx context.Context, at *lower.Point) error {
	b := s.Backtracking
	t := b.First
	for s.out.Iterations-s.begun < s.MaxIter {
		g, err := s.gradient(ctx, at, gradientTol)
		if g == nil {
			return err
		}
		share := b.Share * floats.Dot(g, g)
		next := at
		for {
			lambda := make([]float64, len(g))
			for i, l := range at.Lambda {
				lambda[i] = math.Max(s.below(l-t*g[i], l, i), b.Floor)
			}
			if lambda, err = s.project(ctx, lambda, at.Lambda); err != nil {
				return err
			}
			if slices.Equal(lambda, at.Lambda) {
				s.out.Status = outcome.Converged
				return nil
			}
			tried, err := s.solve(ctx, lambda, s.LowerTol, next)
			if tried == nil {
				if err != nil || s.out.Status != LowerFailed && s.out.Status != outcome.NumericalError || t <= b.Least {
					return err
				}
				s.out.Status = ""
				t *= b.Shrink * b.Shrink * b.Shrink
				continue
			}
			next = tried
			most := at.Validation - t*share
			if most < 0 {
				most = at.Validation
			}
			if next.Validation <= most || t <= b.Least {
				break
			}
			t *= b.Shrink
		}
		decrease := at.Validation - next.Validation
		if decrease >= 0 {
			s.out.Iterations++
			at = next
		}
		if !(decrease >= math.Max(b.Enough, s.Tol*next.Validation)) || t < b.Least {
			s.out.Status = outcome.Converged
			return nil
		}
	}
	s.out.Status = outcome.IterationLimit
	return nil
}

// normalised goes down from one start.
func (s *search) normalised(ctx context.Context, at *lower.Point) error {
	t, up, before := 0.0, false, math.Inf(1)
	for i := 1; i < s.MaxIter; i++ {
		g, err := s.gradient(ctx, at, gradientTol)
		if g == nil {
			return err
		}
		if norm := floats.Norm(g, 2); i <= s.Normalised.Free && !up && norm > 0 {
			t = s.Normalised.Length / norm
		}
		if t*floats.Norm(g, math.Inf(1)) < leastMove {
			s.out.Status = outcome.Converged
			return nil
		}
		to, err := s.move(ctx, at.Lambda, g, -t)
		if err != nil {
			return err
		}
		next, err := s.solve(ctx, to, s.LowerTol, at)
		if next == nil {
			return err
		}
		s.out.Iterations++
		if at.Validation > before {
			up = true
			t *= s.Normalised.Shrink
		}
		at, before = next, at.Validation
	}
	s.out.Status = outcome.Converged
	return nil
}
