package convex_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// Where the context has ended nothing is set up, and a deadline is a time limit; limits of the options end a solve. So
// it is with and without working sets, and for matrices.
func TestStops(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := regression(rng, 20, 50, 3)
	c := newCompletion(rng, 20, 20)
	for name, prepare := range map[string]func(o backends.Options) (*convex.Solver, *convex.Variable){
		"whole":   func(o backends.Options) (*convex.Solver, *convex.Variable) { return lasso(t, x, y, o, false) },
		"columns": func(o backends.Options) (*convex.Solver, *convex.Variable) { return lasso(t, x, y, o, true) },
		"matrix": func(o backends.Options) (*convex.Solver, *convex.Variable) {
			m := convex.NewModel()
			b := m.Variable("X", 400)
			m.Minimize(c.loss(b.Expr()).Plus(convex.NuclearNorm(b.Expr(), 20, 20).Scale(.01)))
			return setsSolver(t, m, convex.SolverOptions{Options: o}), b
		},
	} {
		s, b := prepare(backends.Options{})
		cancelled, cancel := context.WithCancel(context.Background())
		cancel()
		late, end := context.WithDeadline(context.Background(), time.Now().Add(-time.Hour))
		defer end()
		for _, c := range []struct {
			ctx  context.Context
			want backends.Status
		}{{cancelled, backends.Cancelled}, {late, backends.TimeLimit}} {
			r := must.Of(s.Solve(c.ctx))(t)
			require.Equal(t, c.want, r.Status, name)
			require.Nil(t, r.Value(b))
			require.Nil(t, r.Point())
			require.Nil(t, r.DualResidual(b))
			require.Zero(t, s.Stats().Setups)
		}
		require.Equal(t, backends.Optimal, solve(t, s).Status)
		for want, o := range map[backends.Status]backends.Options{
			backends.TimeLimit: {TimeLimit: 1}, backends.IterationLimit: {MaxIterations: 1},
		} {
			s, _ := prepare(o)
			r := must.Of(s.Solve(context.Background()))(t)
			require.Equal(t, want, r.Status, name)
		}
	}
}

func lasso(t *testing.T, x *mat.Dense, y []float64, o backends.Options, sets bool) (*convex.Solver, *convex.Variable) {
	m := convex.NewModel()
	b := m.Variable("b", 50)
	m.Minimize(convex.SumSquares(b.Expr().MulMat(x).Minus(convex.Const(y...))).Plus(convex.Norm1(b.Expr())))
	return solver(t, m, convex.SolverOptions{WorkingSets: sets, Options: o}), b
}
