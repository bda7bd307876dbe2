package dca

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// pair has l(b) = 1/2 |b - (3, 4)|^2, a norm and half a square, and a path from the weight 1 on.
func pair() Program {
	return Program{
		Name: "pair", H0: []float64{1, 1}, Radii: 2, Path: [][]float64{{1}},
		Build: func(m *convex.Model, h convex.Affine) Level {
			b := m.Variable("b", 2)
			loss := convex.SumSquares(b.Expr().Minus(convex.Const(3, 4))).Scale(0.5)
			return Level{X: []*convex.Variable{b}, Train: loss, Validation: loss, Constraints: []convex.Convex{
				convex.Norm2(b.Expr()).MinusAffine(h.At(0)), convex.SumSquares(b.Expr()).Scale(0.5).MinusAffine(h.At(1)),
			}}
		},
	}
}

// A weight ends where a norm is zero for certain. With one of a square, b is (3, 4) / (1 + w).
func TestWeightsEnd(t *testing.T) {
	backend := must.Of(backends.Open("native"))(t)
	q := must.Of(NewPenalized(pair(), Settings{Backend: backend}))(t)
	require.Equal(t, []float64{1e5, 1e-10}, q.clipped([]float64{1e12, 1e-12}))
	require.Equal(t, []float64{2, 1e5}, q.clipped([]float64{2, 1e12}))
	s := must.Of(q.Solve(context.Background(), []float64{1e-12, 1e3}, nil))(t)
	require.InEpsilonSlice(t, []float64{3.0 / 1001, 4.0 / 1001}, s.X[0], 1e-4)
	s = must.Of(q.Solve(context.Background(), []float64{1e12, 1}, nil))(t)
	require.InDeltaSlice(t, []float64{0, 0}, s.X[0], 1e-6)
}
