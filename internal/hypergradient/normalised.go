package hypergradient

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
)

// Normalised are the steps for [IFDM] of its authors' program, sparse-ho: with the gradient g in the logarithms of
// lambda,
//
//	log lambda' = log lambda - t g,   t = Length / |g|   for the first Free steps, or until f goes up for the first time.
//
// From then on t stays, but after a point that is worse than the one before the next step is taken and then t shrinks.
// Nothing is taken back, and nothing but Settings.MaxIter, the number of points, or a step that moves nothing ends the
// search.
type Normalised struct {
	// Length is that of the first steps, Shrink what t is multiplied by.
	Length, Shrink float64
	// Free is the number of steps of that length at most.
	Free int
}

// normalised goes down from one start.
func (s *search) normalised(ctx context.Context, at *lower.Point) error {
	t, up, before := 0.0, false, math.Inf(1)
	for i := 1; i < s.MaxIter; i++ {
		g, err := s.gradient(ctx, at, 0)
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
