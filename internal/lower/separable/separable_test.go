package separable_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/separable"
	"github.com/conetune/conetune/internal/must"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
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

// l(b) = 1/6 |b - (3, 4, 1)|^2, with a group of the first two coefficients of norm 5.
func ExampleLower() {
	rows := separable.Rows{X: design.New(mat.NewDiagDense(3, []float64{1, 1, 1})), Y: []float64{3, 4, 1}}
	data := separable.New(rows, rows, [][]int{{0, 1}, {2}}, false, false)
	s, err := separable.NewLower(data).Solve(context.Background(), []float64{2, 2}, 1e-12)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("b %.3f, lambda %.3f, loss %.3f\n", s.X[0], s.Lambda, s.Loss)
	// Output: b [1.200 1.600 1.000], lambda [1.000 0.000], loss 1.500
}
