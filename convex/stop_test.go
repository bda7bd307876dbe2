package convex_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// Where the context has ended nothing is set up, and a deadline is a time limit, with and without working sets.
func TestContextThatHasEnded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := regression(rng, 20, 50, 3)
	for _, sets := range []bool{false, true} {
		m := convex.NewModel()
		b := m.Variable("b", 50)
		m.Minimize(convex.SumSquares(b.Expr().MulMat(x).Minus(convex.Const(y...))).Plus(convex.Norm1(b.Expr())))
		s := solver(t, m, convex.SolverOptions{WorkingSets: sets})
		cancelled, cancel := context.WithCancel(context.Background())
		cancel()
		late, end := context.WithDeadline(context.Background(), time.Now().Add(-time.Hour))
		defer end()
		for _, c := range []struct {
			ctx  context.Context
			want backends.Status
		}{{cancelled, backends.Cancelled}, {late, backends.TimeLimit}} {
			r, err := s.Solve(c.ctx)
			require.NoError(t, err)
			require.Equal(t, c.want, r.Status)
			require.Nil(t, r.Value(b))
			require.Nil(t, r.Point())
			require.Nil(t, r.DualResidual(b))
			require.Zero(t, s.Stats().Setups)
		}
		require.Equal(t, backends.Optimal, solve(t, s).Status)
	}
}
