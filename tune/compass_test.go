package tune

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
)

// On a quadratic of the logarithms the search ends within a thousandth of its least value, scores no weights twice and
// ends sooner the flatter the function is.
func TestCompass(t *testing.T) {
	trials := map[float64]int{}
	for _, bend := range []float64{1e-5, 1e-2, 1} {
		seen := map[[2]float64]bool{}
		f := func(l []float64) float64 {
			u, v := math.Log(l[0]/0.3), math.Log(l[1]/0.7)
			return 1 + bend*(u*u+v*v+u*v)
		}
		c := compass{ctx: context.Background(), at: func(_ context.Context, l []float64) (trial, error) {
			key := [2]float64{float64(float32(l[0])), float64(float32(l[1]))}
			require.False(t, seen[key], "%v twice", l)
			seen[key] = true
			return trial{X: [][]float64{{0}}, Lambda: l, Errors: &problems.Errors{Validation: f(l)}}, nil
		}}
		must.Of(c.score([]float64{4, 1}))(t)
		require.NoError(t, c.search())
		require.Less(t, c.best.Errors.Validation, 1.001)
		require.Less(t, c.trials, compassTrials)
		trials[bend] = c.trials
	}
	require.Less(t, trials[1e-5], trials[1e-2])
	require.Less(t, trials[1e-5], trials[1])
}

// A path ends where the errors of the folds have risen by more than chance, or no longer fall, and goes on where they
// differ by chance or rise for a while.
func TestPathEnds(t *testing.T) {
	const points = 200
	run := func(fold func(k, t int) float64) int {
		c := compass{ctx: context.Background(), fallen: func(float64) {}, at: func(_ context.Context, l []float64) (trial,
			error) {
			k := int(math.Round(math.Log(l[0]) / math.Log(pathStep)))
			folds, mean := make([]float64, 10), 0.0
			for t := range folds {
				folds[t] = fold(k, t)
				mean += folds[t] / 10
			}
			return trial{X: [][]float64{{0}}, Lambda: l, Errors: &problems.Errors{Validation: mean}, folds: folds}, nil
		}}
		var list [][]float64
		for k := range points {
			list = append(list, []float64{math.Pow(pathStep, float64(k))})
		}
		require.NoError(t, c.descend(list, &paths{lines: [][][]float64{list}, ends: true}))
		return len(c.tried)
	}
	valley := func(k int) float64 { return 1 + 1e-2*math.Pow(float64(k-20), 2) }
	require.Equal(t, 22, run(func(k, _ int) float64 { return valley(k) }), "a point above the least in all folds")
	chance := func(k, t int) float64 { return valley(k) + math.Sin(float64(k*(t+1))) }
	require.Less(t, run(chance), points/2)
	require.Equal(t, points, run(func(k, _ int) float64 { return math.Exp(-float64(k) / 40) }), "it falls all the way")
	require.Less(t, run(func(k, _ int) float64 { return 1 + math.Exp(-float64(k)/4) }), 50, "it falls no more")
	require.Greater(t, run(func(k, t int) float64 {
		return 1 - math.Max(0, float64(k-6)/100) + math.Cos(math.Pi*float64(k+t))/50
	}), 80, "it falls late")
}

// Between points of a path, the least of curves with kinks and of two valleys is found to a thousandth of what a fine
// grid has, in few more points.
func TestRefine(t *testing.T) {
	for name, f := range map[string]func(u float64) float64{
		"parabola":    func(u float64) float64 { return 1 + 0.1*(u-1.13)*(u-1.13) },
		"kink":        func(u float64) float64 { return 1 + 0.3*math.Max(1.13-u, 0) + 0.02*math.Max(u-1.13, 0) },
		"two valleys": func(u float64) float64 { return 1 + 0.05*math.Cos(2*math.Pi*u/2.5) + 0.01*(u-1.13)*(u-1.13) },
		"flat":        func(float64) float64 { return 1 },
	} {
		c := compass{ctx: context.Background(), at: func(_ context.Context, l []float64) (trial, error) {
			return trial{X: [][]float64{{0}}, Lambda: l, Errors: &problems.Errors{Validation: f(-math.Log(l[0]))}}, nil
		}}
		for k := range 10 {
			must.Of(c.score([]float64{math.Pow(pathStep, float64(k))}))(t)
		}
		least := math.Inf(1)
		for k := range 1000 {
			least = math.Min(least, f(9*-math.Log(pathStep)*float64(k)/999))
		}
		c.rival = &trial{Errors: &problems.Errors{Validation: least / 2}}
		require.NoError(t, c.refine(c.point))
		require.Zero(t, c.trials, "what cannot be the best of a rung is left as it is")
		c.rival = nil
		require.NoError(t, c.refine(c.point))
		require.Less(t, c.best.value(), least*1.001, name)
		require.LessOrEqual(t, c.trials, 25, name)
	}
}
