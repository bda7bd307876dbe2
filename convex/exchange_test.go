package convex_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// After the first solve, programs with hinges whose numbers change a little are solved without the backend; values and
// multipliers are those of the full program by the backend.
func TestExchange(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 9))
		e := newMachine(rng, 60, 40, seed%2 == 1)
		prog, err := e.m.Compile()
		require.NoError(t, err)
		sets, err := prog.Solver(convex.SolverOptions{Backend: native(t), WorkingSets: true})
		require.NoError(t, err)
		full, err := prog.Solver(convex.SolverOptions{Backend: native(t)})
		require.NoError(t, err)
		centre := random(rng, e.w.Len())
		require.NoError(t, e.alpha.Set([]float64{3}))
		var first convex.Stats
		for k := range 12 {
			for j := range centre {
				centre[j] += 0.02 * rng.NormFloat64()
			}
			require.NoError(t, e.centre.Set(centre))
			require.NoError(t, e.bound.Set([]float64{0.1 + 0.01*rng.Float64()}))
			a, b := solve(t, sets), solve(t, full)
			require.InDelta(t, b.Objective, a.Objective, 3e-8*max(1, b.Objective))
			require.InDelta(t, b.Sensitivity(e.bound)[0], a.Sensitivity(e.bound)[0], 1e-5)
			inDelta(t, b.Value(e.w), a.Value(e.w), 1e-4)
			inDelta(t, b.Dual(e.box), a.Dual(e.box), 1e-4)
			problem, err := prog.Problem()
			require.NoError(t, err)
			pt := a.Conic()
			res, _, _ := backends.Recheck(problem, pt.X, pt.S, pt.Z)
			require.LessOrEqual(t, res.Max(), 1e-8)
			if k == 0 {
				first = sets.Stats()
			}
		}
		last := sets.Stats()
		require.Equal(t, first.Setups, last.Setups)
		require.Equal(t, first.Updates, last.Updates)
		require.Equal(t, 12, last.Solves)
		sets.Cold() // the backend again
		solve(t, sets)
		require.Greater(t, sets.Stats().Setups+sets.Stats().Updates, last.Setups+last.Updates)
	}
}

// A cancelled context ends the exchanges.
func TestExchangeCancelled(t *testing.T) {
	e := newMachine(rand.New(rand.NewPCG(7, 9)), 30, 5, false)
	require.NoError(t, e.centre.Set(make([]float64, 5)))
	require.NoError(t, e.alpha.Set([]float64{1}))
	require.NoError(t, e.bound.Set([]float64{0.1}))
	s := solver(t, e.m, convex.SolverOptions{WorkingSets: true})
	solve(t, s)
	require.NoError(t, e.bound.Set([]float64{0.2}))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := s.Solve(ctx)
	require.NoError(t, err)
	require.Equal(t, backends.Cancelled, r.Status)
}

// Parameters may be factors of variables in inequalities and squares, and several terms may meet in one entry.
func TestExchangeFactors(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	e := newMachine(rng, 60, 40, false)
	factor, slope := e.m.Parameter("factor", 1), e.m.Parameter("slope", 40)
	w := e.w.Expr()
	e.m.Constrain(convex.LessEqual(convex.SumSquares(factor.Times(w)), convex.Const(.03)),
		convex.LessEqual(convex.Linear(slope.Dot(w).Plus(w.Sum()).Plus(slope.Times(w).At(3))), convex.Const(.05)))
	require.NoError(t, e.alpha.Set([]float64{3}))
	require.NoError(t, e.bound.Set([]float64{0.1}))
	require.NoError(t, e.centre.Set(random(rng, 40)))
	prog, err := e.m.Compile()
	require.NoError(t, err)
	sets, err := prog.Solver(convex.SolverOptions{Backend: native(t), WorkingSets: true})
	require.NoError(t, err)
	full, err := prog.Solver(convex.SolverOptions{Backend: native(t)})
	require.NoError(t, err)
	s := random(rng, 40)
	for k := range 6 {
		for j := range s {
			s[j] += 0.01 * rng.NormFloat64()
		}
		require.NoError(t, slope.Set(s))
		require.NoError(t, factor.Set([]float64{1 + 0.01*float64(k)}))
		a, b := solve(t, sets), solve(t, full)
		if k > 0 {
			require.Equal(t, convex.EngineExchange, a.Engine)
		}
		require.InDelta(t, b.Objective, a.Objective, 3e-8*max(1, b.Objective))
		inDelta(t, b.Value(e.w), a.Value(e.w), 1e-4)
		require.InDelta(t, b.Sensitivity(factor)[0], a.Sensitivity(factor)[0], 1e-4)
	}
}
