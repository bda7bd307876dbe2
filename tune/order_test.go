package tune

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/indices"
)

// A snake passes every point of the grid once, in steps of one along one axis.
func TestSnake(t *testing.T) {
	for _, grid := range []struct{ k, axes int }{{1, 1}, {5, 1}, {1, 3}, {4, 2}, {3, 3}, {2, 5}} {
		order := snake(grid.k, grid.axes)
		require.Zero(t, order[0])
		sorted := slices.Sorted(slices.Values(order))
		require.Equal(t, indices.Range(0, int(power(grid.k, grid.axes))), sorted)
		for n := 1; n < len(order); n++ {
			a, b, steps := order[n-1], order[n], 0
			for range grid.axes {
				d := a%grid.k - b%grid.k
				steps += d * d
				a, b = a/grid.k, b/grid.k
			}
			require.Equal(t, 1, steps)
		}
	}
}

// A tour is a permutation that always goes to the nearest point left.
func TestTour(t *testing.T) {
	units := [][]float64{{0.1, 0.1}, {0.9, 0.8}, {0.2, 0.1}, {0.9, 0.1}, {0.5, 0.5}}
	block := []int{0, 1, 2, 3, 4}
	tour(block, units)
	require.Equal(t, 1, block[0])
	require.Equal(t, indices.Range(0, 5), slices.Sorted(slices.Values(block)))
	for n := range len(block) - 1 {
		step := floats.Distance(units[block[n]], units[block[n+1]], 2)
		for _, later := range block[n+1:] {
			require.LessOrEqual(t, step, floats.Distance(units[block[n]], units[later], 2))
		}
	}
}

func TestPerAxis(t *testing.T) {
	for _, c := range []struct{ n, axes, want int }{{100, 2, 10}, {99, 2, 9}, {125, 3, 5}, {1000, 3, 10}, {7, 1, 7},
		{1, 4, 1}, {16, 4, 2}} {
		k, err := perAxis(c.n, c.axes)
		require.NoError(t, err)
		require.Equal(t, c.want, k)
	}
	_, err := perAxis(100, 31)
	require.ErrorContains(t, err, "31 axes")
}

func TestKindName(t *testing.T) {
	for want, names := range map[string][]string{
		"wbar":    {"wbar_x1", "wbar_x2", "wbar_x10"},
		"group":   {"group0", "group1", "group10"},
		"lambda3": {"x1", "x2"},
		"price":   {"price-a", "price-b"},
	} {
		all := make([]int, len(names))
		for i := range all {
			all[i] = i
		}
		require.Equal(t, want, kindName(2, all, func(j int) string { return names[j] }, false))
	}
	require.Equal(t, "u", kindName(0, []int{0, 1}, func(j int) string { return []string{"a", "b"}[j] }, true))
}

func TestMirror(t *testing.T) {
	for v, want := range map[float64]float64{0.3: 0.3, -0.2: 0.2, 1.25: 0.75, 2.5: 0.5, -1.5: 0.5, 1: 1} {
		require.InDelta(t, want, mirror(v), 1e-15)
	}
	require.False(t, math.IsNaN(mirror(1e300)))
}

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
			return trial{X: [][]float64{{0}}, Lambda: l, Errors: &Errors{Validation: f(l)}}, nil
		}}
		_, err := c.score([]float64{4, 1})
		require.NoError(t, err)
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
			return trial{X: [][]float64{{0}}, Lambda: l, Errors: &Errors{Validation: mean}, folds: folds}, nil
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
			return trial{X: [][]float64{{0}}, Lambda: l, Errors: &Errors{Validation: f(-math.Log(l[0]))}}, nil
		}}
		for k := range 10 {
			_, err := c.score([]float64{math.Pow(pathStep, float64(k))})
			require.NoError(t, err)
		}
		least := math.Inf(1)
		for k := range 1000 {
			least = math.Min(least, f(9*-math.Log(pathStep)*float64(k)/999))
		}
		require.NoError(t, c.refine(c.point))
		require.Less(t, c.best.value(), least*1.001, name)
		require.LessOrEqual(t, c.trials, 25, name)
	}
}
