package convex_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// names are those of the constraints of a conflict.
func names(conflict []convex.Conflict) (out []string) {
	for _, c := range conflict {
		out = append(out, c.Constraint.Name())
	}
	return out
}

// Of many constraints those are left that contradict each other, and none can be missed.
func TestExplain(t *testing.T) {
	ctx := context.Background()
	m := convex.NewModel()
	x, y := m.Vector("x", 3, convex.Nonneg()), m.Vector("y", 2)
	m.Le("free", y, 5)
	m.Le("sum", convex.Sum(x), 1)
	m.Ge("third", convex.At(x, 2), 2)
	m.Ge("large", convex.Sum(x), -1)
	m.Le("disc", convex.Norm2(y), 1)
	require.Equal(t, []string{"x", "sum", "third"}, names(must.Of(m.Explain(ctx))(t)))

	// The weighted sum is a contradiction: nothing in x is left of it, and 1 of sum x <= 1 is below 2 of x_2 >= 2.
	conflict := must.Of(m.Explain(ctx))(t)
	nonneg, sum, third := conflict[0].Weights, conflict[1].Weights[0], conflict[2].Weights[0]
	inDelta(t, []float64{sum, sum, sum}, []float64{nonneg[0], nonneg[1], nonneg[2] + third}, 1e-6*sum)
	require.Less(t, sum, 2*third)

	// Cones: a disc of radius 1 does not meet y_0 + y_1 >= 2, whose distance from 0 is sqrt 2.
	m = convex.NewModel()
	y = m.Vector("y", 2)
	m.Le("disc", convex.Norm2(y), 1)
	m.Ge("half plane", convex.Sum(y), 2)
	m.Le("box", y, 3)
	require.Equal(t, []string{"disc", "half plane"}, names(must.Of(m.Explain(ctx))(t)))

	// A model that can be met has none, and one that is infeasible by itself one.
	m = convex.NewModel()
	x = m.Vector("x", 2, convex.Nonneg())
	m.Le("sum", convex.Sum(x), 1)
	require.Nil(t, must.Of(m.Explain(ctx))(t))
	m.Eq("both", convex.Stack(convex.Sum(x), convex.Sum(x)), []float64{0.5, 0.6})
	conflict = must.Of(m.Explain(ctx))(t)
	require.Equal(t, []string{"both"}, names(conflict))
	require.InDelta(t, 0, floats.Sum(conflict[0].Weights), 1e-6*floats.Norm(conflict[0].Weights, 2))

	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err := m.Explain(ended)
	require.ErrorIs(t, err, context.Canceled)
	m.Le("concave", convex.Log(x), 0)
	_, err = m.Explain(ctx)
	require.ErrorContains(t, err, "concave")
}

func ExampleModel_Explain() {
	m := convex.NewModel()
	hours := m.Vector("hours", 3, convex.Nonneg())
	m.Le("shift", hours, 8)
	m.Ge("work", convex.Sum(hours), 30)
	m.Ge("pay", convex.Dot([]float64{10, 12, 11}, hours), 100)
	conflict, err := m.Explain(context.Background())
	if err != nil {
		panic(err)
	}
	for _, c := range conflict {
		fmt.Println(c.Constraint.Name())
	}
	// Output:
	// shift
	// work
}
