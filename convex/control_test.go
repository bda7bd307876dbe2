package convex_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

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
