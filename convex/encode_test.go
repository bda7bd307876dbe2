package convex_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
	if err != nil {
		panic(err)
	}
	var text strings.Builder
	if err := p.Encode(&text, "mps"); err != nil {
		panic(err)
	}
	fmt.Println(strings.Count(text.String(), "\n"), "lines")
	// Output:
	// 21 lines
}
