package dca

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// With min 1/2 |x - y|^2 s.t. |x_j| <= r_j, a weight w on the path leaves the entries with |y_j| > w. The validation loss
// 1/2 |x - z|^2 is least on the path at w = 2, from which the anchor 0.5 draws it to the root of 2 times 0.5. Entries below
// stay at zero although z wants them, the others go to z.
func TestScreen(t *testing.T) {
	backend, err := backends.Open("native")
	require.NoError(t, err)
	y, z := []float64{4, 3, 0.8, -0.9}, []float64{2, 1, 0.5, -0.5}
	p := Program{
		Name: "screened", H0: []float64{9, 9, 9, 9}, Radii: 4, Path: [][]float64{{3.5}, {2}, {1.5}, {0.1}},
		Build: func(m *convex.Model, h convex.Affine) Level {
			x := m.Variable("x", 4)
			return Level{
				X:           []*convex.Variable{x},
				Train:       convex.SumSquares(x.Expr().Minus(convex.Const(y...))).Scale(0.5),
				Validation:  convex.SumSquares(x.Expr().Minus(convex.Const(z...))).Scale(0.5),
				Constraints: []convex.Convex{convex.Abs(x.Expr()).MinusAffine(h)},
			}
		},
	}
	s := Settings{Tol: 1e-5, MaxIter: 500, Backend: backend, PathStart: true, Screen: true}
	res, err := Solve(context.Background(), p, s)
	require.NoError(t, err)
	require.Equal(t, []float64{2, 2, 2, 2}, res.StartWeights)
	require.InDeltaSlice(t, []float64{2, 1, 0, 0}, res.H, 1e-3)
	require.InDeltaSlice(t, []float64{2, 1, 0, 0}, res.Refit[0], 1e-3)

	p.Anchor = []float64{0.5}
	res, err = Solve(context.Background(), p, s)
	require.NoError(t, err)
	require.InDelta(t, 1, res.StartWeights[3], 1e-12)
	require.Less(t, res.H[2], 1e-5)
	require.Less(t, res.H[3], 1e-5)
	require.Equal(t, []bool{false, false, true, true}, res.Screened)

	// Without Screen the entries below come in.
	s.Screen = false
	res, err = Solve(context.Background(), p, s)
	require.NoError(t, err)
	require.Equal(t, 2.0, res.StartWeights[0])
	require.InDeltaSlice(t, []float64{2, 1, 0.5, 0.5}, res.H, 1e-2)

	p.Anchor = []float64{1, 2}
	_, err = Solve(context.Background(), p, s)
	require.ErrorContains(t, err, "Anchor has length 2, expected 1 or 4")
}
