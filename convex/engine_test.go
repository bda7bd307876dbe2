package convex_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// A result and the log say what has answered: working sets where the program has any and they are asked for.
func TestEngine(t *testing.T) {
	lasso := newElasticNet(rand.New(rand.NewPCG(1, 1)), 30, 80).m
	matrix := func(rows, cols int) *convex.Model {
		m := convex.NewModel()
		x := m.Variable("X", rows*cols)
		m.Minimize(convex.SumSquares(x.Expr().Slice(0, 2).Minus(convex.Const(1, 2))).Plus(convex.NuclearNorm(x.Expr(), rows,
			cols)))
		return m
	}
	for name, c := range map[string]struct {
		m    *convex.Model
		sets bool
		want string
	}{
		"without working sets": {lasso, false, convex.EngineBackend},
		"1-norm":               {lasso, true, convex.EngineColumns},
		"small matrix":         {matrix(3, 4), true, convex.EngineBackend},
		"large matrix":         {matrix(150, 60), true, convex.EngineSingularVectors},
	} {
		t.Run(name, func(t *testing.T) {
			var log records
			s := solver(t, c.m, convex.SolverOptions{WorkingSets: c.sets, Options: backends.Options{Logger: slog.New(&log)}})
			ctx, cancel := context.WithCancel(context.Background())
			r := solve(t, s)
			require.Equal(t, backends.Optimal, r.Status)
			require.Equal(t, c.want, r.Engine)
			require.Equal(t, s.Stats().Rounds, r.Rounds)
			require.Equal(t, s.Stats().Iterations, r.Iterations)
			require.Equal(t, records{"solved " + c.want}, log)
			cancel()
			r = must.Of(s.Solve(ctx))(t)
			require.Empty(t, r.Engine)
		})
	}
}

// records keeps what the chain logs: the message and the engine.
type records []string

func (l *records) Enabled(context.Context, slog.Level) bool { return true }
func (l *records) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *records) WithGroup(string) slog.Handler            { return l }

func (l *records) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "engine" {
			*l = append(*l, r.Message[len("convex: "):]+" "+a.Value.String())
		}
		return true
	})
	return nil
}
