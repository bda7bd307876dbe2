package tune

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/must"
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
		k := must.Of(perAxis(c.n, c.axes))(t)
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
