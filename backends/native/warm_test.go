package native_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/must"
)

// TestWarmStartByX starts from the x of a problem nearby alone: the multipliers are found from the slacks, and with
// linear and second-order cones the solve is shorter than from nothing.
func TestWarmStartByX(t *testing.T) {
	for _, shape := range backendtest.Shapes() {
		if slices.ContainsFunc(shape.Cones, func(c backends.Cone) bool {
			return !c.Kind.Intervals() &&
				c.Kind != backends.SecondOrderCone
		}) || len(shape.Cones) == 0 {
			continue
		}
		for seed := range uint64(4) {
			c := backendtest.NewCase(shape, seed)
			s := opened(t, c.Problem)
			solve := func(start backends.Point, shift float64) *backends.Solution {
				near := slices.Clone(c.Problem.B)
				for i := range near {
					near[i] += shift * math.Abs(math.Sin(float64(i)))
				}
				require.NoError(t, s.Update(backends.Update{B: near}))
				require.NoError(t, s.WarmStart(start))
				sol := backendtest.Answer(t, s)
				require.Equal(t, backends.Optimal, sol.Status, "%s: %s", c.Name, sol.Message)
				return sol
			}
			x := backends.Point{X: solve(backends.Point{}, 0).X}
			for _, shift := range []float64{0, 1e-6, 1e-4} {
				cold, warm := solve(backends.Point{}, shift), solve(x, shift)
				assert.Empty(t, warm.Message)
				assert.InDelta(t, cold.Objective, warm.Objective, 1e-6*max(1, math.Abs(cold.Objective)), c.Name)
				if cold.Iterations > 0 {
					assert.Contains(t, cold.Message, "no x", "a point of nothing is told")
					assert.Less(t, warm.Iterations, cold.Iterations, "%s, b moved by %g", c.Name, shift)
				}
			}
		}
	}
}

// From the solution of a problem nearby a solve takes at most three tenths of the iterations that it takes from
// nothing, in sum over random problems of each shape, whatever the cones.
func TestWarmStartPays(t *testing.T) {
	for _, shape := range backendtest.Shapes() {
		if slices.ContainsFunc(shape.Cones, func(c backends.Cone) bool { return c.Kind == backends.NuclearNormCone }) {
			continue
		}
		cold, warm := 0, 0
		for seed := range uint64(4) {
			for _, shift := range []float64{1e-5, 1e-4, 1e-3} {
				p := backendtest.NewCase(shape, seed).Problem
				s, fresh := opened(t, p), opened(t, p)
				last := backendtest.Answer(t, s)
				near := backends.Update{Q: slices.Clone(p.Q), B: slices.Clone(p.B)}
				for _, v := range [2][]float64{near.Q, near.B} {
					for i := range v {
						v[i] += shift * math.Sin(float64(i+1))
					}
				}
				require.NoError(t, errors.Join(fresh.Update(near), s.Update(near)))
				require.NoError(t, s.WarmStart(backends.Point{X: last.X, S: last.S, Z: last.Z}))
				a, b := backendtest.Answer(t, fresh), backendtest.Answer(t, s)
				require.Equal(t, a.Status, b.Status, shape.Name)
				assert.InDelta(t, a.Objective, b.Objective, 1e-6*max(1, math.Abs(a.Objective)), shape.Name)
				cold, warm = cold+a.Iterations, warm+b.Iterations
			}
		}
		t.Logf("%s: %d of %d", shape.Name, warm, cold)
		assert.LessOrEqual(t, float64(warm), 0.3*float64(cold), shape.Name)
	}
}

// Model predictive control in closed loop: x+ = 0.95 x + Bu + noise, |u| <= 0.1, ten steps ahead, from the plan before
// for a state that is another. Bounds become active and inactive. A warm start takes at most three quarters of the
// iterations from nothing where the noise moves the whole plan, and a third where it is small; the plans are the same.
func TestWarmStartFollowsControl(t *testing.T) {
	const n, inputs, ahead, steps = 8, 4, 10, 30
	for noise, part := range map[float64]float64{0.02: 1. / 3, 0.3: 3. / 4} {
		rng := rand.New(rand.NewPCG(1, 2))
		move := make([]float64, n*inputs)
		for i := range move {
			move[i] = rng.NormFloat64()
		}
		entries, diagonal := backends.NewTriplets(0), backends.NewTriplets(0)
		const width, rows = n + inputs, ahead * (n + 2*inputs) // x_t and u_t for each t
		for t := range ahead {
			for i := range n {
				diagonal.Add(t*width+i, t*width+i, 1)
				entries.Add(t*n+i, t*width+i, 1)
				if t > 0 {
					entries.Add(t*n+i, (t-1)*width+i, -0.95)
				}
				for j := range inputs {
					entries.Add(t*n+i, t*width+n+j, -move[i*inputs+j])
				}
			}
			for j := range inputs {
				diagonal.Add(t*width+n+j, t*width+n+j, 0.1)
				entries.Add(ahead*n+2*(t*inputs+j), t*width+n+j, 1)
				entries.Add(ahead*n+2*(t*inputs+j)+1, t*width+n+j, -1)
			}
		}
		p := &backends.Problem{P: must.Of(diagonal.CSC(ahead*width, ahead*width))(t), Q: make([]float64, ahead*width),
			A: must.Of(entries.CSC(rows, ahead*width))(t), B: make([]float64, rows),
			Cones: []backends.Cone{backends.Zero(ahead * n), backends.Nonnegative(2 * ahead * inputs)}}
		for i := ahead * n; i < rows; i++ {
			p.B[i] = 0.1
		}
		cold, warm, state := opened(t, p), opened(t, p), make([]float64, n)
		var last *backends.Solution
		sum, all := 0, 0
		for range steps {
			b := slices.Clone(p.B)
			for i := range state {
				state[i] += noise * rng.NormFloat64()
				b[i] = 0.95 * state[i]
			}
			require.NoError(t, errors.Join(cold.Update(backends.Update{B: b}), warm.Update(backends.Update{B: b})))
			if last != nil {
				require.NoError(t, warm.WarmStart(backends.Point{X: last.X, S: last.S, Z: last.Z}))
			}
			from := backendtest.Answer(t, cold)
			last = backendtest.Answer(t, warm)
			require.Equal(t, backends.Optimal, last.Status)
			require.InDeltaSlice(t, from.X, last.X, 1e-5)
			sum, all = sum+last.Iterations, all+from.Iterations
			copy(state, last.X)
		}
		t.Logf("noise %g: %d of %d", noise, sum, all)
		assert.LessOrEqual(t, float64(sum), part*float64(all), "noise %g", noise)
	}
}

// A point whose residuals and products are 0, but whose s is outside, is a warm start as others: min 0, x >= 1, y >= 0
// from x = 0.999 and y = 0, where a mu of 0 has no s and z.
func TestWarmStartOutside(t *testing.T) {
	p := &backends.Problem{Q: []float64{0, 0}, B: []float64{-1, 0}, Cones: []backends.Cone{backends.Nonnegative(2)},
		A: sparse.NewCSC(2, 2, []int{0, 1, 2}, []int{0, 1}, []float64{-1, -1})}
	s := opened(t, p)
	require.NoError(t, s.WarmStart(backends.Point{X: []float64{0.999, 0}, S: []float64{-0.001, 0}, Z: []float64{0, 0}}))
	sol := backendtest.Answer(t, s)
	require.Equal(t, backends.Optimal, sol.Status)
	require.Empty(t, sol.Message)
	require.False(t, sol.Fresh, "begun anew")
}

// Warm starts of matrices beyond the order of which eigenvectors are computed take at most half of the iterations, too.
func TestWarmStartOfLargeMatrices(t *testing.T) {
	const n = 120
	p := beside(n)
	cold, warm := opened(t, p), opened(t, p)
	last := backendtest.Answer(t, warm)
	near := slices.Clone(p.B)
	for i := range near {
		near[i] += 1e-3 / n * math.Sin(float64(i+1))
	}
	require.NoError(t, errors.Join(cold.Update(backends.Update{B: near}), warm.Update(backends.Update{B: near})))
	require.NoError(t, warm.WarmStart(backends.Point{X: last.X, S: last.S, Z: last.Z}))
	a, b := backendtest.Answer(t, cold), backendtest.Answer(t, warm)
	require.Equal(t, backends.Optimal, b.Status)
	assert.InDelta(t, a.Objective, b.Objective, 1e-6)
	assert.LessOrEqual(t, 2*b.Iterations, a.Iterations)
}
