package tune_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/tune"
)

// A model of one's own, a trend filter: a signal is measured twice, the sum of all its changes of slope is bounded by a
// radius, and the radius is chosen so that what is fitted to the first measurement predicts the second.
func ExampleCustom() {
	var first, second []float64
	for i := range 25 {
		signal := math.Abs(float64(i)-12) / 2
		first = append(first, signal+0.5*math.Sin(float64(5*i)))
		second = append(second, signal+0.5*math.Cos(float64(7*i)))
	}
	model := tune.Custom{Bilevel: dca.Program{
		Name: "trend", H0: []float64{0.5}, Radii: 1,
		Build: func(m *convex.Model, h convex.Affine) dca.Level {
			x := m.Variable("x", 25)
			slope := x.Expr().Slice(1, 25).Minus(x.Expr().Slice(0, 24))
			bends := slope.Slice(1, 24).Minus(slope.Slice(0, 23))
			return dca.Level{
				X:           []*convex.Variable{x},
				Train:       convex.SumSquares(x.Expr().Minus(convex.Const(first...))).Scale(1. / 50),
				Validation:  convex.SumSquares(x.Expr().Minus(convex.Const(second...))).Scale(1. / 50),
				Constraints: []convex.Convex{convex.Norm1(bends).MinusAffine(h)},
			}
		},
	}, Settings: dca.Settings{GapTol: 1e-4}}
	result, err := tune.VFiDCA(context.Background(), model, tune.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: changes of slope up to %.2f, validation error %.2f\n", result.Status, result.Radii[0], result.Refit.Validation)
	// Output: converged: changes of slope up to 0.96, validation error 0.07
}

// Every method takes it.
func TestCustomByAllSearches(t *testing.T) {
	model := tune.Custom{Bilevel: dca.Program{
		Name: "ridge", H0: []float64{2}, Radii: 1,
		Build: func(m *convex.Model, h convex.Affine) dca.Level {
			x := m.Variable("x", 1)
			return dca.Level{
				X:           []*convex.Variable{x},
				Train:       convex.SumSquares(x.Expr().Minus(convex.Const(3))).Scale(0.5),
				Validation:  convex.SumSquares(x.Expr().Minus(convex.Const(1))).Scale(0.5),
				Constraints: []convex.Convex{convex.SumSquares(x.Expr()).Scale(0.5).MinusAffine(h)},
			}
		},
	}, Settings: dca.Settings{GapTol: 1e-6}}
	require.Equal(t, []string{"h1"}, model.Names())
	// x = 3/(1 + lambda) is 1 at lambda = 2.
	results, err := tune.Compare(context.Background(), model, []string{"vf-idca", "grid", "random", "tpe"}, false, tune.Config{
		Evaluations: 40, Seed: 1, Ranges: []tune.Range{{Low: 0.1, High: 10}},
	})
	require.NoError(t, err)
	for _, r := range results {
		require.Less(t, r.Refit.Validation, 0.01, r.Method)
		require.InDelta(t, 2, r.Lambda[0], 0.4, r.Method)
		require.Equal(t, tune.FinalTrain, r.TrainedOn)
	}
}
