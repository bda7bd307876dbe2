package convex_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/formats/cbf"
	"github.com/conetune/conetune/formats/lp"
	"github.com/conetune/conetune/formats/qps"
	"github.com/conetune/conetune/internal/must"
)

// The problems of the gallery have the optimal value that CVXPY has when they are written to a file and read again: all
// as CBF, linear and quadratic programs as MPS.
func TestEncode(t *testing.T) {
	asMPS := 0
	for _, p := range recorded(t) {
		m := convex.NewModel()
		gallery[p.Name](m)
		s := solver(t, m, convex.SolverOptions{})
		if p.Solves[0].Parameter != nil {
			require.NoError(t, s.Set(m.Only(), p.Solves[0].Parameter))
		}
		prog := s.Program()
		check := func(read *formats.Program) {
			s := must.Of(must.Of(native(t).Setup(read.Problem, backends.Options{}))(t).Solve(t.Context()))(t)
			switch p.Solves[0].Status {
			case "optimal":
				value := p.Solves[0].Value
				require.Equal(t, backends.Optimal, s.Status, p.Name)
				// What is maximised is written as the minimum of the negative.
				require.InDelta(t, math.Abs(value), math.Abs(read.Solution(s).Objective), 1e-6*max(1, math.Abs(value)), p.Name)
			case "infeasible":
				require.Equal(t, backends.PrimalInfeasible, s.Status, p.Name)
			}
		}
		var text bytes.Buffer
		require.NoError(t, prog.Encode(&text, "cbf"), p.Name)
		check(must.Of(must.Of(cbf.Decode(p.Name, &text))(t).Conic())(t))

		text.Reset()
		if err := prog.Encode(&text, "mps"); err != nil {
			require.ErrorContains(t, err, "no cone of kind", p.Name)
			continue
		}
		asMPS++
		check(must.Of(qps.Decode(p.Name, &text))(t).Conic())
		text.Reset()
		require.NoError(t, prog.Encode(&text, "lp"), p.Name)
		check(must.Of(lp.Decode(p.Name, &text))(t).Conic())
	}
	require.Greater(t, asMPS, 20)
}

// Nuclear norms are written as semidefinite matrices, and what is no format is an error.
func TestEncodeNuclearNorm(t *testing.T) {
	m := convex.NewModel()
	x := m.Matrix("x", 2, 3)
	m.Minimize(convex.NuclearNorm(x))
	m.Eq("diagonal", convex.Stack(convex.At(x, 0, 0), convex.At(x, 1, 1)), []float64{3, 4})
	prog := must.Of(m.Compile())(t)
	var text bytes.Buffer
	require.NoError(t, prog.Encode(&text, "cbf"))
	read := must.Of(must.Of(cbf.Decode("nuclear", &text))(t).Conic())(t)
	s := must.Of(must.Of(native(t).Setup(read.Problem, backends.Options{}))(t).Solve(t.Context()))(t)
	require.InDelta(t, 7, read.Solution(s).Objective, 1e-6)
	require.ErrorContains(t, prog.Encode(io.Discard, "nl"), "unknown format")
	require.ErrorContains(t, prog.Encode(io.Discard, "mps"), "kind")
}

func ExampleProgram_Encode() {
	m := convex.NewModel()
	x := m.Vector("x", 2, convex.Nonneg())
	m.Ge("need", convex.Sum(x), 1)
	m.Minimize(convex.Add(convex.Dot([]float64{1, 2}, x), 5))
	p, err := m.Compile()
	check(err)
	var text strings.Builder
	check(p.Encode(&text, "mps"))
	fmt.Println(strings.Count(text.String(), "\n"), "lines")
	// Output:
	// 21 lines
}

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
	check(err)
	for _, c := range conflict {
		fmt.Println(c.Constraint.Name())
	}
	// Output:
	// shift
	// work
}
