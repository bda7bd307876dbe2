package tune

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// On a quadratic of the logarithms the search ends within a thousandth of its least value, scores no weights twice and ends sooner the flatter the function is.
func TestCompass(t *testing.T) {
	trials := map[float64]int{}
	for _, bend := range []float64{1e-5, 1e-2, 1} {
		seen := map[[2]float64]bool{}
		f := func(l []float64) float64 {
			u, v := math.Log(l[0]/0.3), math.Log(l[1]/0.7)
			return 1 + bend*(u*u+v*v+u*v)
		}
		c := compass{ctx: context.Background(), at: func(_ context.Context, l []float64) (Trial, error) {
			key := [2]float64{float64(float32(l[0])), float64(float32(l[1]))}
			require.False(t, seen[key], "%v twice", l)
			seen[key] = true
			return Trial{X: [][]float64{{0}}, Lambda: l, Errors: &Errors{Validation: f(l)}}, nil
		}}
		require.NoError(t, c.try([]float64{1, 1}))
		require.NoError(t, c.search())
		require.Less(t, c.best.Errors.Validation, 1.001)
		require.Less(t, c.trials, compassTrials)
		trials[bend] = c.trials
	}
	require.Less(t, trials[1e-5], trials[1e-2])
	require.Less(t, trials[1e-5], trials[1])
}

// A minimum with one weight alone, far from the better one of the start and behind a ridge, is found.
func TestCompassAlone(t *testing.T) {
	f := func(l []float64) float64 {
		near := func(u, v float64) float64 {
			a, b := math.Log(l[0]/u), math.Log(l[1]/v)
			return a*a + b*b
		}
		return 1 - 0.3*math.Exp(-near(0.1, 1e-3)/4) - 0.5*math.Exp(-near(1e-4, 2)/8)
	}
	for _, swap := range []bool{false, true} {
		c := compass{ctx: context.Background(), at: func(_ context.Context, l []float64) (Trial, error) {
			at := l
			if swap {
				at = []float64{l[1], l[0]}
			}
			return Trial{X: [][]float64{{0}}, Lambda: l, Errors: &Errors{Validation: f(at)}}, nil
		}}
		start := []float64{0.1, 0.05}
		if swap {
			start = []float64{0.05, 0.1}
		}
		require.NoError(t, c.try(start))
		require.NoError(t, c.search())
		require.Less(t, c.best.Errors.Validation, 0.51)
		require.LessOrEqual(t, c.trials, compassTrials)
	}
}

// A list goes on where errors are flat, or rise, before they fall, within the range in common, and below it ends with the first point that is no better; where they have fallen and
// are far above the least again it ends at once.
func TestListGoesOn(t *testing.T) {
	run := func(common float64, errors map[float64]float64) compass {
		c := compass{ctx: context.Background(), at: func(_ context.Context, l []float64) (Trial, error) {
			return Trial{X: [][]float64{{0}}, Lambda: l, Errors: &Errors{Validation: errors[l[0]]}}, nil
		}}
		list := weightList{rise: 1, gain: 1e-3, common: common}
		for _, l := range []float64{1, 0.1, 1e-2, 1e-3, 1e-4, 1e-5} {
			list.points = append(list.points, []float64{l})
		}
		require.NoError(t, c.through(&list))
		return c
	}
	late := map[float64]float64{1: 0.69, 0.1: 0.69, 1e-2: 0.72, 1e-3: 0.3, 1e-4: 0.4, 1e-5: 0.1}
	c := run(1e-3, late)
	require.Equal(t, 0.3, c.best.Errors.Validation)
	require.Len(t, c.tried, 5)
	c = run(0, late)
	require.Equal(t, 0.69, c.best.Errors.Validation)
	require.Len(t, c.tried, 2)
	for again, tried := range map[float64]int{0.4: 4, 0.5: 3} {
		c = run(1e-3, map[float64]float64{1: 0.69, 0.1: 0.4, 1e-2: again, 1e-3: 0.6, 1e-4: 0.7, 1e-5: 0.1})
		require.Equal(t, 0.4, c.best.Errors.Validation)
		require.Len(t, c.tried, tried)
	}
}
