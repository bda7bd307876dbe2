package convex_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// machine is a model like the subproblems of a support vector machine by cross-validation: hinges in the objective and in
// a constraint with a parametric side, a box with a variable width, a bound on the squared norm, a proximal term.
type machine struct {
	m                    *convex.Model
	w, c, h, t           *convex.Variable
	centre, alpha, bound *convex.Parameter
	value                *convex.Constraint
	box                  *convex.Constraint
}

func newMachine(rng *rand.Rand, n, p int, sparseRows bool) *machine {
	e := &machine{m: convex.NewModel()}
	e.w, e.c = e.m.Variable("w", p), e.m.Variable("c", 1)
	e.h, e.t = e.m.Variable("h", p), e.m.Variable("t", 1)
	e.centre, e.alpha, e.bound = e.m.Parameter("centre", p), e.m.Parameter("alpha", 1), e.m.Parameter("bound", 1)
	hinge := func(n int) convex.Convex {
		x, y := mat.NewDense(n, p, nil), mat.NewDense(n, 1, nil)
		one := make([]float64, n)
		for i := range n {
			sign := float64(2*rng.IntN(2) - 1)
			y.Set(i, 0, sign)
			one[i] = 1
			for j := range p {
				v := rng.NormFloat64()
				if j < 3 {
					v += sign
				}
				if sparseRows && rng.Float64() < 0.8 {
					v = 0
				}
				x.Set(i, j, sign*v)
			}
		}
		var rows mat.Matrix = x
		if sparseRows {
			coo := sparse.NewCOO(n, p, nil, nil, nil)
			for i := range n {
				for j := range p {
					if v := x.At(i, j); v != 0 {
						coo.Set(i, j, v)
					}
				}
			}
			rows = coo.ToCSC()
		}
		return convex.Pos(convex.Const(one...).Minus(e.w.Expr().MulMat(rows)).Plus(e.c.Expr().MulMat(y))).Sum().Scale(1 / float64(n))
	}
	prox := convex.SumSquares(e.w.Expr().Minus(e.centre.Expr())).Plus(convex.SumSquares(e.c.Expr())).Plus(convex.SumSquares(e.h.Expr()))
	e.m.Minimize(hinge(n).Plus(prox.Scale(1e-2)).PlusAffine(e.alpha.Dot(e.t.Expr())))
	e.value = convex.LessEqual(hinge(2*n).MinusAffine(e.bound.Expr()), e.t.Expr())
	e.box = convex.LessEqual(convex.Abs(e.w.Expr()).MinusAffine(e.h.Expr()), e.t.Expr())
	e.m.Constrain(e.value, e.box,
		convex.LessEqual(convex.SumSquares(e.w.Expr()).Scale(0.5), e.t.Expr().Plus(convex.Const(2))),
		convex.GreaterEqual(e.t.Expr(), convex.Const(0)), convex.GreaterEqual(e.h.Expr(), convex.Const(0)))
	return e
}

// The completed point is optimal for the full program, for any data and any change of the parameters, and the multipliers
// are those of the full program.
func TestHinges(t *testing.T) {
	backend := native(t)
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 5))
			e := newMachine(rng, 40+rng.IntN(60), 4+rng.IntN(25), seed%2 == 1)
			prog, err := e.m.Compile()
			require.NoError(t, err)
			sets, err := prog.Solver(convex.SolverOptions{Backend: backend, WorkingSets: true})
			require.NoError(t, err)
			full, err := prog.Solver(convex.SolverOptions{Backend: backend})
			require.NoError(t, err)
			centre := make([]float64, e.w.Len())
			for k := range 8 {
				size := 1.0
				if k%3 != 0 {
					size = 0.02 // as in a method that converges
				}
				for j := range centre {
					centre[j] += size * rng.NormFloat64()
				}
				require.NoError(t, e.centre.Set(centre))
				require.NoError(t, e.alpha.Set([]float64{1 + float64(k)}))
				require.NoError(t, e.bound.Set([]float64{0.2 * rng.Float64()}))
				a, err := sets.Solve(context.Background())
				require.NoError(t, err)
				b, err := full.Solve(context.Background())
				require.NoError(t, err)
				require.Equal(t, backends.Optimal, b.Status)
				require.Equal(t, backends.Optimal, a.Status, a.Message)
				require.InDelta(t, b.Objective, a.Objective, 3e-8*max(1, b.Objective))
				require.InDelta(t, b.Dual(e.value)[0], a.Dual(e.value)[0], 1e-4)
				require.InDeltaSlice(t, b.Dual(e.box), a.Dual(e.box), 1e-3)
				require.InDelta(t, b.Sensitivity(e.bound)[0], a.Sensitivity(e.bound)[0], 1e-4)
				require.InDelta(t, b.Sensitivity(e.alpha)[0], a.Sensitivity(e.alpha)[0], 1e-4)
				pt := a.Conic()
				problem, err := prog.Problem()
				require.NoError(t, err)
				res, primal, dual := backends.Recheck(problem, pt.X, pt.S, pt.Z)
				require.LessOrEqual(t, res.Max(), 1e-8)
				require.LessOrEqual(t, max(res.Primal, res.Dual), 3*max(a.Residuals.Primal, a.Residuals.Dual)+1e-12)
				offset := 1e-2 * floats.Dot(centre, centre)
				require.InDelta(t, a.Objective-offset, primal, 1e-9)
				require.InDelta(t, a.DualObjective-offset, dual, 1e-8*max(1, math.Abs(primal)))
			}
		})
	}
}

// Hinges that pull in both directions, a quantile regression: the median of the targets is a solution.
func TestHingesQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	const n = 301
	y := make([]float64, n)
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	m := convex.NewModel()
	b, shift := m.Variable("b", 1), m.Parameter("shift", 1)
	residual := convex.Const(y...).Minus(b.Expr())
	m.Minimize(convex.Pos(residual).Plus(convex.Pos(residual.Neg())).Sum().PlusAffine(shift.Dot(b.Expr())))
	prog, err := m.Compile()
	require.NoError(t, err)
	s, err := prog.Solver(convex.SolverOptions{Backend: native(t), WorkingSets: true})
	require.NoError(t, err)
	for _, k := range []int{150, 150, 140, 60, 280, 281, 150} {
		// The sum of |y_i - b| + s b with s = n - 1 - 2k, between odd numbers, is least at the k-th smallest y.
		require.NoError(t, shift.Set([]float64{float64(n - 1 - 2*k)}))
		r, err := s.Solve(context.Background())
		require.NoError(t, err)
		require.Equal(t, backends.Optimal, r.Status)
		below := 0
		for _, v := range y {
			if v < r.Value(b)[0]-1e-4 {
				below++
			}
		}
		require.InDelta(t, k, below, 1)
	}
	require.NoError(t, shift.Set([]float64{n + 1})) // without a minimum
	r, err := s.Solve(context.Background())
	require.NoError(t, err)
	require.Equal(t, backends.DualInfeasible, r.Status)
	require.NoError(t, shift.Set([]float64{0}))
	r, err = s.Solve(context.Background())
	require.NoError(t, err)
	require.Equal(t, backends.Optimal, r.Status)
}

// A program that becomes infeasible says so: hinges of |b - y_i| with b in an interval that becomes empty.
func TestHingesInfeasible(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 6))
	y := make([]float64, 100)
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	m := convex.NewModel()
	b, top := m.Variable("b", 1), m.Parameter("top", 1)
	residual := convex.Const(y...).Minus(b.Expr())
	m.Minimize(convex.Pos(residual).Plus(convex.Pos(residual.Neg())).Sum())
	m.Constrain(convex.GreaterEqual(b.Expr(), convex.Const(1)), convex.LessEqual(convex.Linear(b.Expr()), top.Expr()))
	prog, err := m.Compile()
	require.NoError(t, err)
	s, err := prog.Solver(convex.SolverOptions{Backend: native(t), WorkingSets: true})
	require.NoError(t, err)
	for _, c := range []struct {
		top  float64
		want backends.Status
	}{{5, backends.Optimal}, {5.1, backends.Optimal}, {-1, backends.PrimalInfeasible}, {5, backends.Optimal}} {
		require.NoError(t, top.Set([]float64{c.top}))
		r, err := s.Solve(context.Background())
		require.NoError(t, err)
		require.Equal(t, c.want, r.Status)
		if c.want == backends.Optimal {
			require.InDelta(t, 1, r.Value(b)[0], 1e-6)
		}
	}
}
