package separable_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/separable"
	"github.com/conetune/conetune/internal/must"
)

func TestWrongInput(t *testing.T) {
	rows := func(n, p int) separable.Rows {
		return separable.Rows{X: design.New(mat.NewDense(n, p, nil)), Y: make([]float64, n)}
	}
	g := separable.New(rows(2, 3), rows(2, 3), [][]int{{0}, {1}, {2}}, false, false)
	low := separable.NewLower(g)
	_, err := low.Solve(context.Background(), []float64{1}, 1e-9)
	require.ErrorContains(t, err, "1 radii, expected 3")
	require.ErrorContains(t, low.Begin(context.Background(), []float64{1}, nil), "1 weights")
	_, err = separable.NewSubproblem([]*separable.Regression{g}, 1).Solve(context.Background(), &bilevel.Centre{})
	require.ErrorContains(t, err, "0 parts")
	// Nothing to explain, and nothing to explain it by.
	got := must.Of(low.Solve(context.Background(), []float64{1, 1, 1}, 0))(t)
	require.True(t, got.Solved)
	require.Zero(t, got.Loss)
}
