package convex_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/convex"
)

// min 1/2 |x - y|^2 + sum_i c_i |x_i| has a soft threshold for each entry; entries with the same weight share a term,
// and those of weight 0 are free.
func TestDotClosedForm(t *testing.T) {
	y, c := []float64{3, -2, 1, 4, 0.5, 2}, []float64{0.5, 1, 0.5, 2, 1, 0}
	m := convex.NewModel()
	x := m.Variable("x", len(y))
	f := convex.Abs(x.Expr()).PlusAffine(convex.Const(1, 1, 1, 1, 1, 1)).Dot(c)
	m.Minimize(distance(x.Expr(), y).Plus(f))
	r := solve(t, solver(t, m, precise))
	want, sum := make([]float64, len(y)), 0.0
	for i, v := range y {
		want[i] = math.Copysign(math.Max(0, math.Abs(v)-c[i]), v)
		sum += c[i] * (math.Abs(want[i]) + 1)
	}
	inDelta(t, want, r.Value(x), 1e-6)
	require.InDelta(t, sum, f.Eval(r.Point())[0], 1e-5)
}

// Atoms that a sum of weighed parts must equal.
func TestDotOfAtoms(t *testing.T) {
	c := []float64{2, 0.5, 2, 1}
	for name, of := range map[string]func(a convex.Affine) convex.Convex{
		"Huber":    func(a convex.Affine) convex.Convex { return convex.Huber(a, 0.4) },
		"Logistic": convex.Logistic,
		"Exp":      convex.Exp,
		"LogSumExp": func(a convex.Affine) convex.Convex {
			return convex.LogSumExp(a, [][]int{{0, 1}, {1, 2}, {3}, {0, 3}})
		},
	} {
		m := convex.NewModel()
		x := m.Variable("x", 4)
		f := of(x.Expr())
		parts := f.At(0).Scale(c[0])
		for i := 1; i < len(c); i++ {
			parts = parts.Plus(f.At(i).Scale(c[i]))
		}
		m.Minimize(distance(x.Expr(), []float64{1, -2, 0.3, 2}).Plus(f.Dot(c)))
		got := solve(t, solver(t, m, precise))
		require.InDelta(t, parts.Eval(got.Point())[0], f.Dot(c).Eval(got.Point())[0], 1e-12, name)
		m.Minimize(distance(x.Expr(), []float64{1, -2, 0.3, 2}).Plus(parts))
		want := solve(t, solver(t, m, precise))
		require.InDelta(t, want.Objective, got.Objective, 1e-7, name)
		inDelta(t, want.Value(x), got.Value(x), 1e-4)
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
