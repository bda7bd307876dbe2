package dca_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

func native(t testing.TB) backends.ConicBackend {
	return must.Of(backends.Open("native"))(t)
}

// scalar is min 1/2 (x - b)^2 s.t. x solves min { 1/2 (x - a)^2 : |x| <= r }.
func scalar(a, b, r0 float64) dca.Program {
	return dca.Program{
		Name: "scalar", H0: []float64{r0}, Radii: 1,
		Build: func(m *convex.Model, h convex.Expr) dca.Level {
			x := m.Vector("x", 1)
			return dca.Level{
				X:           []*convex.Variable{x},
				Train:       convex.Scale(0.5, convex.SumSquares(convex.Sub(x, a))),
				Validation:  convex.Scale(0.5, convex.SumSquares(convex.Sub(x, b))),
				Constraints: []convex.Expr{convex.Sub(convex.Norm1(x), h)},
			}
		},
		Path: [][]float64{{1}, {0.5}, {0.25}, {0.125}},
	}
}

// The lower level is x = min(a, r) for a > 0, so that with 0 < b < a the bilevel
// solution is x = r = b with lambda = a - b, and with b > a it is x = a, lambda = 0.
func TestScalarClosedForm(t *testing.T) {
	for name, s := range map[string]dca.Settings{
		"plain":       {Tol: 1e-6, MaxIter: 500},
		"accelerated": {Tol: 1e-6, GapTol: 1e-7, Agreement: 1},
		"path":        {Tol: 1e-6, MaxIter: 500, PathStart: true},
		"full":        {Tol: 1e-6, MaxIter: 500, NoWorkingSets: true},
	} {
		t.Run(name, func(t *testing.T) {
			s.Backend = native(t)
			res := must.Of(dca.Solve(context.Background(), scalar(3, 1, 2), s))(t)
			require.Equal(t, outcome.Converged, res.Status, res.Message)
			require.InDelta(t, 1, res.X[0][0], 2e-3)
			require.InDelta(t, 1, res.H[0], 2e-3)
			require.InDelta(t, 1, res.Refit[0][0], 2e-3)
			require.InDelta(t, 2, res.Lambda[0], 2e-3)
			require.InDelta(t, 2, res.LowerValue, 4e-3)
			require.Less(t, res.KKT.Stationarity(), 1e-2)

			s.Tol = 1e-3 // no finite penalty is exact here
			res = must.Of(dca.Solve(context.Background(), scalar(1, 3, 0.5), s))(t)
			require.Equal(t, outcome.Converged, res.Status, res.Message)
			require.InDelta(t, 1, res.Refit[0][0], 1e-3)
			require.InDelta(t, 0, res.Lambda[0], 1e-3)
		})
	}
}

// In every iteration V_k bounds l - v, and the distance passes the paper's test while steps are not tiny.
func TestIterationRecords(t *testing.T) {
	res := must.Of(dca.Solve(context.Background(), scalar(3, 1, 2), dca.Settings{Tol: 1e-3, Backend: native(t)}))(t)
	require.Equal(t, len(res.Trace), res.Iterations)
	for i, it := range res.Trace {
		require.Equal(t, i+1, it.K)
		require.LessOrEqual(t, it.TrainValue-it.LowerValue, it.T+1e-7)
		// v(r) = (3 - r)^2 / 2 for r <= 3.
		require.InDelta(t, 0.5*math.Pow(3-it.H[0], 2), it.LowerValue, 1e-6)
		require.InDelta(t, 3-it.H[0], it.Lambda[0], 1e-5)
		if i > 0 && it.Step > 1e-2 {
			require.LessOrEqual(t, it.Distance, it.Bound)
		}
		require.Less(t, it.Residual, 1e-7)
	}
	last := res.Trace[len(res.Trace)-1]
	require.Less(t, math.Max(last.Step, last.T), 1e-3)
	require.Equal(t, last.H, res.H)
}

// An upper variable u in [0, 0.4] bounds x from above by a joint constraint:
// x = min(1, u), so that the best u is 0.4 for a target of 0.7, and 0.3 for one of 0.3.
func TestUpperVariable(t *testing.T) {
	build := func(target float64) dca.Program {
		return dca.Program{
			Name: "upper", H0: []float64{0.1}, Lo: []float64{0}, Hi: []float64{0.4},
			Build: func(m *convex.Model, h convex.Expr) dca.Level {
				x := m.Vector("x", 1)
				m.Ge("", x, -5)
				return dca.Level{
					X:           []*convex.Variable{x},
					Train:       convex.Scale(0.5, convex.SumSquares(convex.Sub(x, 1))),
					Validation:  convex.Scale(0.5, convex.SumSquares(convex.Sub(x, target))),
					Constraints: []convex.Expr{convex.Sub(x, h)},
				}
			},
		}
	}
	for _, s := range []dca.Settings{{Tol: 1e-5, MaxIter: 500}, {Tol: 1e-5, GapTol: 1e-6, Agreement: 1}} {
		s.Backend = native(t)
		res := must.Of(dca.Solve(context.Background(), build(0.7), s))(t)
		require.Equal(t, outcome.Converged, res.Status)
		require.InDelta(t, 0.4, res.H[0], 1e-4)
		require.InDelta(t, 0.4, res.Refit[0][0], 1e-4)
		require.Empty(t, res.Lambda)

		res = must.Of(dca.Solve(context.Background(), build(0.3), s))(t)
		require.InDelta(t, 0.3, res.Refit[0][0], 2e-3)
	}
}

// With epsilon > 0 the constraint is l - v <= epsilon: from 0 < b < a, x may differ from r.
func TestEpsilonRelaxes(t *testing.T) {
	// With rho = 1e-3 a solve of accuracy eps knows z to sqrt(eps/rho) at worst, and steps of 1e-6 are asked for.
	s := dca.Settings{Tol: 1e-6, MaxIter: 500, Epsilon: 0.01, Backend: native(t), Solver: backends.Options{Eps: 1e-10}}
	res := must.Of(dca.Solve(context.Background(), scalar(3, 1, 2), s))(t)
	require.Equal(t, outcome.Converged, res.Status)
	require.InDelta(t, 1, res.X[0][0], 1e-3)
	require.LessOrEqual(t, res.TrainValue-res.LowerValue, 0.01+1e-6)
}

func TestEarlyEnds(t *testing.T) {
	s := dca.Settings{Tol: 1e-9, MaxIter: 3, Backend: native(t)}
	res := must.Of(dca.Solve(context.Background(), scalar(3, 1, 2), s))(t)
	require.Equal(t, outcome.IterationLimit, res.Status)
	require.Equal(t, 3, res.Iterations)
	require.NotNil(t, res.Refit)

	ctx, cancel := context.WithCancel(context.Background())
	s.MaxIter = 50
	s.Observe = func(it *dca.Iteration, _, _ [][]float64) {
		if it.K == 2 {
			cancel()
		}
	}
	res = must.Of(dca.Solve(ctx, scalar(3, 1, 2), s))(t)
	require.Equal(t, outcome.Cancelled, res.Status)
	require.Equal(t, 2, res.Iterations)
	require.NotNil(t, res.Refit)

	res, err := dca.Solve(ctx, scalar(3, 1, 2), s) // cancelled before the start
	require.NoError(t, err)
	require.Equal(t, outcome.Cancelled, res.Status)
	require.Nil(t, res.Refit)
}

// A start at which the lower level has no feasible point is mended where the program has another: x >= 7 needs a radius
// of 7, where x = 7 is the nearest to the 1 of the validation.
func TestLowerLevelInfeasible(t *testing.T) {
	p := scalar(3, 1, 2)
	build := p.Build
	p.Build = func(m *convex.Model, h convex.Expr) dca.Level {
		l := build(m, h)
		m.Ge("", l.X[0], 7)
		return l
	}
	res := must.Of(dca.Solve(context.Background(), p, dca.Settings{Backend: native(t)}))(t)
	require.Equal(t, outcome.Converged, res.Status)
	require.InDelta(t, 7, res.Refit[0][0], 1e-6)
	p.Hi = []float64{5}
	res = must.Of(dca.Solve(context.Background(), p, dca.Settings{Backend: native(t)}))(t)
	require.Equal(t, dca.LowerInfeasible, res.Status)
	require.Contains(t, res.Message, "start")
}

func TestBadPrograms(t *testing.T) {
	good := scalar(3, 1, 2)
	for want, change := range map[string]func(*dca.Program, *dca.Settings){
		"no hyperparameters": func(p *dca.Program, _ *dca.Settings) { p.H0, p.Radii = nil, 0 },
		"Build is nil":       func(p *dca.Program, _ *dca.Settings) { p.Build = nil },
		"Radii is 2":         func(p *dca.Program, _ *dca.Settings) { p.Radii = 2 },
		"outside its bounds": func(p *dca.Program, _ *dca.Settings) { p.H0 = []float64{-1} },
		"Lo has length 2":    func(p *dca.Program, _ *dca.Settings) { p.Lo = []float64{0, 0} },
		"radius is not neg":  func(p *dca.Program, _ *dca.Settings) { p.Lo = []float64{-1} },
		"H0[0] is NaN":       func(p *dca.Program, _ *dca.Settings) { p.H0 = []float64{math.NaN()} },
		"Tol is -1":          func(_ *dca.Program, s *dca.Settings) { s.Tol = -1 },
		"Rho is NaN":         func(_ *dca.Program, s *dca.Settings) { s.Rho = math.NaN() },
		"Backend is nil":     func(_ *dca.Program, s *dca.Settings) { s.Backend = nil },
		"no lower-level var": func(p *dca.Program, _ *dca.Settings) {
			p.Build = func(*convex.Model, convex.Expr) dca.Level { return dca.Level{} }
		},
	} {
		p, s := good, dca.Settings{Backend: native(t)}
		change(&p, &s)
		_, err := dca.Solve(context.Background(), p, s)
		require.ErrorContains(t, err, want)
	}
}

// Points of a path after the validation value has risen are left out, part by part, and the start is the same.
func TestPathRise(t *testing.T) {
	// The penalised solution is 3 - lambda, best at lambda = 2.
	run := func(rise int) *dca.Result {
		p := scalar(3, 1, 2)
		p.Path, p.PathRise = [][]float64{{2.9}, {1.5}, {1}, {0.5}, {0.25}, {2.5}, {1.9}, {1}, {0.5}, {0.25}}, rise
		res, err := dca.Solve(context.Background(), p, dca.Settings{Backend: native(t), PathStart: true, MaxIter: 1})
		require.NoError(t, err)
		require.Equal(t, []float64{1.9}, res.StartWeights)
		return res
	}
	require.Less(t, run(1).Stats.Iterations, run(0).Stats.Iterations)
	require.InDelta(t, run(0).H[0], run(1).H[0], 1e-8)
}

// failing is a solver that gives up on some solves of the program with the fewest variables, which is the lower level.
type failing struct {
	backends.ConicBackend
	fails  func(solve int) bool
	solves int
	least  int
}

func (f *failing) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	s, err := f.ConicBackend.Setup(p, o)
	n := len(p.Q)
	if f.least == 0 || n < f.least {
		f.least = n
	}
	return &failingSolver{s, f, n}, err
}

type failingSolver struct {
	backends.Solver
	of *failing
	n  int
}

func (s *failingSolver) Solve(ctx context.Context) (*backends.Solution, error) {
	if s.n == s.of.least {
		if s.of.solves++; s.of.fails(s.of.solves) {
			return &backends.Solution{Status: backends.NumericalError}, nil
		}
	}
	return s.Solver.Solve(ctx)
}

// A step to where the lower level cannot be solved is not taken but shortened; where no step can be taken, the run ends
// and says so.
func TestLowerLevelFails(t *testing.T) {
	s := dca.Settings{Tol: 1e-6, GapTol: 1e-7, Agreement: 1, MaxIter: 100}
	for first := range 4 {
		backend := &failing{ConicBackend: native(t), fails: func(solve int) bool { return solve == first+2 }}
		s.Backend = backend
		r := must.Of(dca.Solve(context.Background(), scalar(3, 1, 2.5), s))(t)
		require.Equal(t, outcome.Converged, r.Status, "%d: %s", first, r.Message)
		require.InDelta(t, 1, r.H[0], 1e-4)
		require.Greater(t, backend.solves, first+2)
	}
	s.Backend = &failing{ConicBackend: native(t), fails: func(solve int) bool { return solve > 1 }}
	r := must.Of(dca.Solve(context.Background(), scalar(3, 1, 2.5), s))(t)
	require.Equal(t, outcome.NumericalError, r.Status)
	require.Contains(t, r.Message, "lower level after iteration 1: numerical_error")
	require.Zero(t, r.Iterations)
	require.InDelta(t, 2.5, r.H[0], 1e-9)
}
