package hypergradient

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
)

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
			moved := false
			for i, l := range at.Lambda {
				lambda[i] = math.Max(s.below(l-t*g[i], l, i), b.Floor)
				moved = moved || lambda[i] != l
			}
			if !moved {
				s.out.Status = Stationary
				return nil
			}
			tried, err := s.solve(ctx, lambda, s.LowerTol, next)
			if tried == nil {
				if err != nil || s.out.Status != LowerFailed && s.out.Status != NotFinite || t <= b.Least {
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
			s.out.Status = Stationary
			return nil
		}
	}
	s.out.Status = IterationLimit
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
			s.out.Status = Stationary
			return nil
		}
		next, err := s.solve(ctx, s.move(at.Lambda, g, -t), s.LowerTol, at)
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
	s.out.Status = Stationary
	return nil
}
