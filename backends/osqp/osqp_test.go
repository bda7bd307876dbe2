//go:build (osqp && cgo) || osqp_go

package osqp_test

import (
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/internal/matrices"
	"github.com/conetune/conetune/backends/osqp"
	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func open(t testing.TB) backends.ConicBackend {
	t.Helper()
	b, err := backends.Open("osqp")
	require.NoError(t, err)
	return b
}

// TestConformance is the promise of the package: residuals of 1e-8, also where
// rows, columns and the objective are a million times apart.
func TestConformance(t *testing.T) {
	backendtest.Run(t, osqp.Backend{}, backendtest.Options{NoIterationLog: true, SingleRun: true})
}

// TestSecondOrder is the same with second-order cones, up to a thousand times apart.
func TestSecondOrder(t *testing.T) {
	backendtest.Run(t, open(t), backendtest.Options{NoIterationLog: true, SingleRun: true, Scale: 1000})
}

func TestCapabilities(t *testing.T) {
	c := open(t).Capabilities()
	assert.Equal(t, "1.0.0", c.Version)
	assert.Contains(t, c.License, "Apache-2.0")
	assert.True(t, c.UpdateMatrices && c.UpdateVectors)
	assert.True(t, c.Supports(backends.SecondOrderCone))
	assert.False(t, osqp.Backend{}.Capabilities().Supports(backends.SecondOrderCone))
}

func TestSettings(t *testing.T) {
	p := randomQP(5)
	for field, set := range map[string]any{
		"Options.Settings": 7, "Settings.StartEps": osqp.Settings{StartEps: -1}, "Settings.Rho": osqp.Settings{Rho: math.Inf(1)},
		"Settings.Sigma": osqp.Settings{Sigma: math.NaN()}, "Settings.Alpha": osqp.Settings{Alpha: 2}, "Settings.Delta": osqp.Settings{Delta: -1},
		"Settings.AdaptiveRhoInterval": osqp.Settings{AdaptiveRhoInterval: -1}, "Settings.AdaptiveRhoTolerance": osqp.Settings{AdaptiveRhoTolerance: 0.5},
		"Settings.CheckTermination": osqp.Settings{CheckTermination: -1}, "Settings.PolishRefinements": osqp.Settings{PolishRefinements: -1},
	} {
		var wrong *backends.ProblemError
		_, err := open(t).Setup(p, backends.Options{Settings: set})
		require.ErrorAs(t, err, &wrong, field)
		assert.Equal(t, field, wrong.Field)
	}
	want := solve(t, p, backends.Options{})
	require.Equal(t, backends.Optimal, want.Status)
	for _, set := range []osqp.Settings{
		{StartEps: 1e-12}, {StartEps: 1}, {NoPolishing: true}, {Rho: 1}, {Sigma: 1e-5}, {Alpha: 1}, {FixedRho: true}, {AdaptiveRhoInterval: 200, AdaptiveRhoTolerance: 2},
		{Scaling: -1}, {Scaling: 3}, {CheckTermination: 1}, {Delta: 1e-7, PolishRefinements: 10}, {NoRescaling: true}, {Patience: -1}, {Patience: 30}, {Retries: -1},
	} {
		sol := solve(t, p, backends.Options{Settings: set})
		assert.Equal(t, backends.Optimal, sol.Status, "%+v", set)
		assert.InDelta(t, want.Objective, sol.Objective, 1e-6, "%+v", set)
	}
}

// TestPolishing counts what it is for: accuracy from few iterations.
func TestPolishing(t *testing.T) {
	p := denseLP()
	with, without := solve(t, p, backends.Options{}), solve(t, p, backends.Options{Settings: osqp.Settings{NoPolishing: true}})
	assert.Equal(t, backends.Optimal, with.Status)
	assert.Equal(t, backends.Optimal, without.Status)
	assert.Less(t, with.Residuals.Max(), 1e-12)
	assert.Less(t, 10*with.Iterations, without.Iterations)
}

// TestPolishingFails has an objective that is by rounding not convex in y: before the
// bound y <= 1 is seen to bind, the equations of polishing cannot be factored. That is
// no reason to give up: min x - y/1000 - y^2/200000 for x >= 0 and y in [0, 1].
func TestPolishingFails(t *testing.T) {
	p := &backends.Problem{
		P: sparse.NewCSC(2, 2, []int{0, 0, 1}, []int{1}, []float64{-1e-5}), Q: []float64{1, -1e-3},
		A: matrices.Identity(2, -1), B: []float64{0, 0}, Cones: []backends.Cone{backends.Box([]float64{0, 0}, []float64{math.Inf(1), 1})},
	}
	var text strings.Builder
	logger := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := osqp.Backend{}.Setup(p, backends.Options{Logger: logger}) // without the checks of Open, which see that P is not convex
	require.NoError(t, err)
	defer s.Close()
	sol, err := s.Solve(context.Background())
	require.NoError(t, err)
	assert.Contains(t, text.String(), "polish=-2") // it did fail
	assert.Equal(t, backends.Optimal, sol.Status, sol.Message)
	assert.InDelta(t, -0.001005, sol.X[0]-1e-3*sol.X[1]-5e-6*sol.X[1]*sol.X[1], 1e-8)
}

func denseLP() *backends.Problem {
	for _, shape := range backendtest.Shapes() {
		if shape.Name == "lp, dense" {
			return shape.NewCase(0).Problem
		}
	}
	panic("backendtest has no such shape")
}

// TestPatience has a linear program on which OSQP's own rule for rho cycles.
func TestPatience(t *testing.T) {
	p := denseLP()
	set := osqp.Settings{NoPolishing: true, Patience: -1}
	cycling := solve(t, p, backends.Options{MaxIterations: 100_000, Settings: set})
	assert.Equal(t, backends.IterationLimit, cycling.Status)
	set.Patience = 0
	settled := solve(t, p, backends.Options{MaxIterations: 100_000, Settings: set})
	assert.Equal(t, backends.Optimal, settled.Status)
}

func TestNonConvex(t *testing.T) {
	var wrong *backends.NonconvexError
	_, err := open(t).Setup(&backends.Problem{P: matrices.Identity(1, -1), Q: []float64{1}}, backends.Options{})
	require.ErrorAs(t, err, &wrong)
	assert.Negative(t, wrong.Curvature)

	// As an update: an error, after which the solver has the old numbers.
	s, err := open(t).Setup(&backends.Problem{P: matrices.Identity(1, 2), Q: []float64{2}}, backends.Options{})
	require.NoError(t, err)
	defer s.Close()
	require.ErrorAs(t, s.Update(backends.Update{P: matrices.Identity(1, -1)}), &wrong)
	sol, err := s.Solve(context.Background())
	require.NoError(t, err)
	assert.Equal(t, backends.Optimal, sol.Status)
	assert.InDelta(t, -1, sol.X[0], 1e-7)
}

func TestCancel(t *testing.T) {
	s, err := open(t).Setup(randomQP(300), backends.Options{Eps: 1e-300, Settings: osqp.Settings{StartEps: 1e-300, Patience: -1}})
	require.NoError(t, err)
	defer s.Close()
	assert.Less(t, backendtest.CancelDelay(t, s), 100*time.Millisecond)
}

// TestTimeLimit has OSQP's clock, which also counts setups and updates, agree
// with ours.
func TestTimeLimit(t *testing.T) {
	const limit = 50 * time.Millisecond
	p := randomQP(300)
	s, err := open(t).Setup(p, backends.Options{Eps: 1e-300, TimeLimit: limit, Settings: osqp.Settings{StartEps: 1e-300}})
	require.NoError(t, err)
	defer s.Close()
	for range 4 {
		begin := time.Now()
		sol, err := s.Solve(context.Background())
		took := time.Since(begin)
		require.NoError(t, err)
		assert.Equal(t, backends.TimeLimit, sol.Status)
		assert.False(t, math.IsNaN(sol.Residuals.Max())) // the point is there
		assert.GreaterOrEqual(t, took, limit-limit/10)
		require.NoError(t, s.Update(backends.Update{Q: p.Q, A: p.A}))
	}
}

func solve(t testing.TB, p *backends.Problem, o backends.Options) *backends.Solution {
	t.Helper()
	return backendtest.Solve(t, open(t), p, o)
}

// randomQP has n variables in [0, 1] and as many inequalities.
func randomQP(n int) *backends.Problem {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	ptr, ind, val := []int{0}, []int{}, []float64{}
	q := make([]float64, n)
	lower, upper, b := make([]float64, n), make([]float64, n), make([]float64, 2*n)
	for j := range n {
		for i := range n {
			if rng.Float64() < 0.2 {
				ind, val = append(ind, i), append(val, rng.NormFloat64())
			}
		}
		ind, val = append(ind, n+j), append(val, -1)
		ptr = append(ptr, len(ind))
		q[j], upper[j], b[j] = rng.NormFloat64(), 1, rng.Float64()
	}
	return &backends.Problem{
		P: matrices.Identity(n, 1), Q: q, A: sparse.NewCSC(2*n, n, ptr, ind, val), B: b,
		Cones: []backends.Cone{backends.Nonnegative(n), backends.Box(lower, upper)},
	}
}
