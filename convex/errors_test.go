package convex_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// Every misuse is reported by Compile with the names of what is involved.
func TestModellingErrors(t *testing.T) {
	m, other := convex.NewModel(), convex.NewModel()
	b, c := m.Variable("b", 3), m.Variable("c", 2)
	p, q, w := m.Parameter("p", 3), m.Parameter("q", 3), m.Parameter("w", 1)
	foreign := other.Variable("foreign", 3)
	foreignW := other.Parameter("foreign_w", 1)
	nan := mat.NewDense(1, 3, []float64{0, math.NaN(), 1})
	less := func(f convex.Convex, a convex.Affine) []*convex.Constraint {
		return []*convex.Constraint{convex.LessEqual(f, a)}
	}
	zero := convex.Const(0)
	for _, tc := range []struct {
		name      string
		objective convex.Convex
		cs        []*convex.Constraint
		message   string
	}{
		{"negative norm", convex.Norm1(b.Expr()).Scale(-1), nil, "objective: convex: -1 times a convex expression of " +
			"length 1 with Abs of an expression of length 3 in b is non-convex"},
		{"lengths of a sum", convex.Linear(b.Expr().Plus(c.Expr()).Sum()), nil,
			"sum of an expression of length 3 in b and an expression of length 2 in c: the lengths differ"},
		{"lengths of a convex sum", convex.Abs(b.Expr()).Plus(convex.Abs(c.Expr())).Sum(), nil, "the lengths differ"},
		{"matrix", convex.SumSquares(c.Expr().MulMat(mat.NewDense(4, 3, nil))), nil,
			"a matrix of 4 x 3 times an expression of length 2 in c"},
		{"matrix with NaN", convex.SumSquares(b.Expr().MulMat(nan)), nil, "entry at (0, 1) that is not finite"},
		{"not a scalar", convex.Abs(b.Expr()), nil, "the objective has length 3, expected a scalar"},
		{"product of parameters", convex.Linear(p.Dot(q.Expr())), nil,
			"product of parameter p and an expression of length 3 in q, which has a parameter already"},
		{"product of weights", convex.Linear(p.Dot(q.Times(b.Expr()))), nil,
			"product of parameter p and an expression of length 3 in b, q, which has a parameter already"},
		{"Dot length", convex.Linear(p.Dot(c.Expr())), nil,
			"Dot of parameter p of length 3 and an expression of length 2 in c"},
		{"Times length", convex.Linear(p.Times(c.Expr()).Sum()), nil, "the lengths differ"},
		{"foreign variable", convex.Linear(b.Expr().Plus(foreign.Expr()).Sum()), nil, "belong to different models"},
		{"foreign objective", convex.Norm1(foreign.Expr()), nil, "belongs to another model"},
		{"foreign constraint", convex.Norm1(b.Expr()), less(convex.Norm1(foreign.Expr()), zero), "constraint 0 on a convex " +
			"expression of length 1 with Abs of an expression of length 3 in foreign belongs to another model"},
		{"foreign side", convex.Norm1(b.Expr()), less(convex.Norm1(b.Expr()), foreign.Expr()),
			"constraint 0: convex: constraint of"},
		{"foreign weight", convex.Norm1(b.Expr()).Weight(foreignW), nil, "belong to different models"},
		{"weight in a constraint", convex.Norm1(b.Expr()), less(convex.Norm1(b.Expr()).Weight(w), zero),
			"the weight w: Weight is for objectives only"},
		{"weight in Max", convex.Max(convex.Norm1(b.Expr()).Weight(w)), nil, "Weight is for objectives only"},
		{"two weights", convex.Norm1(b.Expr()).Weight(w).Weight(w), nil, "product of parameters w and w"},
		{"vector weight", convex.Norm1(b.Expr()).Weight(p), nil, "parameter p has length 3, expected 1"},
		{"Max of nothing", convex.Max(convex.Linear(convex.Const())), nil, "Max of no entries"},
		{"entry", convex.Linear(b.Expr().At(3)), nil, "entries 3 to 3 of an expression of length 3 in b"},
		{"convex entry", convex.Abs(b.Expr()).At(-1), nil, "entry -1 of"},
		{"pick", convex.Linear(b.Expr().Pick([]int{0, 5}).Sum()), nil, "entry 5 of an expression of length 3 in b"},
		{"Dot numbers", convex.Linear(b.Expr().Dot([]float64{1})), nil,
			"Dot of 1 numbers and an expression of length 3 in b"},
		{"Dot NaN", convex.Linear(b.Expr().Dot([]float64{1, math.NaN(), 0})), nil, "number 1 is NaN"},
		{"Const", convex.Linear(convex.Const(0, math.Inf(1)).Sum()), nil, "Const: entry 1 is +Inf"},
		{"Scale", convex.Linear(b.Expr().Scale(math.NaN()).Sum()), nil, "by NaN, expected a finite number"},
		{"convex Scale", convex.Norm1(b.Expr()).Scale(math.NaN()), nil, "NaN"},
		{"groups", convex.GroupNorms(b.Expr(), [][]int{{0}, {3}}).Sum(), nil, "GroupNorms: entry 3 in group 1"},
		{"constraint lengths", convex.Norm1(b.Expr()), less(convex.Abs(b.Expr()), c.Expr()), "constraint 0: convex: " +
			"constraint a convex expression of length 3 with Abs of an expression of length 3 in b <= an expression of length " +
			"2 in c: the lengths differ"},
		{"equality lengths", convex.Norm1(b.Expr()), []*convex.Constraint{convex.Equal(b.Expr(), c.Expr())},
			"the lengths differ"},
		{"nil constraint", convex.Norm1(b.Expr()), []*convex.Constraint{nil}, "constraint 0 is nil"},
		{"overflow", convex.Linear(convex.Const(1e300).Scale(1e300)), nil, "constant 0 of a constant of length 1 is +Inf"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m.Minimize(tc.objective)
			m.Constrain(tc.cs...)
			defer m.Remove(tc.cs...)
			_, err := m.Compile()
			require.ErrorContains(t, err, tc.message)
		})
	}
}

func TestNegativeLengths(t *testing.T) {
	m := convex.NewModel()
	m.Minimize(convex.Norm1(m.Variable("b", -1).Expr()))
	_, err := m.Compile()
	require.ErrorContains(t, err, "variable b has length -1")
	m.Minimize(convex.Linear(m.Parameter("p", -1).Expr().Sum()))
	_, err = m.Compile()
	require.ErrorContains(t, err, "parameter p has length -1")
}

func TestParameterErrors(t *testing.T) {
	m := convex.NewModel()
	p := m.Parameter("p", 2)
	require.NoError(t, p.Set([]float64{1, 2}))
	require.EqualError(t, p.Set([]float64{1}), "convex: parameter p has length 2, got 1 values")
	require.EqualError(t, p.Set([]float64{1, math.NaN()}), "convex: parameter p: value 1 is NaN, expected a finite number")
	require.Equal(t, []float64{1, 2}, p.Values())
}

func TestWeightErrors(t *testing.T) {
	m := convex.NewModel()
	b, w, each := m.Variable("b", 2), m.Parameter("w", 1), m.Parameter("each", 2)
	m.Minimize(convex.SumSquares(b.Expr()).Weight(w).Plus(convex.Abs(b.Expr()).WeightedSum(each)))
	s := solver(t, m, convex.SolverOptions{})
	for _, c := range []struct {
		p       *convex.Parameter
		values  []float64
		message string
	}{
		{w, nil, "convex: parameter w weighs an atom and has not been set"},
		{w, []float64{-1}, "convex: parameter w weighs an atom and is negative: -1"},
		{w, []float64{0}, "convex: parameter each weighs an atom and has not been set"},
		{each, []float64{1, -0.1}, "convex: parameter each weighs an atom and is negative: -0.1"},
	} {
		if c.values != nil {
			require.NoError(t, c.p.Set(c.values))
		}
		_, err := s.Solve(context.Background())
		require.EqualError(t, err, c.message)
		_, err = s.Program().Problem()
		require.EqualError(t, err, c.message)
	}
	require.NoError(t, each.Set([]float64{1, 0.1}))
	solve(t, s)
}

func TestSolverErrors(t *testing.T) {
	m := convex.NewModel()
	b := m.Variable("b", 2)
	m.Minimize(convex.Norm1(b.Expr()))
	p := must.Of(m.Compile())(t)
	_, err := p.Solver(convex.SolverOptions{})
	require.ErrorContains(t, err, "SolverOptions.Backend is nil")
	_, err = p.Solver(convex.SolverOptions{Backend: native(t), Options: backends.Options{Eps: -1}})
	require.ErrorContains(t, err, "Eps")

	s := solver(t, m, convex.SolverOptions{})
	r := solve(t, s)
	stranger := m.Variable("later", 1)
	require.Panics(t, func() { r.Value(stranger) })
	require.Panics(t, func() { r.Dual(convex.Equal(b.Expr(), convex.Const(0))) })
	require.Panics(t, func() { r.Sensitivity(m.Parameter("later", 1)) })
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err = s.Solve(context.Background())
	require.ErrorIs(t, err, backends.ErrClosed)
}

// Infeasible and unbounded models come back as such, with and without working sets.
func TestInfeasibleAndUnbounded(t *testing.T) {
	for _, sets := range []bool{false, true} {
		m := convex.NewModel()
		b := m.Variable("b", 200)
		m.Minimize(convex.SumSquares(b.Expr()))
		c := convex.LessEqual(convex.Norm1(b.Expr()), convex.Const(-1))
		m.Constrain(c)
		r := must.Of(solver(t, m, convex.SolverOptions{WorkingSets: sets}).Solve(context.Background()))(t)
		require.Equal(t, backends.PrimalInfeasible, r.Status)
		require.Nil(t, r.Value(b))
		require.Nil(t, r.Point())
		require.Nil(t, r.DualResidual(b))
		require.InDelta(t, 1, r.Dual(c)[0], 1e-6) // |b|_1 >= 0 against <= -1

		m = convex.NewModel()
		b = m.Variable("b", 200)
		c = convex.LessEqual(convex.Norm1(b.Expr().Slice(1, 200)), convex.Const(1))
		m.Constrain(c)
		m.Minimize(convex.Linear(b.Expr().At(0)).Plus(convex.Norm1(b.Expr()).Scale(0.5)))
		r = must.Of(solver(t, m, convex.SolverOptions{WorkingSets: sets}).Solve(context.Background()))(t)
		require.Equal(t, backends.DualInfeasible, r.Status)
		require.Negative(t, r.Value(b)[0])
		require.Nil(t, r.Dual(c))
	}
}

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

func TestHuberErrors(t *testing.T) {
	m := convex.NewModel()
	x := m.Variable("x", 2)
	for _, delta := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		m.Minimize(convex.Huber(x.Expr(), delta).Sum())
		_, err := m.Compile()
		require.ErrorContains(t, err, "expected a positive number")
	}
	m.Minimize(convex.Huber(x.Expr(), 1).Scale(-1).Sum())
	_, err := m.Compile()
	require.ErrorContains(t, err, "non-convex")
}

func TestWeightedSumErrors(t *testing.T) {
	m, other := convex.NewModel(), convex.NewModel()
	x := m.Variable("x", 3)
	w, short, foreign := m.Parameter("w", 3), m.Parameter("short", 2), other.Parameter("foreign", 3)
	one := m.Parameter("one", 1)
	for want, f := range map[string]convex.Convex{
		"parameter short has length 2":    convex.Abs(x.Expr()).WeightedSum(short),
		"different models":                convex.Abs(x.Expr()).WeightedSum(foreign),
		"one value":                       convex.Norm1(x.Expr()).WeightedSum(one),
		"SumSquares":                      convex.SumSquares(x.Expr()).WeightedSum(one),
		"product of parameters one and w": convex.Abs(x.Expr()).WeightedSum(w).Weight(one),
	} {
		require.ErrorContains(t, f.Err(), want)
	}
}

func TestBadDot(t *testing.T) {
	m := convex.NewModel()
	x := m.Variable("x", 2)
	require.ErrorContains(t, convex.Abs(x.Expr()).Dot([]float64{1, -1}).Err(), "non-convex")
	require.ErrorContains(t, convex.Abs(x.Expr()).Dot([]float64{1}).Err(), "Dot of 1 numbers")
	require.ErrorContains(t, convex.Huber(x.Expr(), -1).Dot([]float64{1, 2}).Err(), "threshold")
	require.NoError(t, convex.Linear(x.Expr()).Dot([]float64{1, -1}).Err())
}
