package convex_test

import (
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// A result and the log say what has answered: working sets where the program has any and they are asked for.
func TestEngine(t *testing.T) {
	lasso := newElasticNet(rand.New(rand.NewPCG(1, 1)), 30, 80).m
	matrix := func(rows, cols int) *convex.Model {
		m := convex.NewModel()
		x := m.Vector("X", rows*cols)
		m.Minimize(convex.Add(convex.SumSquares(convex.Sub(convex.Slice(x, 0, 2), []float64{1, 2})),
			convex.NuclearNorm(convex.Reshape(x, rows, cols))))
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
			b := m.Vector("X", 400)
			m.Minimize(convex.Add(c.loss(b), convex.Scale(.01, convex.NuclearNorm(convex.Reshape(b, 20, 20)))))
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
	b := m.Vector("b", 50)
	m.Minimize(convex.Add(convex.SumSquares(convex.Sub(convex.Mul(x, b), y)), convex.Norm1(b)))
	return solver(t, m, convex.SolverOptions{WorkingSets: sets, Options: o}), b
}

// A tolerance is one of each solve, and a solve to another goes on from the last one. The history ends at it, and where
// the iterations end before, the point is the best of the history.
func TestTolerancesAndBudgets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := regression(rng, 20, 50, 3)
	s, _ := lasso(t, x, y, backends.Options{Eps: 1e-3, History: true}, false)
	loose := solve(t, s)
	require.NoError(t, s.SetEps(1e-9))
	tight := solve(t, s)
	require.LessOrEqual(t, tight.Residuals.Max(), 1e-9)
	require.Error(t, s.SetEps(-1))
	whole, _ := lasso(t, x, y, backends.Options{Eps: 1e-9, History: true}, false)
	fresh := solve(t, whole)
	require.Less(t, tight.Iterations, fresh.Iterations)
	require.InDelta(t, fresh.Objective, tight.Objective, 1e-8*fresh.Objective)
	require.Less(t, len(loose.History), len(fresh.History))
	last := fresh.History[len(fresh.History)-1]
	require.InDelta(t, fresh.Objective, last.Objective, 1e-6*fresh.Objective)
	for k := 2; k < fresh.Iterations-2; k++ {
		cut, b := lasso(t, x, y, backends.Options{Eps: 1e-9, History: true, MaxIterations: k}, false)
		r := must.Of(cut.Solve(t.Context()))(t)
		if r.Status == backends.Optimal { // what was reached last is polished
			require.LessOrEqual(t, r.Residuals.Max(), 1e-9)
			continue
		}
		require.Equal(t, backends.IterationLimit, r.Status)
		require.NotNil(t, r.Value(b))
		least := math.Inf(1)
		for _, h := range r.History {
			least = min(least, h.Residuals.Max())
		}
		require.LessOrEqual(t, r.Residuals.Max(), 10*least, k)
	}
}

// Slacks of all kinds of constraints, by hand.
func TestSlack(t *testing.T) {
	m := convex.NewModel()
	x := m.Vector("x", 2)
	for name, c := range map[string]struct {
		of   *convex.Constraint
		want []float64
	}{
		"le": {m.Le("", x, []float64{1, 3}), []float64{0, 1}}, "ge": {m.Ge("", x, 0), []float64{1, 2}},
		"eq": {m.Eq("", convex.Sum(x), 3), []float64{0}},
		"in": {m.In("", backends.SecondOrder(3), 4, x), []float64{4, 1, 2}},
		"psd": {m.PSD("", convex.Reshape(convex.Stack(convex.Add(x, []float64{1, 0}), x), 2, 2)),
			[]float64{2, 1.5, 1.5, 2}},
		"atom": {m.Le("", convex.SumSquares(x), 7), []float64{2}},
	} {
		defer func() {
			require.InDeltaSlice(t, c.want, must.Of(m.Solve(t.Context()))(t).Slack(c.of), 1e-6, name)
		}()
	}
	m.Minimize(convex.SumSquares(convex.Sub(x, []float64{5, 2})))
}
