package dca_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// hopeless is a fit that solves neither program of an iteration, nor penalty forms where that is set.
type hopeless struct {
	bilevel.Fit
	never bool
}

func (h hopeless) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	pt, err := h.Fit.Solve(ctx, lambda, tol, start)
	if h.never && err == nil {
		pt.Solved = false
	}
	return pt, err
}

func (h hopeless) Traits() lower.Traits {
	t := h.Fit.Traits()
	t.Parts = []lower.Fit{h}
	return t
}

func (hopeless) Within() bilevel.WithinSolver { return unsolved{} }

func (hopeless) Subproblem([]bilevel.Fit, int) bilevel.Subproblem {
	return func(context.Context, *bilevel.Centre) (*bilevel.Subsolution, error) {
		return &bilevel.Subsolution{Gap: math.Inf(1)}, nil
	}
}

type unsolved struct{}

func (unsolved) Begin(context.Context, []float64, [][]float64) error { return nil }

func (unsolved) Solve(context.Context, []float64, float64) (*bilevel.Within, error) {
	return &bilevel.Within{Gap: math.Inf(1)}, nil
}

// What fits do not solve is left to conic programs, and where these would take too much memory, the status and the
// message say so.
func TestConicProgramsInThePlaceOfFits(t *testing.T) {
	preset := must.Of(dataset.InSets.Preset("100-20-250-p250"))(t)
	split := must.First(dataset.Generate(preset, 1))(t)
	m := must.Of(regression.ElasticNet(split, regression.Options{}))(t)
	fit := must.Of(m.Penalised())(t)
	p := m.Program()
	solve := func(never bool, memory int64) *dca.Result {
		p.Fit = hopeless{fit.(bilevel.Fit), never}
		s := m.DefaultSettings()
		s.Backend, s.Solver.Memory = native(t), memory
		return must.Of(dca.Solve(context.Background(), p, s))(t)
	}
	require.Equal(t, outcome.Converged, solve(false, 0).Status)
	for _, never := range []bool{false, true} {
		out := solve(never, 100_000)
		require.Equal(t, outcome.NumericalError, out.Status)
		require.Contains(t, out.Message, "not solved by the fit, and the conic program in its place needs")
	}
	form := must.Of(dca.NewPenalized(p, dca.Settings{Backend: native(t), Solver: backends.Options{Memory: 100_000}}))(t)
	defer form.Close()
	s := must.Of(form.Solve(context.Background(), []float64{0.1, 0.1}, nil))(t)
	require.Equal(t, backends.NumericalError, s.Status)
	require.Nil(t, s.X)
}

// broken is the fit of a [scalar] with a = 3 and b = 1, of an entry that is not a number.
type broken struct{ bad float64 }

func (broken) Dim() int           { return 1 }
func (broken) LambdaMax() float64 { return 1 }
func (broken) Shape() []int       { return []int{1} }

func (broken) Values(x [][]float64) bilevel.Values {
	v := x[0][0]
	return bilevel.Values{Validation: (v - 1) * (v - 1) / 2, Train: (v - 3) * (v - 3) / 2,
		Penalties: []float64{math.Abs(v)}}
}

func (b broken) Solve(context.Context, []float64, float64, *lower.Point) (*lower.Point, error) {
	return &lower.Point{X: [][]float64{{b.bad}}, Solved: true}, nil
}

func (b broken) Traits() lower.Traits         { return lower.Traits{Parts: []lower.Fit{b}} }
func (b broken) Within() bilevel.WithinSolver { return brokenWithin(b) }

func (broken) Subproblem(parts []bilevel.Fit, workers int) bilevel.Subproblem {
	return hopeless{}.Subproblem(parts, workers)
}

// brokenWithin has a multiplier that is not a number.
type brokenWithin struct{ bad float64 }

func (brokenWithin) Begin(context.Context, []float64, [][]float64) error { return nil }

func (b brokenWithin) Solve(_ context.Context, radii []float64, _ float64) (*bilevel.Within, error) {
	return &bilevel.Within{X: [][]float64{{radii[0]}}, Lambda: []float64{b.bad}, Loss: 0.5, Solved: true}, nil
}

// A direct lower level that gives no numbers is left for the conic program, whose answer is x = 1.
func TestDirectSolutionsThatAreNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		p := scalar(3, 1, 2)
		p.Fit = broken{bad}
		for _, s := range []dca.Settings{{Tol: 1e-6, GapTol: 1e-7},
			{Tol: 1e-6, MaxIter: 500, PathStart: true}} {
			s.Backend = native(t)
			r := must.Of(dca.Solve(context.Background(), p, s))(t)
			require.Equal(t, outcome.Converged, r.Status)
			require.InDelta(t, 1, r.Refit[0][0], 2e-3)
			require.InDelta(t, 2, r.Lambda[0], 2e-3)
		}
	}
}

// A validation loss that overflows is met at the start, before the conic solver could know.
func TestValidationThatOverflows(t *testing.T) {
	p := scalar(3, 1, 2)
	build := p.Build
	p.Build = func(m *convex.Model, h convex.Expr) dca.Level {
		l := build(m, h)
		l.Validation = convex.Scale(1e-300, convex.SumSquares(convex.Sub(convex.Scale(1e150, l.X[0]), 1e160)))
		return l
	}
	for _, s := range []dca.Settings{{}, {GapTol: 1e-4}, {PathStart: true}} {
		s.Backend = native(t)
		r, err := dca.Solve(context.Background(), p, s)
		if err != nil {
			continue // refused with the program
		}
		require.Equal(t, outcome.NumericalError, r.Status)
		require.Zero(t, r.Iterations)
	}
}

// Accept ends a run at the point before the one that it refuses.
func TestAccept(t *testing.T) {
	for _, s := range []dca.Settings{{Tol: 1e-6, MaxIter: 500}, {Tol: 1e-6, GapTol: 1e-7}} {
		s.Backend = native(t)
		for last := range 3 {
			seen, observed := -1, 0
			var x, refit float64
			s.Accept = func(at, solution [][]float64) bool {
				if seen == last {
					return false
				}
				seen++
				x, refit = at[0][0], solution[0][0]
				return true
			}
			s.Observe = func(*dca.Iteration, [][]float64, [][]float64) { observed++ }
			r := must.Of(dca.Solve(context.Background(), scalar(3, 1, 2), s))(t)
			require.Equal(t, outcome.NumericalError, r.Status)
			require.Equal(t, last, r.Iterations)
			require.Len(t, r.Trace, last)
			require.Equal(t, last, observed)
			require.Equal(t, x, r.X[0][0])
			require.Equal(t, refit, r.Refit[0][0])
		}
		s.Accept = func([][]float64, [][]float64) bool { return false }
		r := must.Of(dca.Solve(context.Background(), scalar(3, 1, 2), s))(t)
		require.Equal(t, outcome.NumericalError, r.Status)
		require.Nil(t, r.X)
		require.Nil(t, r.Refit)
	}
}

func TestSettingsBeyondTheirBounds(t *testing.T) {
	for want, s := range map[string]dca.Settings{
		"Settings.Rho is 1e+300, expected 1e-12 to 1e+12":  {Rho: 1e300},
		"Settings.Rho is 1e-300, expected 1e-12 to 1e+12":  {Rho: 1e-300},
		"Settings.Alpha0 is 1e+13":                         {Alpha0: 1e13},
		"Settings.CAlpha is 1e-13":                         {CAlpha: 1e-13},
		"Settings.Delta is 1e+13, expected 0 to 1e+12":     {Delta: 1e13},
		"Settings.Epsilon is 1e+100":                       {Epsilon: 1e100},
		"Settings.Tol is 1e+09, expected 0 to 1":           {Tol: 1e9},
		"Settings.GapTol is 2":                             {GapTol: 2},
		"Settings.GapTol is +Inf, expected a finite":       {GapTol: math.Inf(1)},
		"Settings.Tol is NaN, expected a finite number th": {Tol: math.NaN()},
		"Settings.Near is [1 2], expected 1 finite number": {Near: []float64{1, 2}},
	} {
		s.Backend = native(t)
		_, err := dca.Solve(context.Background(), scalar(3, 1, 2), s)
		require.ErrorContains(t, err, want)
	}
}

// shrunk are blocks of a point near others, with a radius for each coordinate and one for the sum of squares; no
// coordinate is above 1.
func shrunk(points ...[]float64) dca.Program {
	p := dca.Program{Name: "shrunk", H0: []float64{1, 2, 3}, Radii: 3, Path: [][]float64{{3, 2, 1}, {0.5}}}
	for _, point := range points {
		p.Blocks = append(p.Blocks, func(m *convex.Model, h convex.Expr) dca.Level {
			x := m.Vector("x", len(point))
			loss := convex.Scale(0.5/float64(len(points)), convex.SumSquares(convex.Sub(x, point)))
			return dca.Level{X: []*convex.Variable{x}, Train: loss, Validation: loss, Constraints: []convex.Expr{
				convex.Sub(convex.Abs(x), convex.Slice(h, 0, 2)), convex.Sub(x, 1),
				convex.Sub(convex.Scale(0.5, convex.SumSquares(x)), convex.At(h, 2)),
			}}
		})
	}
	return p
}

// The solution in penalty form is min(1, sign(a) max(0, |a| - w_1 f) / (1 + w_2 g)) in each block, a its point.
func TestTied(t *testing.T) {
	points := [][]float64{{1, -2}, {9, 0.5}}
	factors := [][][]float64{{{1, 0.5, 0}, {0, 0, 2}}, {{0.1, 4, 0}, {0, 0, 1}}}
	p := must.Of(shrunk(points...).Tied(factors))(t)
	require.Equal(t, []float64{0.5, 2}, p.H0)
	require.Equal(t, [][]float64{{6}, {1}}, p.Path)
	kinds := must.Of(p.Kinds())(t)
	require.Equal(t, [][]int{{0}, {1}}, kinds)
	form := must.Of(dca.NewPenalized(p, dca.Settings{Backend: native(t), Solver: backends.Options{Eps: 1e-10}}))(t)
	defer form.Close()
	for _, w := range [][]float64{{0.5, 0.25}, {0.1, 2}} {
		s := must.Of(form.Solve(context.Background(), w, nil))(t)
		var want []float64
		for b, point := range points {
			for i, a := range point {
				v := math.Copysign(math.Max(0, math.Abs(a)-w[0]*factors[b][0][i]), a) / (1 + w[1]*factors[b][1][2])
				want = append(want, math.Min(1, v))
			}
		}
		require.InDeltaSlice(t, want, slices.Concat(s.X...), 1e-6)
	}
	for b, x := range [][]float64{{3, -4}, {0, 1}} {
		p = shrunk(points...).Block(b)
		sizes := must.Of(p.Penalties([][]float64{x}, nil))(t)
		require.Equal(t, [][]float64{{3, 4, 12.5}, {0, 1, 0.5}}[b], sizes)
	}
}

func TestTiedMisuse(t *testing.T) {
	row := []float64{1, 1, 1}
	for want, of := range map[string][][][]float64{
		"factors of 1 blocks, expected 2":            {{row}},
		"block 1 has 2 rows":                         {{row}, {row, row}},
		"block 0 has 0 rows":                         {{}, {}},
		"block 0 has factors [1 1] in row 1":         {{row, {1, 1}}, {row, row}},
		"block 0 has factors [] in row 0":            {{nil}, {row}},
		"block 1 has factors [1 1 -1] in row 0":      {{row}, {{1, 1, -1}}},
		"block 0 has factors [NaN 1 1] in row 0":     {{{math.NaN(), 1, 1}}, {row}},
		"block 0 has factors [1 +Inf 1] in row 0":    {{{1, math.Inf(1), 1}}, {row}},
		"block 0 has factors [0 0 0] in row 1":       {{row, {0, 0, 0}}, {row, row}},
		"radius 1 has no positive factor in block 1": {{row}, {{1, 0, 1}}},
	} {
		_, err := shrunk([]float64{1, 2}, []float64{3, 4}).Tied(of)
		require.ErrorContains(t, err, "dca: shrunk: "+want)
	}
	p := shrunk([]float64{1, 2})
	p.Radii, p.Bounds = 2, 1
	_, err := p.Tied([][][]float64{{{1, 1}}})
	require.ErrorContains(t, err, "of 3 hyperparameters 2 are")
	p = shrunk([]float64{1, 2}, []float64{3, 4})
	whole := p.Blocks[0]
	p.Blocks[0] = func(m *convex.Model, h convex.Expr) dca.Level {
		l := whole(m, h)
		l.Constraints = l.Constraints[:2]
		return l
	}
	_, err = p.Tied([][][]float64{{row}, {row}})
	require.ErrorContains(t, err, "radius 2 is in no constraint")
}

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
		"accelerated": {Tol: 1e-6, GapTol: 1e-7},
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
	for _, s := range []dca.Settings{{Tol: 1e-5, MaxIter: 500}, {Tol: 1e-5, GapTol: 1e-6}} {
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
	s := dca.Settings{Tol: 1e-6, GapTol: 1e-7, MaxIter: 100}
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
