package convex

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/must"
)

// A box of width 2e-6 around zero: of min c'x over |x_j| <= h_j the value is -sum |c_j| h_j, so that the
// derivative in h_j is -|c_j| and the sum of both multipliers |c_j|. What the solver's accuracy of the gap
// allows is thousands of times more than that.
func TestNarrowBox(t *testing.T) {
	backend := must.Of(backends.Open("native"))(t)
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 40
	c := make([]float64, n)
	h := make([]float64, n)
	for j := range c {
		c[j] = 1e-3 * rng.NormFloat64()
		h[j] = 1e-6
	}
	for name, box := range map[string]func(m *Model, x *Variable, h *Parameter){
		"abs": func(m *Model, x *Variable, h *Parameter) { m.Le("", Abs(x), h) },
		"linear": func(m *Model, x *Variable, h *Parameter) {
			m.Le("", x, h)
			m.Ge("", x, Neg(h))
		},
		"rows": func(m *Model, x *Variable, h *Parameter) {
			turned := mat.NewDense(n, n, nil) // a matrix that is the identity
			for j := range n {
				turned.Set(j, j, 1)
			}
			a := Mul(turned, x)
			m.Le("", a, h)
			m.Le("", Neg(a), h)
		},
	} {
		m := NewModel()
		x, p := m.Vector("x", n), m.Parameter("h", h)
		m.Minimize(Add(Dot(c, x), Scale(1e-9, Pos(Sum(x)))))
		box(m, x, p)
		prog := must.Of(m.Compile())(t)
		require.NotEmpty(t, prog.p.Boxes, name)
		solver := must.Of(prog.Solver(SolverOptions{Backend: backend}))(t)
		res := must.Of(solver.Solve(context.Background()))(t)
		require.Equal(t, backends.Optimal, res.Status)
		for j, s := range res.Sensitivity(p) {
			require.InDelta(t, -max(c[j], -c[j]), s, 2e-8, name)
		}
		problem := must.Of(prog.Problem())(t)
		pt := res.Conic()
		again, _, dual := backends.Recheck(problem, pt.X, pt.S, pt.Z)
		require.LessOrEqual(t, again.Max(), 1e-8)
		require.InDelta(t, dual, res.DualObjective, 1e-14)
		require.InDelta(t, again.Gap, res.Residuals.Gap, 1e-14)
		require.NoError(t, solver.Close())
	}
}

// Two sides that move apart from each other are no box.
func TestNoBox(t *testing.T) {
	m := NewModel()
	x, u := m.Vector("x", 3), m.Vector("u", 3)
	m.Minimize(Sum(u))
	m.Le("", Abs(x), u)
	m.Ge("", x, 1)
	m.Le("", Slice(x, 0, 2), 2)
	prog := must.Of(m.Compile())(t)
	require.Empty(t, prog.p.Boxes)
}
