package convex

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex/internal/compile"
	"github.com/conetune/conetune/internal/must"
)

// The program of a working set is the full one without the columns outside the
// set and without rows that are empty then.
func TestRestrictedIsSubmatrix(t *testing.T) {
	const p = 12
	rng := rand.New(rand.NewPCG(1, 2))
	dense := mat.NewDense(5, p, nil)
	coo := sparse.NewCOO(5, p, nil, nil, nil)
	for i := range 5 {
		for j := range p {
			if rng.Float64() < .7 {
				dense.Set(i, j, rng.NormFloat64())
			}
			if rng.Float64() < .3 {
				coo.Set(i, j, rng.NormFloat64())
			}
		}
	}
	m := NewModel()
	v, u, w, r := m.Vector("v", p), m.Vector("u", p), m.Parameter("w", dense.RawRowView(0)), m.Parameter("r", []float64{1, -2, 3, .5, 4})
	x := v
	m.Minimize(Add(SumSquares(Mul(dense, x)), SumSquares(Sub(x, w)), Norm1(x), Dot(w, x)))
	m.Le("", Norm1(u), 3)
	m.Le("", Add(SumSquares(x), SumSquares(Mul(coo.ToCSC(), x))), 1)
	m.Le("", Mul(coo.ToCSR(), x), 1)
	m.Le("", Dot(r, Mul(dense, x)), 1)
	m.Le("", Scale(r, Mul(coo.ToCSC(), x)), 1)
	m.Le("", Add(Dot(r, Mul(dense.Slice(0, 5, 0, 5), Slice(x, 3, 8))), Dot(r, Slice(x, 2, 7))), 1)
	m.Ge("", x, u)
	m.Ge("", x, 0)
	m.Ge("", Sub(x, At(x, 2)), -1)
	m.Le("", GroupNorms(x, [][]int{{0, 1, 2}, {3, 4}, {5, 6, 7, 8, 9}}), 1)
	m.Eq("", Sum(x), Sum(u))
	compiled := must.Of(m.Compile())(t)
	prog := compiled.p
	require.Len(t, prog.Sparse, 2)
	full := prog.NewLayout(nil)
	whole := compile.NewNumbers(full.Assemble(), compile.NewState(prog.Params, nil)).Problem()
	require.NoError(t, whole.Validate())
	for _, active := range [][][]int{{{0, 3, 4, 11}, {1, 2}}, {{}, {}}, {nil, {5}},
		{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, nil}} {
		l := prog.NewLayout(active)
		part := compile.NewNumbers(l.Assemble(), compile.NewState(prog.Params, nil)).Problem()
		require.NoError(t, part.Validate())
		column := make([]int, 0, l.N) // of the full program, for each one of the part
		for _, v := range prog.Vars {
			set, _ := l.Set(v)
			for k := range l.Width(v) {
				if set != nil {
					k = set[k]
				}
				column = append(column, full.Start[v.ID]+k)
			}
		}
		kept := make(map[int]bool)
		for i, g := range prog.Groups {
			for r := range g.Expr.N { // of the group
				from, to := full.Row(i, r), l.Row(i, r)
				if to < 0 {
					require.Zero(t, whole.B[from])
					for _, j := range column {
						require.Zero(t, whole.A.At(from, j))
					}
					continue
				}
				kept[to] = true
				require.Equal(t, whole.B[from], part.B[to])
				for k, j := range column {
					require.Equal(t, whole.A.At(from, j), part.A.At(to, k), "group %d row %d column %d", i, r, j)
				}
			}
		}
		require.Len(t, kept, l.M)
		for k, j := range column {
			require.Equal(t, whole.Q[j], part.Q[k])
			require.Equal(t, whole.P.At(j, j), part.P.At(k, k))
		}
	}
}

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
