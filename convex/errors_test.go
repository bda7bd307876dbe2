package convex_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// Every misuse is reported by Compile with the names of what is involved.
func TestModellingErrors(t *testing.T) {
	m, other := convex.NewModel(), convex.NewModel()
	b, c := m.Vector("b", 3), m.Vector("c", 2)
	p, q, w := m.Parameter("p", make([]float64, 3)), m.Parameter("q", make([]float64, 3)), m.Parameter("w", []float64{0})
	foreign := other.Vector("foreign", 3)
	foreignW := other.Parameter("foreign_w", []float64{0})
	nan := mat.NewDense(1, 3, []float64{0, math.NaN(), 1})
	lone := sparse.NewCSC(2, 3, []int{0, 1, 1, 2}, []int{0, 1}, []float64{1, math.NaN()})
	diagonal := mat.NewDiagDense(3, []float64{0, math.NaN(), 1})
	for _, tc := range []struct {
		name      string
		objective convex.Expr
		constrain func(m *convex.Model)
		message   string
	}{
		{"negative norm", convex.Scale(-1, convex.Norm1(b)), nil, "convex: the objective, minus a convex expression of " +
			"length 1 with Abs of an expression of length 3 in b, is concave"},
		{"lengths of a sum", convex.Sum(convex.Add(b, c)), nil,
			"Add: an expression of length 3 in b is 3 x 1, and an expression of length 2 in c 2 x 1: the shapes differ"},
		{"lengths of a convex sum", convex.Sum(convex.Add(convex.Abs(b), convex.Abs(c))), nil, "the shapes differ"},
		{"matrix", convex.SumSquares(convex.Mul(mat.NewDense(4, 3, nil), c)), nil,
			"a matrix of 4 x 3 times an expression of length 2 in c"},
		{"matrix with NaN", convex.SumSquares(convex.Mul(nan, b)), nil, "entry at (0, 1) that is not finite"},
		{"sparse matrix with NaN", convex.At(convex.Mul(lone, b), 1), nil, "entry at (0, 2) that is not finite"},
		{"diagonal with NaN", convex.Sum(convex.Mul(diagonal, b)), nil, "entry at (0, 1) that is not finite"},
		{"not a scalar", convex.Abs(b), nil, "the objective has length 3, expected a scalar"},
		{"product of parameters", convex.Dot(p, q), nil, "product of parameters: an expression of length 3 in p"},
		{"product of weights", convex.Dot(p, convex.Scale(q, b)), nil,
			"product of parameters: an expression of length 3 in p times an expression of length 3 in b, q"},
		{"Dot length", convex.Dot(p, c), nil,
			"Dot of an expression of length 3 in p and an expression of length 2 in c: the lengths differ"},
		{"Times length", convex.Sum(convex.Scale(p, c)), nil, "the shapes differ"},
		{"foreign variable", convex.Sum(convex.Add(b, foreign)), nil, "belong to different models"},
		{"foreign objective", convex.Norm1(foreign), nil, "belongs to another model"},
		{"foreign constraint", convex.Norm1(b), func(m *convex.Model) { m.Le("", convex.Norm1(foreign), 0) },
			"constraint 0 on a convex " +
				"expression of length 1 with Abs of an expression of length 3 in foreign belongs to another model"},
		{"foreign side", convex.Norm1(b), func(m *convex.Model) { m.Le("", convex.Norm1(b), foreign) },
			"constraint 0: convex: Le of"},
		{"foreign weight", convex.Scale(foreignW, convex.Norm1(b)), nil, "belong to different models"},
		{"two weights", convex.Scale(w, convex.Scale(w, convex.Norm1(b))), nil, "product of parameters"},
		{"vector weight", convex.Scale(p, convex.Norm1(b)), nil, "for a sum of such products there is Dot"},
		{"Max of nothing", convex.Max([]float64{}), nil, "Max of no entries"},
		{"entry", convex.At(b, 3), nil, "entry 3 of an expression of length 3 in b"},
		{"convex entry", convex.At(convex.Abs(b), -1), nil, "entry -1 of"},
		{"pick", convex.Sum(convex.Pick(b, []int{0, 5})), nil, "entry 5 of an expression of length 3 in b"},
		{"Dot numbers", convex.Dot([]float64{1}, b), nil,
			"the lengths differ"},
		{"Dot NaN", convex.Dot([]float64{1, math.NaN(), 0}, b), nil, "entry 1 is NaN"},
		{"Const", convex.Sum([]float64{0, math.Inf(1)}), nil, "Sum: entry 1 is +Inf"},
		{"Scale", convex.Sum(convex.Scale(math.NaN(), b)), nil, "entry 0 is NaN"},
		{"convex Scale", convex.Scale(math.NaN(), convex.Norm1(b)), nil, "NaN"},
		{"groups", convex.Sum(convex.GroupNorms(b, [][]int{{0}, {3}})), nil, "GroupNorms: entry 3 in group 1"},
		{"constraint lengths", convex.Norm1(b), func(m *convex.Model) { m.Le("", convex.Abs(b), c) },
			"constraint 0: convex: Le: "},
		{"equality lengths", convex.Norm1(b), func(m *convex.Model) { m.Eq("", b, c) },
			"the shapes differ"},
		{"threshold", convex.Sum(convex.Huber(b, 0)), nil, "expected a positive number"},
		{"infinite threshold", convex.Sum(convex.Huber(b, math.Inf(1))), nil, "expected a positive number"},
		{"concave", convex.Sum(convex.Scale(-1, convex.Huber(b, 1))), nil, "is concave"},
		{"foreign weights", convex.Dot(other.Parameter("foreign", make([]float64, 3)), convex.Abs(b)), nil, "different models"},
		{"lengths of weights", convex.Dot(w, convex.Abs(b)), nil, "the lengths differ"},
		{"weights of a weighted sum", convex.Scale(w, convex.Dot(p, convex.Abs(b))), nil, "product of parameters"},
		{"both signs", convex.Dot([]float64{1, -1, 1}, convex.Abs(b)), nil, "others are not"},
		{"Dot of an error", convex.Dot([]float64{1, 2, 3}, convex.Huber(b, -1)), nil, "threshold"},
		{"overflow", convex.Scale(1e300, 1e300), nil, "constant 0 of a constant of length 1 is +Inf"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m.Minimize(tc.objective)
			if tc.constrain != nil {
				fresh := *m
				tc.constrain(&fresh)
				_, err := fresh.Compile()
				require.ErrorContains(t, err, tc.message)
				return
			}
			_, err := m.Compile()
			require.ErrorContains(t, err, tc.message)
		})
	}
}

func TestNegativeLengths(t *testing.T) {
	m := convex.NewModel()
	m.Minimize(convex.Norm1(m.Vector("b", -1)))
	_, err := m.Compile()
	require.ErrorContains(t, err, "variable b is -1 x 1")
}

func TestParameterErrors(t *testing.T) {
	m := convex.NewModel()
	p := m.Parameter("p", []float64{1, 2})
	m.Minimize(convex.Sum(p))
	s := solver(t, m, convex.SolverOptions{})
	require.EqualError(t, s.Set(p, []float64{1}), "convex: parameter p has length 2, got 1 values")
	const notFinite = "convex: parameter p: value 1 is NaN, expected a finite number"
	require.EqualError(t, s.Set(p, []float64{1, math.NaN()}), notFinite)
	require.EqualError(t, s.Set(nil, nil), "convex: a Parameter is nil or zero; Model.Parameter makes one")
	require.Equal(t, 3., solve(t, s).Objective)
	later := m.Parameter("p", []float64{1, math.NaN()})
	require.EqualError(t, s.Set(later, []float64{1, 2}), "convex: parameter p is not in the program solved")
	_, err := m.Compile()
	require.EqualError(t, err, notFinite)
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Set(p, []float64{1, 2}), backends.ErrClosed)
}

func TestWeightErrors(t *testing.T) {
	m := convex.NewModel()
	b, w, each := m.Vector("b", 2), m.Parameter("w", []float64{0}), m.Parameter("each", make([]float64, 2))
	m.Minimize(convex.Add(convex.Scale(w, convex.SumSquares(b)), convex.Dot(each, convex.Abs(b))))
	s := solver(t, m, convex.SolverOptions{})
	for _, c := range []struct {
		p       *convex.Parameter
		values  []float64
		message string
	}{
		{each, []float64{1, -0.1}, "convex: parameter each weighs an atom and is negative: -0.1"},
		{w, []float64{-1}, "convex: parameter w weighs an atom and is negative: -1"},
	} {
		require.NoError(t, s.Set(c.p, c.values))
		_, err := s.Solve(context.Background())
		require.EqualError(t, err, c.message)
		_, err = s.Program().Problem()
		require.EqualError(t, err, c.message)
	}
	require.NoError(t, s.Set(w, []float64{0}))
	require.NoError(t, s.Set(each, []float64{1, 0.1}))
	solve(t, s)
}

func TestSolverErrors(t *testing.T) {
	m := convex.NewModel()
	b := m.Vector("b", 2)
	m.Minimize(convex.Norm1(b))
	p := must.Of(m.Compile())(t)
	_, err := p.Solver(convex.SolverOptions{Backend: native(t), Options: backends.Options{Eps: -1}})
	require.ErrorContains(t, err, "Eps")

	s := solver(t, m, convex.SolverOptions{})
	r := solve(t, s)
	stranger := m.Vector("later", 1)
	require.Panics(t, func() { r.Value(stranger) })
	require.Panics(t, func() { r.Dual(m.Eq("", b, 0)) })
	require.Panics(t, func() { r.Sensitivity(m.Parameter("later", []float64{0})) })
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err = s.Solve(context.Background())
	require.ErrorIs(t, err, backends.ErrClosed)
}

// What the calls of the table answer, by name.
func TestMisuseNamed(t *testing.T) {
	m := convex.NewModel()
	x := m.Vector("x", 2)
	prog := must.Of(m.Compile())(t)
	s := must.Of(prog.Solver(convex.SolverOptions{Backend: native(t)}))(t)
	r := must.Of(s.Solve(t.Context()))(t)
	for want, f := range map[string]func(){
		"convex: Mul: the matrix is nil": func() { convex.Mul((*mat.Dense)(nil), x) },
		"convex: a Parameter is nil or zero; Model.Parameter makes one": func() {
			convex.Scale(new(convex.Parameter),
				convex.Norm1(x))
		},
		"convex: a Variable is nil or zero; Model.Vector makes one": func() { convex.Sum(new(convex.Variable)) },
		"convex: a Result is nil or zero; Solver.Solve makes one":   func() { new(convex.Result).Value(x) },
		"convex: Dual of a constraint that is nil":                  func() { r.Dual(nil) },
		"convex: variable y is not in the program solved":           func() { r.Value(m.Vector("y", 1)) },
		"convex: Eval: 1 values for variable x of length 2":         func() { x.Eval(convex.Point{x: {1}}) },
		"convex: a Program is nil or zero; Model.Compile makes one": func() { new(convex.Program).LowRank() },
		"convex: a Solver is zero; Program.Solver makes one":        func() { new(convex.Solver).Stats() },
	} {
		require.PanicsWithValue(t, want, f)
	}
	var none context.Context
	_, err := s.Solve(none)
	require.EqualError(t, err, "convex: Solve: the context is nil")
	_, err = new(convex.Program).Solver(convex.SolverOptions{})
	require.EqualError(t, err, "convex: a Program is nil or zero; Model.Compile makes one")
	require.NoError(t, s.Close())
	_, err = s.Solve(t.Context())
	require.ErrorIs(t, err, backends.ErrClosed)
	_, err = new(convex.Solver).Solve(t.Context())
	require.ErrorIs(t, err, backends.ErrClosed)
}

// Infeasible and unbounded models come back as such, with and without working sets.
func TestInfeasibleAndUnbounded(t *testing.T) {
	for _, sets := range []bool{false, true} {
		m := convex.NewModel()
		b := m.Vector("b", 200)
		m.Minimize(convex.SumSquares(b))
		c := m.Le("", convex.Norm1(b), -1)

		r := must.Of(solver(t, m, convex.SolverOptions{WorkingSets: sets}).Solve(context.Background()))(t)
		require.Equal(t, backends.PrimalInfeasible, r.Status)
		require.Nil(t, r.Value(b))
		require.Nil(t, r.Point())
		require.Nil(t, r.DualResidual(b))
		require.InDelta(t, 1, r.Dual(c)[0], 1e-6) // |b|_1 >= 0 against <= -1

		m = convex.NewModel()
		b = m.Vector("b", 200)
		c = m.Le("", convex.Norm1(convex.Slice(b, 1, 200)), 1)

		m.Minimize(convex.Add(convex.At(b, 0), convex.Scale(0.5, convex.Norm1(b))))
		r = must.Of(solver(t, m, convex.SolverOptions{WorkingSets: sets}).Solve(context.Background()))(t)
		require.Equal(t, backends.DualInfeasible, r.Status)
		require.Negative(t, r.Value(b)[0])
		require.Nil(t, r.Dual(c))
	}
}

// predictive is model predictive control of 20 states by 10 inputs over 10 steps,
//
//	minimize sum_t |x_t|^2 + 0.1 |u_t|^2  subject to  x_(t+1) = A x_t + B u_t,  |u_t| <= 0.1,  |x_t| <= 3
//
// from a state that is a parameter.
type predictive struct {
	a, b   *mat.Dense
	start  *convex.Parameter
	x, u   *convex.Variable
	solver *convex.Solver
	result convex.Result
	state  *mat.VecDense
	step   int
}

const controlStates, controlInputs, controlSteps = 20, 10, 10

func newPredictive(t testing.TB, o backends.Options) *predictive {
	const n, k, steps = controlStates, controlInputs, controlSteps
	c := &predictive{a: g(1, n, n), b: g(2, n, k), state: mat.NewVecDense(n, nil)}
	for i := range n {
		c.a.Set(i, i, c.a.At(i, i)+5)
	}
	c.a.Scale(1./8, c.a)
	c.b.Scale(1./4, c.b)
	m := convex.NewModel()
	c.start = m.Parameter("start", make([]float64, n))
	c.x, c.u = m.Matrix("x", n, steps+1), m.Matrix("u", k, steps, convex.Bounds(-0.1, 0.1))
	m.Eq("", convex.Cols(c.x, 1, steps+1), convex.Add(convex.Mul(c.a, convex.Cols(c.x, 0, steps)), convex.Mul(c.b, c.u)))
	m.Eq("", convex.Cols(c.x, 0, 1), c.start)
	m.Le("", convex.Abs(convex.Cols(c.x, 1, steps+1)), 3)
	m.Minimize(convex.Add(convex.SumSquares(c.x), convex.Scale(0.1, convex.SumSquares(c.u))))
	c.solver = must.Of(must.Of(m.Compile())(t).Solver(convex.SolverOptions{Backend: native(t), Options: o}))(t)
	t.Cleanup(func() { require.NoError(t, c.solver.Close()) })
	return c
}

// next solves from the state, and moves that by the first input and a disturbance.
func (c *predictive) next(t testing.TB) (cost float64, iterations int) {
	require.NoError(t, c.solver.Set(c.start, c.state.RawVector().Data))
	r := &c.result
	require.NoError(t, c.solver.SolveInto(t.Context(), r))
	require.Equal(t, backends.Optimal, r.Status)
	u, input := r.Value(c.u), mat.NewVecDense(controlInputs, nil)
	for i := range controlInputs {
		input.SetVec(i, u[i*controlSteps])
	}
	cost = mat.Dot(c.state, c.state) + 0.1*mat.Dot(input, input)
	var next, moved mat.VecDense
	next.MulVec(c.a, c.state)
	moved.MulVec(c.b, input)
	next.AddVec(&next, &moved)
	c.state.AddScaledVec(&next, 0.2, g(3+c.step, controlStates, 1).ColView(0))
	c.step++
	return cost, r.Iterations
}

func BenchmarkPredictiveControl(b *testing.B) {
	for name, eps := range map[string]float64{"1e-4": 1e-4, "1e-8": 1e-8} {
		b.Run(name, func(b *testing.B) {
			c := newPredictive(b, backends.Options{Eps: eps})
			b.ReportAllocs()
			cost, iterations := 0.0, 0
			for b.Loop() {
				v, i := c.next(b)
				cost, iterations = cost+v, iterations+i
			}
			b.ReportMetric(cost/float64(c.step), "cost")
			b.ReportMetric(float64(iterations)/float64(c.step), "iterations/op")
		})
	}
}

// threes is x times a sparse matrix with three entries in a row, one of them far from the others.
func threes(x convex.Expr) convex.Expr {
	n := x.Len()
	start, index := []int{0}, []int(nil)
	for i := range n {
		start, index = append(start, 3*i+3), append(index, i, (i+1)%n, (7919*i+n/2)%n)
	}
	return convex.Mul(sparse.NewCSR(n, n, start, index, slices.Repeat([]float64{1, 2, 3}, n)), x)
}

// growing are models of vectors of length n.
var growing = map[string]func(m *convex.Model, x, y *convex.Variable, n int){
	"beside": func(m *convex.Model, x, y *convex.Variable, _ int) { m.Le("", convex.Beside(x, y), 1) },
	"cones":  func(m *convex.Model, x, _ *convex.Variable, _ int) { m.Ge("", convex.Log(threes(x)), 0) },
	"affine sum": func(m *convex.Model, x, _ *convex.Variable, n int) {
		f := convex.At(x, 0)
		for i := range n {
			f = convex.Add(f, convex.Scale(i+1, convex.At(x, i)))
		}
		m.Minimize(f)
	},
	"sum from the right": func(m *convex.Model, x, _ *convex.Variable, n int) {
		f := convex.At(x, 0)
		for i := range n {
			f = convex.Sub(convex.At(x, i), convex.Scale(f, 0.9))
		}
		m.Minimize(f)
	},
	"entries of a stack": func(m *convex.Model, x, _ *convex.Variable, n int) {
		var each []convex.Operand
		for i := range n {
			each = append(each, convex.Add(convex.At(x, i), i))
		}
		all := convex.Stack(each...)
		for i := range n {
			m.Le("", convex.At(all, i), 1)
		}
	},
	"convex sum": func(m *convex.Model, x, _ *convex.Variable, n int) {
		f := convex.At(x, 0)
		for i := range n {
			f = convex.Add(f, convex.Power(convex.At(x, i), 2))
		}
		m.Minimize(f)
	},
}

// The time and memory to build, compile and assemble a model of n scalars grow as n does.
func BenchmarkGrowth(b *testing.B) {
	for name, build := range growing {
		for _, n := range []int{10_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					m := convex.NewModel()
					build(m, m.Vector("x", n), m.Vector("y", n), n)
					must.Of(must.Of(m.Compile())(b).Problem())(b)
				}
			})
		}
	}
}
