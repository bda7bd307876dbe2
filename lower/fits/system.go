package fits

import (
	"context"
	"fmt"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/sparse"
)

// system is H v = q at a solution, H = X_S'X_S / n + diag(w2) on the columns S that are free to move. Where H is singular, v is the
// solution with a ridge of rounding size.
type system struct {
	g       *sparse.Regression
	set     []int
	w2      []float64
	mode    lower.Mode
	tol     float64
	inverse *sparse.Inverse // nil where H is too large for a factor, or the mode does without
}

func newSystem(ctx context.Context, g *sparse.Regression, set []int, w2 []float64, o lower.GradientOptions) (*system, error) {
	s := &system{g: g, set: set, w2: w2, mode: o.Mode, tol: o.Accuracy()}
	if o.Mode == lower.Truncated || len(set) == 0 || !g.Invertible(set, w2) {
		return s, nil
	}
	var err error
	if s.inverse, err = g.Inverse(ctx, set, w2); err != nil {
		return nil, fmt.Errorf("fits: lower level: %w", err)
	}
	return s, nil
}

// solve returns v, without a factor by conjugate gradients.
func (s *system) solve(ctx context.Context, q []float64) []float64 {
	v := make([]float64, len(q))
	switch {
	case s.mode == lower.Truncated:
		truncated(ctx, s.g.Product(s.set, s.w2), q, v, len(q))
	case s.inverse != nil:
		copy(v, q)
		s.inverse.Solve(v)
	default:
		s.g.ConjugateGradient(ctx, s.set, s.w2, q, v, s.tol, 10*len(q))
	}
	return v
}
