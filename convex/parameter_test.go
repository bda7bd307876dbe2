package convex_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// parametric is a model with a parameter in every place that takes one.
type parametric struct {
	m         *convex.Model
	objective convex.Expr
	x         *convex.Variable
	params    []*convex.Parameter
}

func newParametric(rng *rand.Rand) parametric {
	const n = 4
	m := convex.NewModel()
	x := m.Vector("x", n)
	param := func(name string, n int, base float64) *convex.Parameter {
		return m.Parameter(name, numbered(n, func(int) float64 { return base + .2*rng.NormFloat64() }))
	}
	center, cost, weight := param("center", n, 0), param("cost", n, .5), param("weight", 1, 1)
	side, row, scale := param("side", n, 1), param("row", n, 1), param("scale", 1, 1.5)
	matrix := mat.NewDense(6, n, random(rng, 6*n))
	target, rows := param("target", 6, 1), param("rows", 6, 1)
	objective := convex.Add(convex.Scale(.5, convex.Scale(weight, convex.SumSquares(convex.Sub(x, center)))),
		convex.Scale(.1, convex.SumSquares(convex.Sub(convex.Mul(matrix, x), target))),
		convex.Scale(.01, convex.Scale(weight, convex.SumSquares(convex.Add(convex.Mul(matrix, x), 1)))),
		convex.Scale(weight, convex.Norm2(convex.Sub(x, []float64{1, 2, 3, 4}))),
		convex.Scale(.3, convex.Norm1(convex.Add(x, convex.Mul(matrix.Slice(0, n, 0, n), center)))), convex.Dot(cost, x),
		convex.Scale(.1, convex.Dot(rows, convex.Mul(matrix, x))), convex.Add(convex.Sum(side), 7),
		convex.Scale(weight, convex.Add(convex.At(x, 1), 2)))
	m.Minimize(objective)
	m.Le("", convex.Scale(.2, convex.SumSquares(convex.Sub(convex.Mul(matrix, x), target))),
		convex.Add(convex.At(side, 0), convex.Dot(row, x), 2))
	m.Le("", convex.Dot(row, convex.Add(x, []float64{1, 0, 0, 0})), .2)
	m.Le("", convex.Norm2(convex.Scale(scale, x)), convex.At(side, 1))
	m.Le("", convex.Abs(x), convex.Scale(.8, side))
	m.Eq("", convex.Dot(rows, convex.Mul(matrix, x)), convex.Scale(.1, scale))
	return parametric{m, objective, x, []*convex.Parameter{center, cost, weight, side, row, scale, target, rows}}
}

// Sensitivity is the slope of the optimal value in every parameter entry.
func TestSensitivity(t *testing.T) {
	e := newParametric(rand.New(rand.NewPCG(1, 7)))
	s := solver(t, e.m, convex.SolverOptions{Options: backends.Options{Eps: 1e-10}})
	r := solve(t, s)
	base := make([][]float64, len(e.params))
	for k, p := range e.params {
		base[k] = p.Values()
	}
	for k, p := range e.params {
		got := r.Sensitivity(p)
		for j := range got {
			const h = 1e-4
			value := func(step float64) float64 {
				v := append([]float64(nil), base[k]...)
				v[j] += step
				require.NoError(t, s.Set(p, v))
				return solve(t, s).Objective
			}
			slope := (value(h) - value(-h)) / (2 * h)
			require.InDelta(t, slope, got[j], 2e-5*(1+max(slope, -slope)), "%s[%d]", p.Name(), j)
		}
		require.NoError(t, s.Set(p, base[k]))
	}
	// The result is about its own solve, whatever the parameters are now.
	before := r.Sensitivity(e.params[0])
	require.NoError(t, s.Set(e.params[0], make([]float64, 4)))
	require.NoError(t, s.Set(e.params[2], []float64{9}))
	solve(t, s)
	require.Equal(t, before, r.Sensitivity(e.params[0]))
}

// recorder is a backend that records what it is given, and the numbers of its setup as they were.
type recorder struct {
	backends.ConicBackend
	setups        int
	updates       []backends.Update
	problem       backends.Problem
	given, copies [][]float64
}

type recorderSolver struct {
	backends.Solver
	r *recorder
}

func (r *recorder) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	s, err := r.ConicBackend.Setup(p, o)
	r.setups++
	r.problem = *p
	r.given = append(r.given, p.Q, p.B, p.A.RawMatrix().Data, p.P.RawMatrix().Data)
	for _, v := range r.given[len(r.copies):] {
		r.copies = append(r.copies, slices.Clone(v))
	}
	return recorderSolver{s, r}, err
}

func (s recorderSolver) Update(u backends.Update) error {
	s.r.updates = append(s.r.updates, u)
	if u.A != nil {
		s.r.problem.A = u.A
	}
	if u.B != nil {
		s.r.problem.B = u.B
	}
	if u.Q != nil {
		s.r.problem.Q = u.Q
	}
	if u.P != nil {
		s.r.problem.P = u.P
	}
	return s.Solver.Update(u)
}

// Only what depends on a changed parameter is updated, the updated program is the one compiled afresh, and the numbers
// of the setup stay as they were.
func TestUpdatesEqualFresh(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	e := newParametric(rng)
	rec := &recorder{ConicBackend: native(t)}
	s := solver(t, e.m, convex.SolverOptions{Backend: rec})
	solve(t, s)
	names := map[string]struct{ a, b, q, p bool }{
		"center": {q: true, b: true}, "cost": {q: true}, "weight": {q: true, p: true}, "side": {b: true},
		"row": {a: true, b: true}, "scale": {a: true, b: true}, "target": {b: true}, "rows": {a: true, q: true},
	}
	now := map[*convex.Parameter][]float64{}
	for _, p := range e.params {
		now[p] = p.Values()
	}
	for range 3 {
		for _, p := range e.params {
			v := now[p]
			for j := range v {
				v[j] *= 1 + .05*rng.Float64()
			}
			require.NoError(t, s.Set(p, v))
			count := len(rec.updates)
			r := solve(t, s)
			require.Len(t, rec.updates, count+1)
			u, want := rec.updates[count], names[p.Name()]
			require.Equal(t, want.a, u.A != nil, p.Name())
			require.Equal(t, want.b, u.B != nil, p.Name())
			require.Equal(t, want.q, u.Q != nil, p.Name())
			require.Equal(t, want.p, u.P != nil, p.Name())

			fresh := must.Of(s.Program().Problem())(t)
			require.Equal(t, fresh, &rec.problem)
			require.Equal(t, rec.copies, rec.given)
			again := solve(t, must.Of(s.Program().Solver(convex.SolverOptions{Backend: native(t)}))(t))
			require.InDelta(t, again.Objective, r.Objective, 1e-7)
			inDelta(t, again.Value(e.x), r.Value(e.x), 1e-4)
		}
	}
	require.Equal(t, 1, rec.setups)
	// The same values again change nothing.
	count := len(rec.updates)
	require.NoError(t, s.Set(e.params[0], now[e.params[0]]))
	solve(t, s)
	require.Len(t, rec.updates, count)
	st := s.Stats()
	require.Equal(t, 1, st.Setups)
	require.Equal(t, count, st.Updates)
	require.Equal(t, count+2, st.Solves)
	require.Equal(t, count+2, st.Rounds)
}

// broken is a backend that fails.
type broken struct{ backends.ConicBackend }

var errBroken = errors.New("out of order")

func (broken) Setup(*backends.Problem, backends.Options) (backends.Solver, error) {
	return nil, errBroken
}

func TestBrokenBackend(t *testing.T) {
	e := newParametric(rand.New(rand.NewPCG(4, 7)))
	s := solver(t, e.m, convex.SolverOptions{Backend: broken{native(t)}})
	_, err := s.Solve(context.Background())
	require.ErrorIs(t, err, errBroken)
	require.NoError(t, s.Close())
}

// stalling is a backend that makes nothing of a warm start.
type stalling struct {
	backends.ConicBackend
	solves int
}

type stallingSolver struct {
	backends.Solver
	b    *stalling
	warm bool
}

func (b *stalling) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	s, err := b.ConicBackend.Setup(p, o)
	return &stallingSolver{Solver: s, b: b}, err
}

func (s *stallingSolver) WarmStart(backends.Point) error {
	s.warm = true
	return nil
}

func (s *stallingSolver) Solve(ctx context.Context) (*backends.Solution, error) {
	s.b.solves++
	sol, err := s.Solver.Solve(ctx)
	if s.warm {
		sol.Status, sol.Residuals.Gap, s.warm = backends.Inaccurate, 1, false
	}
	return sol, err
}

// A warm start that fails is followed by a cold one.
func TestWarmStartThatFails(t *testing.T) {
	e := newParametric(rand.New(rand.NewPCG(4, 7)))
	backend := &stalling{ConicBackend: native(t)}
	s := solver(t, e.m, convex.SolverOptions{Backend: backend})
	first := solve(t, s)
	require.NoError(t, s.Set(e.params[1], make([]float64, 4)))
	second := solve(t, s)
	require.InDelta(t, e.objective.Eval(second.Point())[0], second.Objective, 1e-5)
	require.Equal(t, s.Stats().Iterations, first.Iterations+second.Iterations)
	require.Equal(t, 3, backend.solves)
	require.Equal(t, 2, s.Stats().Rounds)
}

// Goroutines share a program, each with values of its own: soft thresholds, whether there are working sets or not.
func TestParametersOfSolvers(t *testing.T) {
	const n = 40
	a := random(rand.New(rand.NewPCG(6, 6)), n)
	m := convex.NewModel()
	b, lambda := m.Vector("b", n), m.Parameter("lambda", []float64{0})
	shift := m.Parameter("shift", make([]float64, n))
	distance := convex.Scale(.5, convex.SumSquares(convex.Sub(b, convex.Add(a, shift))))
	m.Minimize(convex.Add(distance, convex.Scale(lambda, convex.Norm1(b))))
	p := must.Of(m.Compile())(t)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for k := range errs {
		s := must.Of(p.Solver(convex.SolverOptions{Backend: native(t), WorkingSets: k%2 == 0}))(t)
		wg.Go(func() {
			defer s.Close()
			for try := range 10 {
				l, by := .1*float64(1+(k+try)%5), float64(k-try)/10
				err := errors.Join(s.Set(lambda, []float64{l}), s.Set(shift, slices.Repeat([]float64{by}, n)))
				r, e := s.Solve(context.Background())
				if errs[k] = errors.Join(errs[k], err, e); errs[k] != nil {
					return
				}
				half := 0.0
				for j, v := range r.Value(b) {
					at := a[j] + by
					want := math.Copysign(max(0, math.Abs(at)-l), at)
					if half += (want - at) * (want - at) / 2; math.Abs(v-want) > 2e-4 {
						errs[k] = fmt.Errorf("solver %d, lambda %g: b_%d = %g, expected %g", k, l, j, v, want)
					}
				}
				if v := distance.Eval(r.Point())[0]; math.Abs(v-half) > 1e-3 || math.Abs(r.Value(distance)[0]-v) > 1e-12 {
					errs[k] = fmt.Errorf("solver %d, lambda %g: half of the squared distance is %g, expected %g", k, l, v, half)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
}

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
