package native

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/planted"
	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
)

func solved(t *testing.T, p *backends.Problem) *backends.Solution {
	sol := solveChecked(t, p)
	require.Equal(t, backends.Optimal, sol.Status, sol.Message)
	return sol
}

// The largest prod x_i^w_i of numbers of sum 1 is prod w_i^w_i, at x = w.
func TestWeightedMeansOfMany(t *testing.T) {
	for _, k := range []int{1, 2, 10, 50, 200} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			w, sum, most := make([]float64, k), 0.0, 0.0
			for i := range w {
				w[i] = float64(1 + i*i%7)
				sum += w[i]
			}
			ptr, ind, val := []int{0}, []int{}, []float64{}
			entry := func(row int, v float64) { ind, val = append(ind, row), append(val, v) }
			for i := range w {
				w[i] /= sum
				most += w[i] * math.Log(w[i])
				entry(0, 1)
				entry(1+i, -1)
				ptr = append(ptr, len(ind))
			}
			entry(1+k, -1)
			p := &backends.Problem{
				Q: append(make([]float64, k), -1), A: sparse.NewCSC(2+k, k+1, append(ptr, len(ind)), ind, val),
				B:     append([]float64{1}, make([]float64, k+1)...),
				Cones: []backends.Cone{backends.Zero(1), backends.GeneralizedPower(w, 1)},
			}
			sol := solved(t, p)
			require.InDelta(t, -math.Exp(most), sol.Objective, 1e-7)
			require.InDeltaSlice(t, w, sol.X[:k], 1e-4)
		})
	}
}

// What backendtest draws is solved with many weights and long vectors under the norm, too.
func TestLargeGeneralizedPowers(t *testing.T) {
	weights := slices.Repeat([]float64{1. / 60, 2. / 60, 3. / 60}, 10)
	skew := []float64{1e-6, 0.3, 0.7 - 1e-6}
	for name, cones := range map[string][]backends.Cone{
		"many weights": {backends.GeneralizedPower(weights, 5), backends.DualGeneralizedPower(weights, 5)},
		"long vector":  {backends.GeneralizedPower([]float64{0.4, 0.6}, 100)},
		"tiny weight":  {backends.GeneralizedPower(skew, 2), backends.DualGeneralizedPower(skew, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{4, 40} {
				for seed := range uint64(8) {
					c := backendtest.NewCase(planted.Shape{Name: name, N: n, Rank: n - 4, Density: 0.8, Cones: cones}, seed)
					sol := solved(t, c.Problem)
					require.InDelta(t, c.Objective, sol.Objective, 1e-6*(1+math.Abs(c.Objective)))
					require.Less(t, sol.Iterations, 60)
				}
			}
		})
	}
}
