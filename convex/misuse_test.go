package convex_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// What the calls of the table answer, by name.
func TestMisuseNamed(t *testing.T) {
	m := convex.NewModel()
	x := m.Variable("x", 2)
	prog := must.Of(m.Compile())(t)
	s := must.Of(prog.Solver(convex.SolverOptions{Backend: native(t)}))(t)
	r := must.Of(s.Solve(t.Context()))(t)
	for want, f := range map[string]func(){
		"convex: MulMat: the matrix is nil":                             func() { x.Expr().MulMat((*mat.Dense)(nil)) },
		"convex: a Parameter is nil or zero; Model.Parameter makes one": func() { convex.Norm1(x.Expr()).Weight(nil) },
		"convex: a Variable is nil or zero; Model.Variable makes one":   func() { new(convex.Variable).Expr() },
		"convex: a Result is nil or zero; Solver.Solve makes one":       func() { new(convex.Result).Value(x) },
		"convex: Dual of a constraint that is nil":                      func() { r.Dual(nil) },
		"convex: variable y is not in the program solved":               func() { r.Value(m.Variable("y", 1)) },
		"convex: Eval: 1 values for variable x of length 2":             func() { x.Expr().Eval(convex.Point{x: {1}}) },
		"convex: a Program is nil or zero; Model.Compile makes one":     func() { new(convex.Program).LowRank() },
		"convex: a Solver is zero; Program.Solver makes one":            func() { new(convex.Solver).Stats() },
	} {
		require.PanicsWithValue(t, want, f)
	}
	var none context.Context
	_, err := s.Solve(none)
	require.EqualError(t, err, "convex: Solve: the context is nil")
	require.EqualError(t, new(convex.Parameter).Set(nil), "convex: a Parameter is nil or zero; Model.Parameter makes one")
	_, err = new(convex.Program).Solver(convex.SolverOptions{})
	require.EqualError(t, err, "convex: a Program is nil or zero; Model.Compile makes one")
	require.NoError(t, s.Close())
	_, err = s.Solve(t.Context())
	require.ErrorIs(t, err, backends.ErrClosed)
	_, err = new(convex.Solver).Solve(t.Context())
	require.ErrorIs(t, err, backends.ErrClosed)
}
