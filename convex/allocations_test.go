//go:build !race

package convex_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// New values of parameters and solves at these allocate nothing, wherever the parameters stand but in matrices, and the
// results are those of new solvers.
func TestSolveIntoAllocatesNothing(t *testing.T) {
	c := newPredictive(t, backends.Options{})
	for range 5 {
		c.next(t)
	}
	values := c.state.RawVector().Data
	require.Zero(t, testing.AllocsPerRun(10, func() {
		values[0] += 0.01
		if err := c.solver.Set(c.start, values); err != nil {
			t.Fatal(err)
		}
	}))
	require.Zero(t, testing.AllocsPerRun(10, func() {
		values[0] += 0.01
		if err := errors.Join(c.solver.Set(c.start, values), c.solver.SolveInto(t.Context(), &c.result)); err != nil {
			t.Fatal(err)
		}
	}))
	fresh := solve(t, must.Of(c.solver.Program().Solver(convex.SolverOptions{Backend: native(t)}))(t))
	require.InDelta(t, fresh.Objective, c.result.Objective, 1e-7*fresh.Objective)
	inDelta(t, fresh.Value(c.u), c.result.Value(c.u), 1e-4)
	inDelta(t, fresh.Sensitivity(c.start), c.result.Sensitivity(c.start), 1e-4)
}
