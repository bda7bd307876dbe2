//go:build !race

package convex_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// New values of parameters and solves at these allocate nothing, and the results are those of new solvers.
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

// So it is wherever a parameter stands: in rows of A of all kinds, in P, and where variables are left out.
func TestUpdatesAllocateNothing(t *testing.T) {
	const n = 40
	ones := slices.Repeat([]float64{1}, n)
	for name, build := range map[string]func(m *convex.Model, x convex.Expr) convex.Expr{
		"equation": func(m *convex.Model, x convex.Expr) convex.Expr {
			m.Eq("", convex.Dot(m.Parameter("p", ones), x), 1)
			return convex.Const(0)
		},
		"fixed": func(m *convex.Model, x convex.Expr) convex.Expr {
			m.Le("", convex.Scale(m.Parameter("p", ones), x), 0.4)
			m.Eq("", convex.At(x, 0), 0.1)
			return convex.Const(0)
		},
		"cones": func(m *convex.Model, x convex.Expr) convex.Expr {
			scaled := convex.Scale(m.Parameter("p", ones), x)
			m.Le("", convex.Norm2(scaled), 0.5)
			m.Le("", convex.Exp(scaled), 1.2)
			return convex.Const(0)
		},
		"weight": func(m *convex.Model, x convex.Expr) convex.Expr {
			m.Le("", convex.Abs(x), 0.5)
			return convex.Scale(m.Parameter("w", ones[:1]), convex.SumSquares(convex.Sub(x, 1)))
		},
		"fixed and weight": func(m *convex.Model, x convex.Expr) convex.Expr {
			m.Eq("", convex.At(x, 0), 0.1)
			return convex.Scale(m.Parameter("w", ones[:1]), convex.SumSquares(convex.Sub(x, 1)))
		},
	} {
		m := convex.NewModel()
		x := m.Vector("x", n)
		m.Minimize(convex.Add(convex.SumSquares(convex.Sub(x, g(1, n, 1))), build(m, x)))
		s := must.Of(must.Of(m.Compile())(t).Solver(convex.SolverOptions{Backend: native(t)}))(t)
		var r convex.Result
		values := m.Only().Values()
		next := func() {
			values[0] += 0.01
			err := errors.Join(s.Set(m.Only(), values), s.SolveInto(t.Context(), &r))
			if err != nil || r.Status != backends.Optimal {
				t.Fatal(name, err, r.Status, r.Message)
			}
		}
		for range 20 {
			next()
		}
		require.Zero(t, testing.AllocsPerRun(10, next), name)
		fresh := solve(t, must.Of(s.Program().Solver(convex.SolverOptions{Backend: native(t)}))(t))
		inDelta(t, fresh.Value(x), r.Value(x), 1e-5, name)
	}
}
