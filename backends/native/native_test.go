package native_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	_ "github.com/conetune/conetune/backends/native"
)

func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Open(t, "native"), backendtest.Options{Answers: 0.99})
}

// A solve with a loose tolerance can be tightened: both solves together take no
// more iterations than one, and end at the same point.
func TestSetEpsGoesOn(t *testing.T) {
	for name, p := range backendtest.Suite(backendtest.Open(t, "native")) {
		if !strings.HasSuffix(name, "seed 3") {
			continue
		}
		want := backendtest.Answer(t, opened(t, p))
		s, err := backendtest.Open(t, "native").Setup(p, backends.Options{Eps: 1e-2})
		require.NoError(t, err)
		first := backendtest.Answer(t, s)
		require.Equal(t, backends.Optimal, first.Status)
		require.NoError(t, s.(backends.Tightener).SetEps(1e-8))
		second := backendtest.Answer(t, s)
		require.Equal(t, backends.Optimal, second.Status)
		require.Equal(t, want.Iterations, first.Iterations+second.Iterations)
		require.Equal(t, want.X, second.X)
	}
}

// TestCancelDelay has a linear program whose iterations take some milliseconds.
func TestCancelDelay(t *testing.T) {
	if testing.Short() {
		t.Skip("a test of time, which the race detector distorts")
	}
	const n = 500
	c := backendtest.Shape{Name: "lp", N: n, Cones: []backends.Cone{backends.Nonnegative(2 * n)}, Density: 0.2,
		Vertex: true}.NewCase(1)
	assert.Less(t, backendtest.CancelDelay(t, opened(t, c.Problem)), 100*time.Millisecond)
}

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
			c := shape.NewCase(seed)
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

// The objective of max sum log x_i over the simplex, with the solution x_i = 1/n, is flat: points within the tolerance
// may be sqrt(1e-8) away. On the central path x_i = 1/n, and points near it are nearer, whatever the rounding: data
// that differ in the last places are as near.
func TestFlatOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for try := range 100 {
		n, near := 2+try%25, func() float64 { return 1 + 1e-14*(rng.Float64()-0.5) }
		entries := backends.NewTriplets(3 * n)
		p := &backends.Problem{Q: make([]float64, 2*n), B: make([]float64, 1+3*n), Cones: []backends.Cone{backends.Zero(1)}}
		p.B[0] = 1
		for i := range n { // maximise u_i with (u_i, 1, x_i) in the cone
			p.Q[i], p.B[2+3*i] = -near(), 1
			entries.Add(0, n+i, near())
			entries.Add(1+3*i, i, -1)
			entries.Add(3+3*i, n+i, -1)
			p.Cones = append(p.Cones, backends.Exponential())
		}
		var err error
		p.A, err = entries.CSC(1+3*n, 2*n)
		require.NoError(t, err)
		r := backendtest.Answer(t, opened(t, p))
		require.Equal(t, backends.Optimal, r.Status)
		for _, x := range r.X[n:] {
			if off := math.Abs(x - 1/float64(n)); off > 3e-6 {
				t.Errorf("n = %d: off by %.1e", n, off)
			}
		}
	}
}

// min sum t_i, |x_i| <= t_i, whose solution is zero: t is inside of its constraints, so that a program with this t in
// the place of the variable has a point. A residual of 4e-10 with slacks of 6e-11 made t negative.
func TestPointsKeepToConstraints(t *testing.T) {
	const n = 3
	program := func(fixed []float64) *backends.Problem {
		p := &backends.Problem{Q: []float64{1, 1, 1, 0, 0, 0}, B: make([]float64, 2*n),
			Cones: []backends.Cone{backends.Nonnegative(2 * n)}}
		entries := backends.NewTriplets(5 * n)
		for i := range n {
			entries.Add(i, i, -1)
			entries.Add(i, n+i, -1)
			entries.Add(n+i, i, -1)
			entries.Add(n+i, n+i, 1)
			if fixed != nil {
				entries.Add(2*n+i, i, 1)
			}
		}
		if fixed != nil {
			p.B, p.Cones = append(p.B, fixed...), append(p.Cones, backends.Zero(n))
		}
		var err error
		p.A, err = entries.CSC(len(p.B), 2*n)
		require.NoError(t, err)
		return p
	}
	solve := func(p *backends.Problem) *backends.Solution {
		r := backendtest.Answer(t, opened(t, p))
		require.Equal(t, backends.Optimal, r.Status, r.Message)
		return r
	}
	p := program(nil)
	r := solve(p)
	for _, s := range p.Slack(r.X) {
		require.GreaterOrEqual(t, s, 0.)
	}
	solve(program(r.X[:n]))
}
