package convex_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// min 1/2 |x - y|^2 + sum_i w_i |x_i| + sum_g v_g |x_g| has soft thresholds entry by entry, then group by group.
func TestWeightedSumClosedForm(t *testing.T) {
	y := []float64{3, -2, 1, 4, 0.5}
	groups := [][]int{{0, 1}, {2, 3, 4}}
	m := convex.NewModel()
	x := m.Variable("x", 5)
	w, v := m.Parameter("w", 5), m.Parameter("v", 2)
	objective := convex.SumSquares(x.Expr().Minus(convex.Const(y...))).Scale(0.5).
		Plus(convex.Abs(x.Expr()).WeightedSum(w)).
		Plus(convex.GroupNorms(x.Expr(), groups).PlusAffine(convex.Const(1, 2)).WeightedSum(v).Scale(2))
	m.Minimize(objective)
	s := solver(t, m, convex.SolverOptions{Options: backends.Options{Eps: 1e-10}})
	_, err := s.Solve(context.Background())
	require.ErrorContains(t, err, "has not been set")
	value := func(weights, groupWeights []float64) float64 {
		f := 0.0
		for g, group := range groups {
			soft := make([]float64, len(group))
			norm := 0.0
			for k, i := range group {
				soft[k] = math.Copysign(math.Max(0, math.Abs(y[i])-weights[i]), y[i])
				norm += soft[k] * soft[k]
			}
			norm = math.Sqrt(norm)
			shrink := math.Max(0, 1-2*groupWeights[g]/norm)
			for k, i := range group {
				z := shrink * soft[k]
				f += 0.5*(z-y[i])*(z-y[i]) + weights[i]*math.Abs(z)
			}
			f += 2 * groupWeights[g] * (shrink*norm + float64(g+1))
		}
		return f
	}
	for _, set := range []struct{ w, v []float64 }{
		{[]float64{0.5, 1, 0.2, 2, 1}, []float64{0.3, 0.1}},
		{[]float64{1, 0.05, 3, 0.1, 0.2}, []float64{0.02, 0.7}},
	} {
		require.NoError(t, w.Set(set.w))
		require.NoError(t, v.Set(set.v))
		r := solve(t, s)
		require.InDelta(t, value(set.w, set.v), r.Objective, 1e-7)
		require.InDelta(t, r.Objective, objective.Eval(r.Point())[0], 1e-7)
		// The derivative of the value in a weight, by finite differences of the closed form.
		const h = 1e-5
		for i, got := range r.Sensitivity(w) {
			up, down := append([]float64(nil), set.w...), append([]float64(nil), set.w...)
			up[i] += h
			down[i] -= h
			require.InDelta(t, (value(up, set.v)-value(down, set.v))/(2*h), got, 1e-4)
		}
	}
	require.NoError(t, v.Set([]float64{1, -0.1}))
	_, err = s.Solve(context.Background())
	require.ErrorContains(t, err, "negative: -0.1")
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
