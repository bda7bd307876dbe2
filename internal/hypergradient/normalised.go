package hypergradient

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
)

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
