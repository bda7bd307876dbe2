package dca_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
)

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
