package dca

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// A run looks at the points of its path, solves the lower level there, and then both programs of each iteration in
// turn.
func TestPlaces(t *testing.T) {
	backend := must.Of(backends.Open("native"))(t)
	p := Program{
		Name: "places", H0: []float64{1}, Radii: 1, Path: [][]float64{{2}, {1}},
		Build: func(m *convex.Model, h convex.Affine) Level {
			x := m.Variable("x", 1)
			return Level{
				X:           []*convex.Variable{x},
				Train:       convex.SumSquares(x.Expr().Minus(convex.Const(4))).Scale(0.5),
				Validation:  convex.SumSquares(x.Expr().Minus(convex.Const(3))).Scale(0.5),
				Constraints: []convex.Convex{convex.Abs(x.Expr()).MinusAffine(h)},
			}
		},
	}
	var places []Place
	s := Settings{Tol: 1e-9, MaxIter: 2, Backend: backend, PathStart: true,
		Begin: func(at Place) { places = append(places, at) }}
	r := must.Of(Solve(context.Background(), p, s))(t)
	require.Equal(t, 2, r.Iterations)
	require.Equal(t, []Place{
		{Stage: StagePenalty, MaxIter: 2, Point: 1, Points: 2}, {Stage: StagePenalty, MaxIter: 2, Point: 2, Points: 2},
		{Stage: StageConstrained, MaxIter: 2},
		{Stage: StageSubproblem, Iteration: 1, MaxIter: 2}, {Stage: StageConstrained, Iteration: 1, MaxIter: 2},
		{Stage: StageSubproblem, Iteration: 2, MaxIter: 2}, {Stage: StageConstrained, Iteration: 2, MaxIter: 2},
	}, places)
}
