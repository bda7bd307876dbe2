package sparse

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

// The gap bounds the error of the objective at any tolerance.
func TestGapBoundsTheError(t *testing.T) {
	x, y := lowertest.Sample(6, 80, 200, 6, 1)
	g := must.Of(Squares(Sample{X: design.New(x), Y: y}, true, Terms{}))(t)
	w1, w2 := 0.02*g.LambdaMax(), 1e-3
	exact := must.Of(g.solve(context.Background(), w1, w2, 1e-14, nil))(t)
	for _, tol := range []float64{0.3, 1e-1, 1e-2, 1e-4} {
		s := must.Of(g.solve(context.Background(), w1, w2, tol, nil))(t)
		require.LessOrEqual(t, s.Gap, tol*g.scale)
		require.LessOrEqual(t, s.Objective-exact.Objective, s.Gap*(1+1e-9)+1e-14*g.scale)
		require.GreaterOrEqual(t, s.Objective, exact.Objective*(1-1e-12))
	}
}

func TestWarmStartAtTheSameTime(t *testing.T) {
	x, y := lowertest.Sample(7, 120, 2000, 8, 1)
	g := must.Of(Squares(Sample{X: design.New(x), Y: y}, true, Terms{}))(t)
	top := g.LambdaMax()
	first := must.Of(g.solve(context.Background(), 0.1*top, 0, 1e-12, nil))(t)
	w1, w2 := 0.09*top, 0.0
	cold := must.Of(g.solve(context.Background(), w1, w2, 1e-12, nil))(t)
	warm := must.Of(g.solve(context.Background(), w1, w2, 1e-12, first))(t)
	require.InDeltaSlice(t, cold.B, warm.B, 1e-7)
	var again [4]*Solution
	crew.Each(len(again), len(again), func(i int) {
		again[i], _ = g.solve(context.Background(), w1, w2, 1e-12, first)
	})
	for _, s := range again {
		require.Equal(t, warm, s)
	}
}

// Features without an effect: constant columns with an intercept, zero columns, copies.
func TestDegenerateColumns(t *testing.T) {
	x, y := lowertest.Sample(8, 50, 12, 3, 1)
	for i := range 50 {
		x.Set(i, 1, 7)
		x.Set(i, 2, 0)
		x.Set(i, 5, x.At(i, 4))
		x.Set(i, 6, -2*x.At(i, 4))
	}
	for _, w := range [][]float64{{1e-3, 0}, {0, 0}, {0, 1e-4}} {
		c := problem{kind: "squares", x: x, y: y, intercept: true, l1: w[:1], l2: w[1:]}
		s := c.solve(t, c.fit(t, design.New(x)), 1e-12, nil)
		c.optimal(t, s, 1e-6, fmt.Sprint(w))
		require.Zero(t, s.B[1])
		require.Zero(t, s.B[2])
	}
	g := must.Of(Squares(Sample{X: design.New(x), Y: make([]float64, 50)}, true, Terms{}))(t)
	s := must.Of(g.solve(context.Background(), 1, 0, 0, nil))(t)
	require.Equal(t, outcome.Converged, s.Status)
	require.Empty(t, support(s))
}

// Weights near zero and more features than rows: the solution all but interpolates.
func TestTinyWeights(t *testing.T) {
	x, y := lowertest.Sample(9, 50, 300, 5, 1)
	g := must.Of(Squares(Sample{X: design.New(x), Y: y}, false, Terms{}))(t)
	top := g.LambdaMax()
	for _, l1 := range []float64{1e-4, 1e-6} {
		for _, l2 := range []float64{0, 1e-5, 1e-2} {
			s := must.Of(g.solve(context.Background(), l1*top, l2*top, 1e-10, nil))(t)
			require.Equal(t, outcome.Converged, s.Status, "%g %g", l1, l2)
			require.LessOrEqual(t, s.Gap, 1e-10*g.scale)
		}
	}
}
