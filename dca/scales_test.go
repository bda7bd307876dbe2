package dca

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
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

// A weight of a norm ends where the norm is zero for certain, and one of a square, which is zero at none, has no
// end: with it b is (3, 4) / (1 + w).
func TestWeightsEnd(t *testing.T) {
	backend, err := backends.Open("native")
	require.NoError(t, err)
	q, err := NewPenalized(pair(), nil, Settings{Backend: backend})
	require.NoError(t, err)
	require.Equal(t, []bool{true, false}, q.norms())
	require.Equal(t, []float64{1e5, 1e12}, q.clipped([]float64{1e12, 1e12}))
	require.Equal(t, []float64{1e-10, 1e-12}, q.clipped([]float64{1e-12, 1e-12}))
	require.Equal(t, []float64{2, 1e12}, q.clipped([]float64{2, 1e12}))
	s, err := q.Solve(context.Background(), []float64{1e-12, 1e3}, nil)
	require.NoError(t, err)
	require.InEpsilonSlice(t, []float64{3.0 / 1001, 4.0 / 1001}, s.X[0], 1e-4)
	s, err = q.Solve(context.Background(), []float64{1e12, 1}, nil)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0, 0}, s.X[0], 1e-6)
}

// No values of the variables are a solution whose objective is above that of zero, 12.5.
func TestWorseThanNothing(t *testing.T) {
	backend, err := backends.Open("native")
	require.NoError(t, err)
	q, err := NewPenalized(pair(), nil, Settings{Backend: backend})
	require.NoError(t, err)
	_, err = q.Solve(context.Background(), []float64{1, 1}, nil)
	require.NoError(t, err)
	require.False(t, q.worse([][]float64{{0, 0}}))
	require.False(t, q.worse([][]float64{{1.2, 1.6}})) // 2 + 4.5 + 2
	require.True(t, q.worse([][]float64{{3, 4}}))      // 5 + 12.5
}
