package dca_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
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
	preset := must.Of(dataset.Preset("100-20-250-p250"))(t)
	split := must.First(dataset.Generate(preset, 1))(t)
	m := must.Of(regression.ElasticNet(split, regression.Options{}))(t)
	fit := must.Of(m.Penalised())(t)
	p := m.Program()
	solve := func(never bool, memory int64) *dca.Result {
		p.Fit = hopeless{fit.(bilevel.Fit), never}
		s := m.DefaultSettings()
		s.Backend, s.Solver.Memory = ours(t), memory
		return must.Of(dca.Solve(context.Background(), p, s))(t)
	}
	require.Equal(t, outcome.Converged, solve(false, 0).Status)
	for _, never := range []bool{false, true} {
		out := solve(never, 100_000)
		require.Equal(t, outcome.NumericalError, out.Status)
		require.Contains(t, out.Message, "not solved by the fit, and the conic program in its place needs")
	}
	form := must.Of(dca.NewPenalized(p, dca.Settings{Backend: ours(t), Solver: backends.Options{Memory: 100_000}}))(t)
	defer form.Close()
	s := must.Of(form.Solve(context.Background(), []float64{0.1, 0.1}, nil))(t)
	require.Equal(t, backends.NumericalError, s.Status)
	require.Nil(t, s.X)
}

// ours is our own backend.
func ours(t *testing.T) backends.ConicBackend {
	return must.Of(backends.Open(backends.Default))(t)
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
		for _, s := range []dca.Settings{{Tol: 1e-6, GapTol: 1e-7, Agreement: 1},
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
	for _, s := range []dca.Settings{{Tol: 1e-6, MaxIter: 500}, {Tol: 1e-6, GapTol: 1e-7, Agreement: 1}} {
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
		"Settings.Agreement is +Inf, expected a finite":    {Agreement: math.Inf(1)},
		"Settings.Tol is NaN, expected a finite number th": {Tol: math.NaN()},
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
