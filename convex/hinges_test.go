package convex_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// Hinges that pull in both directions, a quantile regression: the median of the targets is a solution.
func TestHingesQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	const n = 301
	y := random(rng, n)
	m := convex.NewModel()
	b, shift := m.Variable("b", 1), m.Parameter("shift", 1)
	residual := convex.Const(y...).Minus(b.Expr())
	m.Minimize(convex.Pos(residual).Plus(convex.Pos(residual.Neg())).Sum().PlusAffine(shift.Dot(b.Expr())))
	s := solver(t, m, convex.SolverOptions{WorkingSets: true})
	for _, k := range []int{150, 150, 140, 60, 280, 281, 150} {
		// The sum of |y_i - b| + s b with s = n - 1 - 2k, between odd numbers, is least at the k-th smallest y.
		require.NoError(t, shift.Set([]float64{float64(n - 1 - 2*k)}))
		r := solve(t, s)
		below := 0
		for _, v := range y {
			if v < r.Value(b)[0]-1e-4 {
				below++
			}
		}
		require.InDelta(t, k, below, 1)
	}
	require.NoError(t, shift.Set([]float64{n + 1})) // without a minimum
	r := must.Of(s.Solve(context.Background()))(t)
	require.Equal(t, backends.DualInfeasible, r.Status)
	require.NoError(t, shift.Set([]float64{0}))
	solve(t, s)
}

// A program that becomes infeasible says so: hinges of |b - y_i| with b in an interval that becomes empty.
func TestHingesInfeasible(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 6))
	y := random(rng, 100)
	m := convex.NewModel()
	b, top := m.Variable("b", 1), m.Parameter("top", 1)
	residual := convex.Const(y...).Minus(b.Expr())
	m.Minimize(convex.Pos(residual).Plus(convex.Pos(residual.Neg())).Sum())
	m.Constrain(convex.GreaterEqual(b.Expr(), convex.Const(1)), convex.LessEqual(convex.Linear(b.Expr()), top.Expr()))
	s := solver(t, m, convex.SolverOptions{WorkingSets: true})
	for _, c := range []struct {
		top  float64
		want backends.Status
	}{{5, backends.Optimal}, {5.1, backends.Optimal}, {-1, backends.PrimalInfeasible}, {5, backends.Optimal}} {
		require.NoError(t, top.Set([]float64{c.top}))
		r := must.Of(s.Solve(context.Background()))(t)
		require.Equal(t, c.want, r.Status)
		if c.want == backends.Optimal {
			require.InDelta(t, 1, r.Value(b)[0], 1e-6)
		}
	}
}
