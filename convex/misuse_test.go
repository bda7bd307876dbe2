package convex_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/misuse"
)

// functions are those of the package that are no methods. TestMisuse fails where one is missing.
var functions = map[string]any{
	"Abs": convex.Abs, "Const": convex.Const, "Equal": convex.Equal, "Exp": convex.Exp, "GreaterEqual": convex.GreaterEqual,
	"GroupNorms": convex.GroupNorms, "Huber": convex.Huber, "LessEqual": convex.LessEqual, "Linear": convex.Linear, "LogSumExp": convex.LogSumExp,
	"Logistic": convex.Logistic, "Max": convex.Max, "NewModel": convex.NewModel, "Norm1": convex.Norm1, "Norm2": convex.Norm2,
	"NormInf": convex.NormInf, "NuclearNorm": convex.NuclearNorm, "Pos": convex.Pos, "Stack": convex.Stack, "SumSquares": convex.SumSquares,
}

// Every function and method of the package, with arguments that are zero or nil, on values of a model and on zero
// ones, and with values of another model or length: it returns, and where it panics the message is the package's own.
func TestMisuse(t *testing.T) {
	m := convex.NewModel()
	x, p := m.Variable("x", 3), m.Parameter("p", 3)
	c := convex.LessEqual(convex.Linear(x.Expr()), p.Expr())
	m.Minimize(convex.SumSquares(x.Expr()))
	m.Constrain(c)
	prog, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	be, err := backends.Open("native")
	if err != nil {
		t.Fatal(err)
	}
	s, err := prog.Solver(convex.SolverOptions{Backend: be})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Solve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := convex.NewModel()
	y, q := other.Variable("y", 2), other.Parameter("q", 2)
	receivers := []any{
		x.Expr(), convex.Affine{}, convex.SumSquares(x.Expr()), convex.Convex{}, m, new(convex.Model), x, new(convex.Variable), (*convex.Variable)(nil),
		p, new(convex.Parameter), (*convex.Parameter)(nil), c, new(convex.Constraint), (*convex.Constraint)(nil), prog, new(convex.Program), r, new(convex.Result),
		s, new(convex.Solver),
	}
	// Arguments of a type: the zero value, and those here.
	wrong := []any{
		y, q, y.Expr(), q.Expr(), convex.Norm1(y.Expr()), convex.LessEqual(convex.Linear(y.Expr()), q.Expr()), new(convex.Variable), new(convex.Parameter),
		new(convex.Constraint), -1, 7, []float64{1}, []int{-1, 9}, [][]int{{5}}, convex.Point{y: {1}}, convex.Point{x: {1}}, convex.Point{nil: {1}},
	}
	misuse.Try(t, "convex: ", functions, receivers, wrong)
}

// What the calls of the table answer, by name.
func TestMisuseNamed(t *testing.T) {
	m := convex.NewModel()
	x := m.Variable("x", 2)
	prog, err := m.Compile()
	require.NoError(t, err)
	s, err := prog.Solver(convex.SolverOptions{Backend: native(t)})
	require.NoError(t, err)
	r, err := s.Solve(t.Context())
	require.NoError(t, err)
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
	_, err = s.Solve(none)
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
