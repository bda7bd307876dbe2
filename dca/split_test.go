package dca

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// quadraticOnly is a solver that takes no second-order cones.
type quadraticOnly struct{ backends.ConicBackend }

func (q quadraticOnly) Capabilities() backends.Capabilities {
	c := q.ConicBackend.Capabilities()
	c.Cones = slices.DeleteFunc(slices.Clone(c.Cones),
		func(k backends.ConeKind) bool { return k == backends.SecondOrderCone })
	return c
}

func (q quadraticOnly) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	for _, c := range p.Cones {
		if c.Kind == backends.SecondOrderCone {
			return nil, &backends.UnsupportedError{Backend: q.Name(), Feature: "the second-order cone"}
		}
	}
	return q.ConicBackend.Setup(p, o)
}

// boxed is least squares with a box for every coefficient, n rows for training and as many for validation.
func boxed(seed uint64, n, p int, start float64) Program {
	rng := rand.New(rand.NewPCG(seed, 2))
	rows := func() (*mat.Dense, []float64) {
		a, y := mat.NewDense(n, p, nil), make([]float64, n)
		for i := range n {
			y[i] = rng.NormFloat64()
			for j := range p {
				a.Set(i, j, rng.NormFloat64())
				y[i] += a.At(i, j) / float64(1+j)
			}
		}
		return a, y
	}
	a, y := rows()
	b, w := rows()
	loss := func(e convex.Expr, a *mat.Dense, y []float64) convex.Expr {
		return convex.Scale(0.5/float64(n), convex.SumSquares(convex.Sub(convex.Mul(a, e), y)))
	}
	return Program{
		Name: "boxed", Radii: p, H0: slices.Repeat([]float64{start}, p),
		Build: func(m *convex.Model, h convex.Expr) Level {
			x := m.Vector("x", p)
			e := x
			return Level{
				X: []*convex.Variable{x}, Train: loss(e, a, y), Validation: loss(e, b, w),
				Constraints: []convex.Expr{convex.Sub(convex.Abs(e), h)},
			}
		},
	}
}

// The search for the multiplier ends where the second-order cone does: the subproblem is strongly convex, so
// that its solution is one.
func TestSplitEqualsCone(t *testing.T) {
	native := must.Of(backends.Open("native"))(t)
	for _, c := range []struct {
		n, p     int
		start    float64
		settings Settings
	}{
		{30, 5, 0.2, Settings{Tol: 1e-4, MaxIter: 12}},
		{12, 20, 0.05, Settings{MaxIter: 4}},
		{12, 20, 0.05, Settings{MaxIter: 4, Alpha0: 100, Rho: 0.1}},
		{30, 5, 0.2, Settings{GapTol: 1e-4, MaxIter: 6}},
		{30, 5, 10, Settings{MaxIter: 3}}, // nothing binds: v(r) is the unconstrained minimum
	} {
		p := boxed(7, c.n, c.p, c.start)
		s := c.settings
		s.Backend, s.Solver.Eps = native, 1e-10 // with rho = 1e-3, z is known to the root of a thousand times that
		want := must.Of(Solve(context.Background(), p, s))(t)
		s.Backend = quadraticOnly{native}
		got := must.Of(Solve(context.Background(), p, s))(t)

		require.Equal(t, want.Status, got.Status, got.Message)
		require.Len(t, got.Trace, len(want.Trace))
		for k, w := range want.Trace {
			g := got.Trace[k]
			require.Equal(t, w.Alpha, g.Alpha)
			require.InDelta(t, w.Objective, g.Objective, 1e-6*(1+w.Objective))
			require.InDelta(t, w.T, g.T, 1e-5)
			require.InDeltaSlice(t, w.H, g.H, 1e-4)
			require.Less(t, g.Distance, 1e-3)
		}
		require.InDelta(t, want.UpperValue, got.UpperValue, 1e-4)
		require.InDelta(t, want.KKT.Eta, got.KKT.Eta, 1e-3*(1+want.KKT.Eta))
	}
}

// A lower level that has squares in its own constraints cannot be split, and the error says what it takes.
func TestSplitNeedsPolyhedralConstraints(t *testing.T) {
	native := must.Of(backends.Open("native"))(t)
	_, err := Solve(context.Background(), random(1), Settings{Backend: quadraticOnly{native}})
	var unsupported *backends.UnsupportedError
	require.ErrorAs(t, err, &unsupported)
}
