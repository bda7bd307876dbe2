package sparse

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower/design"
)

// bound is the [Joint.dual] of the slopes at the coefficients, made to add up to 0 with an intercept.
func (s *jointSolver) bound(ctx context.Context, m1, m2 float64) float64 {
	look := s.seen[training]
	if s.base == nil && !s.intercept || s.base != nil && len(s.base.trivial.columns) == 0 {
		return s.dual(look.slopes, look.products, m1, m2)
	}
	if a, c := s.shifted(ctx, look); a != nil {
		return s.dual(a, c, m1, m2)
	}
	var a []float64
	if s.base != nil {
		a = s.base.balanced(look.slopes)
	} else {
		a = slices.Clone(look.slopes)
		s.rows[training].balance(a)
	}
	c := make([]float64, s.Features())
	s.sets[training].X.MulTransIn(ctx, c, a, s.threads)
	return s.dual(a, c, m1, m2)
}

// shifted takes the mean by the weights v from the slopes u, a = u - (sum u / sum v) v, for which X'a = X'u - (sum u / sum v) X'v needs no pass over the features
// once X'v is known. It returns nil where the a are not all slopes, or other features than the intercept are without a penalty: a of rows told well may be
// nearer to 0 than the mean is.
func (s *jointSolver) shifted(ctx context.Context, look jointLook) (a, c []float64) {
	if s.base != nil && !slices.Equal(s.base.trivial.columns, []int{design.Ones}) {
		return nil, nil
	}
	rows := &s.rows[training]
	v := rows.weight
	if v == nil {
		v = make([]float64, len(rows.y))
		floats.AddConst(1, v)
	}
	mean := floats.Sum(look.slopes) / floats.Sum(v)
	a = slices.Clone(look.slopes)
	floats.AddScaled(a, -mean, v)
	for i, e := range a {
		if low, high := rows.slopes(i); !(e >= low && e <= high) {
			return nil, nil
		}
	}
	if s.ofWeights == nil {
		of := make([]float64, s.Features())
		s.sets[training].X.MulTransIn(ctx, of, v, s.threads)
		if ctx.Err() != nil { // it may not be all of it
			return a, of
		}
		s.ofWeights = of
	}
	c = slices.Clone(look.products)
	floats.AddScaled(c, -mean, s.ofWeights)
	return a, c
}
