package hypergradient

import (
	"context"
	"math"
	"slices"
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

// The approximation of the inverse Hessian solves a quadratic in as many exact steps as it has variables.
func TestQuasiNewtonOnAQuadratic(t *testing.T) {
	diagonal := []float64{1, 10, 100, 3}
	x, c := []float64{1, -2, 3, 4}, curvature{}
	gradient := func(x []float64) []float64 {
		g := slices.Clone(x)
		for i := range g {
			g[i] *= diagonal[i]
		}
		return g
	}
	for range len(x) {
		g := gradient(x)
		d := c.direction(g)
		var gd, dhd float64
		for i := range d {
			gd += g[i] * d[i]
			dhd += d[i] * d[i] * diagonal[i]
		}
		next := slices.Clone(x)
		for i := range next {
			next[i] -= gd / dhd * d[i]
		}
		c.add(subtract(next, x), subtract(gradient(next), g))
		x = next
	}
	for _, v := range x {
		require.InDelta(t, 0, v, 1e-9)
	}
}
