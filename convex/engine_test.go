package convex_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// The chain of a solver names all engines in their order, with a reason for each that does not take the program.
func TestChain(t *testing.T) {
	lasso := newElasticNet(rand.New(rand.NewPCG(1, 1)), 30, 80).m
	svm := newMachine(rand.New(rand.NewPCG(1, 1)), 40, 5, false).m
	low := convex.NewModel()
	x := low.Variable("X", 12)
	low.Minimize(convex.SumSquares(x.Expr().Slice(0, 5).Minus(convex.Const(1, 2, 3, 4, 5))).Plus(convex.NuclearNorm(x.Expr(), 3, 4)))
	big := convex.NewModel()
	x = big.Variable("X", 150*60)
	big.Minimize(convex.SumSquares(x.Expr()).Plus(convex.NuclearNorm(x.Expr(), 150, 60)))
	const off = "SolverOptions.WorkingSets is off"
	for name, c := range map[string]struct {
		m    *convex.Model
		o    convex.SolverOptions
		want [4]string
	}{
		"without working sets": {lasso, convex.SolverOptions{}, [4]string{off, "there are no nuclear norms", off, ""}},
		"1-norm": {lasso, convex.SolverOptions{WorkingSets: true}, [4]string{"there are no hinges with fixed weights",
			"there are no nuclear norms", "", ""}},
		"hinges": {svm, convex.SolverOptions{WorkingSets: true}, [4]string{"", "there are no nuclear norms",
			"there are no 1-norms of whole variables", ""}},
		"cold": {svm, convex.SolverOptions{WorkingSets: true, ColdStart: true}, [4]string{"SolverOptions.ColdStart is on",
			"there are no nuclear norms", "there are no 1-norms of whole variables", ""}},
		"small matrix": {low, convex.SolverOptions{WorkingSets: true}, [4]string{"there are nuclear norms", "the matrices are small",
			"there are nuclear norms", ""}},
		"large matrix": {big, convex.SolverOptions{WorkingSets: true}, [4]string{"there are nuclear norms", "",
			"there are nuclear norms", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			links := solver(t, c.m, c.o).Chain()
			for i, e := range []convex.Engine{convex.EngineExchange, convex.EngineSingularVectors, convex.EngineColumns, convex.EngineBackend} {
				require.Equal(t, e, links[i].Engine)
				require.Equal(t, c.want[i], links[i].Refused, e)
			}
		})
	}
}

// A result and the log say which engine has answered, and why those before it have not.
func TestEngine(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	var log records
	e := newMachine(rng, 60, 40, false)
	require.NoError(t, e.alpha.Set([]float64{3}))
	require.NoError(t, e.centre.Set(random(rng, 40)))
	require.NoError(t, e.bound.Set([]float64{0.1}))
	s := solver(t, e.m, convex.SolverOptions{WorkingSets: true, Options: backends.Options{Logger: slog.New(&log)}})
	r := solve(t, s)
	require.Equal(t, convex.EngineBackend, r.Engine)
	require.Equal(t, s.Stats().Rounds, r.Rounds)
	require.Equal(t, s.Stats().Iterations, r.Iterations)
	require.NoError(t, e.bound.Set([]float64{0.101}))
	require.Equal(t, convex.EngineExchange, solve(t, s).Engine)
	s.Cold()
	require.Equal(t, convex.EngineBackend, solve(t, s).Engine)
	require.Equal(t, records{"passed on exchange", "solved backend", "solved exchange", "passed on exchange", "solved backend"}, log)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := s.Solve(ctx)
	require.NoError(t, err)
	require.Empty(t, r.Engine)
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
