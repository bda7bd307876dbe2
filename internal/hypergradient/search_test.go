package hypergradient

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems/dataset"
)

var methods = []struct {
	name string
	run  func(context.Context, lower.Fit, Settings) (*Result, error)
}{
	{"IGJO", IGJO}, {"IFDM", IFDM}, {"HOAG", HOAG},
}

// generated are training and validation rows of the paper's elastic net.
func generated(t testing.TB, shape string, seed uint64) (train, val fits.Rows) {
	c := must.Of(dataset.Preset(shape))(t)
	s := must.First(dataset.Generate(c, seed))(t)
	return fits.NewRows(s.Train.X, s.Train.Y), fits.NewRows(s.Val.X, s.Val.Y)
}

// A dense scan of the lasso's one hyperparameter knows the least validation loss.
func TestLassoAgainstScan(t *testing.T) {
	train, val := generated(t, "80-60-0-p120", 3)
	m, err := fits.Lasso(train, val, false, sparse.Terms{})
	require.NoError(t, err)
	least := math.Inf(1)
	var last *lower.Point
	for i := range 3000 {
		last, err = m.Solve(context.Background(), []float64{m.LambdaMax() * math.Exp(-7*float64(i)/3000)}, 1e-10, last)
		require.NoError(t, err)
		least = min(least, last.Validation)
	}
	for _, method := range methods {
		r := must.Of(method.run(context.Background(), m, Settings{}))(t)
		require.Less(t, r.Best.Validation, least*(1+1e-4), method.name)
		require.Contains(t, []Status{Stationary, IterationLimit}, r.Status)
	}
}

// A result is a lower-level solution, no worse than any that was observed, and than a grid for the elastic net.
func TestElasticNetAgainstGrid(t *testing.T) {
	train, val := generated(t, "100-100-0-p150", 2)
	m := must.Of(fits.ElasticNet(train, val, true, sparse.Terms{}))(t)
	grid := math.Inf(1)
	for i := range 10 {
		var last *lower.Point
		for k := range 10 {
			at := []float64{m.LambdaMax() * math.Pow(10, -3*float64(i+1)/10), m.LambdaMax() * math.Pow(10, -3*float64(k)/10)}
			last = must.Of(m.Solve(context.Background(), at, 1e-10, last))(t)
			grid = min(grid, last.Validation)
		}
	}
	for _, method := range methods {
		best, solves := math.Inf(1), 0
		r := must.Of(method.run(context.Background(), m, Settings{Observe: func(k int, at *lower.Point) {
			solves++
			require.Equal(t, solves, k)
			if at.Gap <= 1e-10 {
				best = min(best, at.Validation)
			}
		}}))(t)
		require.Equal(t, solves, r.Solves, method.name)
		require.LessOrEqual(t, r.Best.Validation, best)
		require.LessOrEqual(t, r.Best.Gap, 1e-10)
		require.Less(t, r.Best.Validation, grid*1.01, method.name)
		again := must.Of(m.Solve(context.Background(), r.Best.Lambda, 1e-12, nil))(t)
		require.InEpsilon(t, again.Validation, r.Best.Validation, 1e-4)
	}
}

func TestSameBytes(t *testing.T) {
	train, val := generated(t, "60-40-0-p90", 8)
	for _, method := range methods {
		var traces [2][]float64
		for i := range traces {
			m := must.Of(fits.NewWeightedLasso(train, val, false))(t)
			r := must.Of(method.run(context.Background(), m, Settings{MaxIter: 8, Observe: func(_ int, at *lower.Point) {
				traces[i] = append(append(traces[i], at.Validation), at.X[0]...)
			}}))(t)
			traces[i] = append(traces[i], r.Best.Lambda...)
		}
		require.Equal(t, traces[0], traces[1], method.name)
	}
}

func TestCancelledAndBadStart(t *testing.T) {
	train, val := generated(t, "60-40-0-p90", 8)
	m := must.Of(fits.ElasticNet(train, val, false, sparse.Terms{}))(t)
	for _, method := range methods {
		ctx, cancel := context.WithCancel(context.Background())
		r := must.Of(method.run(ctx, m, Settings{Observe: func(k int, _ *lower.Point) {
			if k == 3 {
				cancel()
			}
		}}))(t)
		require.Equal(t, Cancelled, r.Status)
		require.Equal(t, 3, r.Solves)
		require.NotNil(t, r.Best)
		_, err := method.run(context.Background(), m, Settings{Start: []float64{1, 1, 1}})
		require.ErrorContains(t, err, "3 hyperparameters")
	}
	none := must.Of(fits.Lasso(fits.Rows{X: train.X, Y: make([]float64, 60)}, val, true, sparse.Terms{}))(t)
	_, err := IGJO(context.Background(), none, Settings{})
	require.ErrorContains(t, err, "do not depend")
}

// plane has the validation loss 1 + (lambda_0 - 3)^2 + (lambda_1 - 2)^2.
type plane struct{ parabola }

func (plane) Dim() int          { return 2 }
func (plane) Path() [][]float64 { return [][]float64{{0.5, 2}, {1, 1}} }

func (m plane) Solve(_ context.Context, lambda []float64, _ float64, _ *lower.Point) (*lower.Point, error) {
	d, e := lambda[0]-3, lambda[1]-2
	return &lower.Point{Lambda: lambda, Validation: 1 + d*d + e*e, Solved: true}, nil
}

func (m plane) Traits() lower.Traits {
	return lower.Traits{Path: m.Path, Gradient: m.Gradient}
}

func (plane) Gradient(_ context.Context, at *lower.Point, _ lower.Mode, _ float64) ([]float64, error) {
	return []float64{2 * (at.Lambda[0] - 3), 2 * (at.Lambda[1] - 2)}, nil
}

// The least value where lambda_0 + lambda_1 <= 3 is at (2, 1), and is found by projected steps from either side.
func TestProject(t *testing.T) {
	project := func(_ context.Context, h, from []float64) error {
		if over := h[0] + h[1] - 3; over > 0 { // the least sum of ((h - t) / from)^2 with sum t = 3
			for j, v := range from {
				h[j] -= over * v * v / (from[0]*from[0] + from[1]*from[1])
			}
			if least := math.Min(h[0], h[1]); least < 0.1 {
				h[0], h[1] = math.Max(0.1, math.Min(2.9, h[0])), math.Max(0.1, math.Min(2.9, h[1]))
			}
		}
		return nil
	}
	for _, method := range methods {
		for _, start := range [][]float64{nil, {0.1, 0.2}, {50, 1}} {
			r := must.Of(method.run(t.Context(), plane{}, Settings{Project: project, Start: start, Tol: 1e-10,
				Observe: func(_ int, at *lower.Point) { require.LessOrEqual(t, at.Lambda[0]+at.Lambda[1], 3+1e-9) }}))(t)
			require.InDelta(t, 3, r.Best.Validation, 1e-4, "%s from %v: %v", method.name, start, r.Best.Lambda)
		}
	}
	failed := errors.New("failed")
	for _, method := range methods {
		_, err := method.run(t.Context(), plane{},
			Settings{Project: func(_ context.Context, _, _ []float64) error { return failed }})
		require.ErrorIs(t, err, failed)
	}
}
