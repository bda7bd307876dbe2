package backendtest

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
)

func generalizedPowerCases() []Case {
	w := []float64{0.2, 0.5, 0.3}
	mean := 1.0 // of x = w, where the weighted mean of x with the sum 1 is largest
	for _, v := range w {
		mean *= math.Pow(v, v)
	}
	quarters := []float64{0.25, 0.25, 0.25, 0.25}
	// q'x and the sum of the first k variables, which are 1, over all of them in the cone
	onSimplex := func(k int, q []float64, c backends.Cone) *backends.Problem {
		n := len(q)
		rows := [][]float64{make([]float64, n)}
		for j := range n {
			row := make([]float64, n)
			row[j] = -1
			if rows = append(rows, row); j < k {
				rows[0][j] = 1
			}
		}
		return &backends.Problem{Q: q, A: matrix(n, rows...), B: append([]float64{1}, make([]float64, n)...), Cones: []backends.Cone{backends.Zero(1), c}}
	}
	own, dual := []float64{0.2, 0.5, 0.3, -0.6, -0.8}, []float64{1, 1, 1, -0.6, -0.8}
	return []Case{
		optimal("generalized power/geometric mean", "that of four numbers of sum 1 is largest where they are equal", -0.25,
			onSimplex(4, []float64{0, 0, 0, 0, -1}, backends.GeneralizedPower(quarters, 1)),
			[]float64{0.25, 0.25, 0.25, 0.25, 0.25}, []float64{0.25, 0.25, 0.25, 0.25, 0.25, -1}),
		optimal("generalized power/weighted mean", "3y + 4z with |(y, z)| below the mean, which is largest at x = w", -5*mean,
			onSimplex(3, []float64{0, 0, 0, -3, -4}, backends.GeneralizedPower(w, 2)),
			[]float64{0.2, 0.5, 0.3, 0.6 * mean, 0.8 * mean}, []float64{5 * mean, 5 * mean, 5 * mean, 5 * mean, -3, -4}),
		optimal("dual generalized power/weighted mean", "prod (x_i/w_i)^w_i is 1 at x = w, where it is largest", -5,
			onSimplex(3, []float64{0, 0, 0, -3, -4}, backends.DualGeneralizedPower(w, 2)),
			[]float64{0.2, 0.5, 0.3, 0.6, 0.8}, []float64{5, 5, 5, 5, -3, -4}),
		infeasible("generalized power", "the mean of ones is below |(1.2, 1.6)| = 2", fixed([]float64{1, 1, 1, 1.2, 1.6}, backends.GeneralizedPower(w, 2)),
			slices.Concat(own, own)),
		infeasible("dual generalized power", "prod (w_i/w_i)^w_i is below |(1.2, 1.6)| = 2", fixed([]float64{0.2, 0.5, 0.3, 1.2, 1.6}, backends.DualGeneralizedPower(w, 2)),
			slices.Concat(dual, dual)),
		unbounded("generalized power", "the first entry grows from any point of the cone",
			self([]float64{-1, 0, 0, 0, 0}, backends.GeneralizedPower(w, 2)),
			[]float64{1, 0, 0, 0, 0}),
		unbounded("dual generalized power", "the norm grows with the others",
			self([]float64{0.1, 0.1, 0.1, -1, 0}, backends.DualGeneralizedPower(w, 2)),
			[]float64{0.2 / 0.9, 0.5 / 0.9, 0.3 / 0.9, 1 / 0.9, 0}),
	}
}
