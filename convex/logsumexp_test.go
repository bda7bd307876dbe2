package convex_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/convex"
)

// softmax is the derivative of the logarithm of the sum of exponentials.
func softmax(v []float64) []float64 {
	out, total := make([]float64, len(v)), floats.LogSumExp(v)
	for i, x := range v {
		out[i] = math.Exp(x - total)
	}
	return out
}

// Values of exponentials, without overflow.
func TestExponentialValues(t *testing.T) {
	m := convex.NewModel()
	x := m.Variable("x", 4)
	point := convex.Point{x: {0, 2, -800, 800}}
	logistic := []float64{math.Log(2), math.Log(1 + math.Exp(2)), 0, 800}
	require.InDeltaSlice(t, logistic, convex.Logistic(x.Expr()).Eval(point), 1e-12)
	require.InDeltaSlice(t, []float64{1, math.E * math.E, 0}, convex.Exp(x.Expr()).Eval(point)[:3], 1e-12)
	got := convex.LogSumExp(x.Expr(), [][]int{{0, 1}, {2, 3}, {1}}).Eval(point)
	require.InDeltaSlice(t, []float64{math.Log(1 + math.Exp(2)), 800, 2}, got, 1e-12)
	for _, groups := range [][][]int{{{0, 4}}, {{-1}}, {{}}} {
		m := convex.NewModel()
		m.Minimize(convex.LogSumExp(m.Variable("x", 4).Expr(), groups).Sum())
		_, err := m.Compile()
		require.ErrorContains(t, err, "LogSumExp")
	}
}

// The proximal map of c f solves x + c f'(x) = a, group by group; below a bound, a - x is the multiplier times f'(x).
func TestLogSumExp(t *testing.T) {
	a, groups := []float64{3, -.5, -2, .1, 1.6}, [][]int{{0, 2, 4}, {1, 3}}
	for name, o := range exponential(t) {
		t.Run(name, func(t *testing.T) {
			m := convex.NewModel()
			x := m.Variable("x", len(a))
			f := convex.LogSumExp(x.Expr(), groups)
			sum := distance(x.Expr(), a).Plus(f.Sum().Scale(.7))
			m.Minimize(sum)
			r := solve(t, solver(t, m, o))
			require.InDelta(t, sum.Eval(r.Point())[0], r.Objective, 1e-6)
			for _, group := range groups {
				part := make([]float64, len(group))
				for k, i := range group {
					part[k] = r.Value(x)[i]
				}
				for k, d := range softmax(part) {
					require.InDelta(t, a[group[k]], part[k]+.7*d, 1e-4)
				}
			}

			m = convex.NewModel()
			x = m.Variable("x", len(a))
			c := convex.LessEqual(convex.LogSumExp(x.Expr(), groups).Scale(2), convex.Const(3, 40))
			m.Constrain(c)
			m.Minimize(distance(x.Expr(), a))
			r = solve(t, solver(t, m, o))
			v := r.Value(x)
			part := []float64{v[0], v[2], v[4]}
			require.InDelta(t, 1.5, floats.LogSumExp(part), 1e-5)
			for k, d := range softmax(part) {
				require.InDelta(t, a[groups[0][k]]-part[k], 2*r.Dual(c)[0]*d, 1e-4)
			}
			require.InDelta(t, 0, r.Dual(c)[1], 1e-5)
			require.InDelta(t, a[1], v[1], 1e-5)
		})
	}
}

// Groups that begin with others have the same values, multipliers and minima as groups whose entries come in another
// order, which begin with none.
func TestLogSumExpNested(t *testing.T) {
	nested := [][]int{{0, 1}, {0, 1, 2}, {0, 1, 2, 3, 4}, {0, 1, 2, 3}, {0, 1, 2, 3, 4, 5}, {0}}
	apart := [][]int{{1, 0}, {2, 1, 0}, {4, 3, 2, 1, 0}, {3, 1, 2, 0}, {5, 4, 3, 2, 1, 0}, {0}}
	target := []float64{1, -2, 0.5, 3, 0, -1}
	for name, o := range exponential(t) {
		t.Run(name, func(t *testing.T) {
			minimum := func(groups [][]int) ([]float64, []float64, float64) {
				m := convex.NewModel()
				x := m.Variable("x", 6)
				f := convex.LogSumExp(x.Expr(), groups)
				limit := convex.LessEqual(f.Scale(2), convex.Const(3, 3, 4, 4, 5, 0))
				m.Minimize(f.Sum().Plus(convex.SumSquares(x.Expr().Minus(convex.Const(target...)))))
				m.Constrain(limit)
				r := solve(t, solver(t, m, o))
				return r.Value(x), r.Dual(limit), r.Objective
			}
			x, y, value := minimum(nested)
			x2, y2, value2 := minimum(apart)
			require.InDelta(t, value2, value, 1e-6)
			require.InDeltaSlice(t, x2, x, 1e-4)
			require.InDeltaSlice(t, y2, y, 1e-4)
		})
	}
}
