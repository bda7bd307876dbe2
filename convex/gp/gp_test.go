package gp_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/convex/gp"
	"github.com/conetune/conetune/internal/must"
)

// solve expects an optimal point.
func solve(t *testing.T, m *gp.Model) *gp.Result {
	t.Helper()
	r := must.Of(m.Solve(t.Context()))(t)
	require.Equal(t, backends.Optimal, r.Status)
	return r
}

// Closed forms.
func TestClosedForms(t *testing.T) {
	// x + 1/x has its least value at 1.
	m := gp.NewModel()
	x := m.Vector("x", 1)
	m.Minimize(gp.Add(x, gp.Div(1, x)))
	r := solve(t, m)
	require.InDelta(t, 2, r.Objective, 1e-7)
	require.InDelta(t, 1, r.Value(x)[0], 1e-3)

	// The arithmetic mean of a product of 8 is least where all are the same.
	m = gp.NewModel()
	y := m.Vector("y", 3)
	c := m.Ge("product", gp.Prod(y), 8)
	m.Minimize(gp.Scale(1.0/3, gp.Sum(y)))
	r = solve(t, m)
	require.InDelta(t, 2, r.Objective, 1e-6)
	require.InDeltaSlice(t, []float64{2, 2, 2}, r.Value(y), 1e-3)
	// d log(mean) / d log(product) = 1/3
	require.InDelta(t, 1.0/3, r.Convex.Dual(c)[0], 1e-5)

	// The largest of 2/x, x and x^2/4 is least where the first two are the same.
	m = gp.NewModel()
	x = m.Vector("x", 1)
	m.Minimize(gp.Maximum(gp.Div(2, x), x, gp.Scale(0.25, gp.Pow(x, 2))))
	r = solve(t, m)
	require.InDelta(t, math.Sqrt2, r.Objective, 1e-6)

	// Entry by entry, with numbers and slices: sum of x_i + a_i / x_i is 2 sum sqrt a_i; (x + 1)^2 with x >= 2 is 9.
	m = gp.NewModel()
	y = m.Vector("y", 3)
	m.Minimize(gp.Sum(gp.Add(y, gp.Div([]float64{1, 4, 9}, y))))
	require.InDelta(t, 12, solve(t, m).Objective, 1e-5)
	m = gp.NewModel()
	y = m.Vector("y", 2)
	m.Ge("bounds", y, []float64{2, 3})
	m.Eq("second", gp.At(y, 1), 4)
	m.Minimize(gp.Mul(gp.Pow(gp.Add(gp.At(y, 0), 1), 2), gp.At(y, 1), 1))
	require.InDelta(t, 36, solve(t, m).Objective, 1e-4)
}

// What is no geometric program, or has no solution.
func TestNotSolved(t *testing.T) {
	for _, build := range []func(m *gp.Model, x gp.Expr){
		func(m *gp.Model, x gp.Expr) { m.Maximize(gp.Sum(gp.Add(x, 1))) },
		func(m *gp.Model, x gp.Expr) { m.Minimize(gp.Mul(-1, gp.Prod(x))) },
		func(m *gp.Model, x gp.Expr) { m.Minimize(gp.Mul("a", gp.Prod(x))) },
		func(m *gp.Model, x gp.Expr) { m.Minimize(gp.Mul(gp.Expr{}, gp.Prod(x))) },
		func(m *gp.Model, x gp.Expr) { m.Minimize(gp.Sum(gp.Add(gp.At(x, 0), x, []float64{1, 2, 3}))) },
		func(m *gp.Model, x gp.Expr) { m.Minimize(gp.Sum(gp.Div(1, gp.Add(x, 1)))) },
		func(m *gp.Model, x gp.Expr) { m.Eq("both", gp.Add(x, 1), 2) },
		func(m *gp.Model, x gp.Expr) { m.Le("length", x, []float64{1, 2, 3}) },
	} {
		m := gp.NewModel()
		build(m, m.Vector("x", 2))
		_, err := m.Solve(t.Context())
		require.ErrorContains(t, err, "gp: in the logarithms")
	}
	m := gp.NewModel()
	x := m.Vector("x", 1)
	m.Minimize(x)
	r := must.Of(m.Solve(t.Context()))(t)
	require.Equal(t, backends.DualInfeasible, r.Status)
	require.Zero(t, r.Objective)
	m.Ge("low", x, 2)
	m.Le("high", x, 1)
	r = must.Of(m.Solve(t.Context()))(t)
	require.Equal(t, backends.PrimalInfeasible, r.Status)
	require.Equal(t, math.Inf(1), r.Objective)
}

// The box of largest volume of walls of 200 and a floor of 50 is nearly a cube.
func Example() {
	m := gp.NewModel()
	h, w, d := m.Vector("h", 1), m.Vector("w", 1), m.Vector("d", 1)
	m.Le("walls", gp.Scale(2, gp.Add(gp.Mul(h, w), gp.Mul(h, d))), 200)
	m.Le("floor", gp.Mul(w, d), 50)
	m.Ge("height", gp.Div(h, w), 0.8)
	m.Le("height", gp.Div(h, w), 1.2)
	m.Ge("depth", gp.Div(d, w), 0.8)
	m.Le("depth", gp.Div(d, w), 1.2)
	m.Maximize(gp.Mul(h, w, d))
	r, err := m.Solve(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Printf("%v %.2f\n", r.Status, r.Objective)
	// Output:
	// optimal 353.55
}

// The least surface of a box with the volume 8: functions of vectors, and the same in logarithms.
func ExampleProd() {
	m := gp.NewModel()
	sides := m.Vector("sides", 3)
	m.Eq("volume", gp.Prod(sides), 8)
	m.Ge("first", gp.At(sides, 0), gp.Pow(gp.At(sides, 1), 0.5))
	pairs := gp.Mul(gp.Prod(sides), gp.Pow(sides, -1)) // of the two others
	m.Minimize(gp.Maximum(gp.Sum(pairs), 1))
	r, err := m.Solve(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.3f with sides %.2f\n", r.Objective, r.Value(sides))

	log := sides.Log() // a variable of this program
	m.Convex().Minimize(convex.Sum(convex.Pos(log)))
	if r, err = m.Solve(context.Background()); err != nil {
		panic(err)
	}
	fmt.Printf("%.3f\n", r.Convex.Objective)
	// Output:
	// 12.000 with sides [2.00 2.00 2.00]
	// 2.079
}
