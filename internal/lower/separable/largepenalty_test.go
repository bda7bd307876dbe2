package separable_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/separable"
	"github.com/conetune/conetune/lower"
)

// With a large penalty beside a small rho radii are differences of numbers that are many times as large, and the
// objective counts alpha times their rounding: with the best ones for the coefficients that is a tenth, in the median.
// The objective is what the point has from the definition.
func TestLargePenalty(t *testing.T) {
	const rho, epsilon, tol = 1e-3, 0, 1e-9
	m := model{members: [][]int{{0, 1}, {2, 3}, {4, 5, 6}, {7}}}
	var gaps []float64
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 5))
		train, val := draw(rng, 30, 8), draw(rng, 20, 8)
		r := []float64{0.7, 0.3, 0.1, 0.05}
		c := &lower.Centre{R: r, Gamma: make([]float64, 4), Low: []float64{1e-6, 1e-6, 1e-6, 1e-6}, Rho: rho, Epsilon: epsilon, Tol: tol, Alpha: 4e4}
		for range r {
			c.High = append(c.High, math.Inf(1))
		}
		value, lambda, x := m.solveLower(t, train, r)
		for g, l := range lambda {
			c.Gamma[g] = math.Max(0, l)
		}
		c.Value, c.X = value, [][][]float64{x}
		got, err := separable.NewSubproblem([]*separable.Regression{m.data(t, train, val)}, 1).Solve(context.Background(), c)
		require.NoError(t, err)
		gaps = append(gaps, got.Gap)

		b, excess := got.X[0][0], m.loss(train, got.X[0][0])-value-epsilon
		want := m.loss(val, b)
		for j, v := range b {
			want += rho / 2 * (v - x[0][j]) * (v - x[0][j])
		}
		for g, v := range got.R {
			excess += c.Gamma[g] * (v - r[g])
			want += rho / 2 * (v - r[g]) * (v - r[g])
		}
		for g, group := range m.members {
			size := 0.0
			for _, j := range group {
				size = math.Hypot(size, b[j])
			}
			excess = math.Max(excess, size-got.R[g])
		}
		require.InDelta(t, want+c.Alpha*math.Max(0, excess), got.Objective, 10*tol, "seed %d", seed)
	}
	slices.Sort(gaps)
	require.LessOrEqual(t, gaps[len(gaps)/2], 1e-4)
}

// loss is half the mean of the squares.
func (m model) loss(s sample, b []float64) float64 {
	sum := 0.0
	for i, y := range s.y {
		r := mat.Dot(s.x.RowView(i), mat.NewVecDense(len(b), b)) - y
		sum += r * r
	}
	return sum / (2 * float64(len(s.y)))
}
