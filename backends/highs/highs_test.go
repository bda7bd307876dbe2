//go:build highs && cgo

package highs_test

import (
	"math"
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/highs"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func open(t testing.TB) backends.ConicBackend { return backendtest.Open(t, "highs") }

func setup(t testing.TB, p *backends.Problem, o backends.Options) backends.Solver {
	t.Helper()
	return backendtest.Setup(t, open(t), p, o)
}

func solve(t testing.TB, p *backends.Problem, o backends.Options) *backends.Solution {
	t.Helper()
	return backendtest.Solve(t, open(t), p, o)
}

// TestConformance is the promise of the package: residuals of 1e-8, also where rows, columns and
// the objective are a million times apart.
func TestConformance(t *testing.T) {
	backendtest.Run(t, highs.Raw, backendtest.Options{NoIterationLog: true, SingleRun: true})
}

// TestSequences is the same with second-order and exponential cones.
func TestSequences(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite runs without these cones")
	}
	backendtest.Run(t, open(t), backendtest.Options{NoIterationLog: true, SingleRun: true})
}

// TestInteriorPoint is the same with the interior point methods; quadratic programs, which know one only, are those
// above.
func TestInteriorPoint(t *testing.T) {
	for _, method := range []string{"ipm", "hipo"} {
		t.Run(method, func(t *testing.T) {
			if testing.Short() && method == "hipo" {
				t.Skip("is the other in short runs")
			}
			backendtest.Run(t, highs.Raw, backendtest.Options{NoIterationLog: true, SingleRun: true,
				Settings: highs.Settings{Method: method}})
		})
	}
}

func TestSettings(t *testing.T) {
	backendtest.Settings(t, open(t), backendtest.Boxed(8), map[string]any{
		"Options.Settings": 7, "Settings.Method": highs.Settings{Method: "pdlp"},
		"Settings.PrimalTolerance": highs.Settings{PrimalTolerance: 1e-11},
		"Settings.DualTolerance":   highs.Settings{DualTolerance: math.NaN()},
	},
		highs.Settings{Method: "simplex"}, highs.Settings{Method: "hipo"}, highs.Settings{Method: "ipm"},
		highs.Settings{Method: "ipm", NoCrossover: true}, highs.Settings{NoPresolve: true},
		highs.Settings{PrimalTolerance: 1e-7, DualTolerance: 1e-7}, highs.Settings{NoRescaling: true},
		highs.Settings{Retries: -1},
	)
}

// TestBasis counts iterations: from the vertex where the last Solve ended there is little to do, and from
// another set-up's point as well.
func TestBasis(t *testing.T) {
	p := backendtest.Boxed(40)
	cold := solve(t, p, backends.Options{Settings: highs.Settings{NoPresolve: true}})
	require.Equal(t, backends.Optimal, cold.Status)
	s := setup(t, p, backends.Options{Settings: highs.Settings{NoPresolve: true}})
	for range 2 { // of another solver, then its own
		require.NoError(t, s.WarmStart(backends.Point{X: cold.X, S: cold.S, Z: cold.Z}))
		warm := backendtest.Answer(t, s)
		assert.Equal(t, backends.Optimal, warm.Status)
		assert.Less(t, 4*warm.Iterations, cold.Iterations, "%d, cold %d", warm.Iterations, cold.Iterations)
		cold.X, cold.S, cold.Z = warm.X, warm.S, warm.Z
	}
	again := backendtest.Answer(t, s)
	assert.Greater(t, 2*again.Iterations, cold.Iterations, "without a start it starts afresh")
}

func TestCancel(t *testing.T) {
	s := setup(t, backendtest.Boxed(700), backends.Options{Settings: highs.Settings{NoPresolve: true}})
	assert.Less(t, backendtest.CancelDelay(t, s), 100*time.Millisecond)
}

// TestCancelQuadratic has iterations of a millisecond, and asks for what takes all retries; a factorisation is not
// interrupted.
func TestCancelQuadratic(t *testing.T) {
	p := backendtest.Boxed(200)
	p.P = matrices.Identity(200, 1)
	s := setup(t, p, backends.Options{Eps: 1e-17})
	assert.Less(t, backendtest.CancelDelay(t, s), 100*time.Millisecond)
}

func TestTimeLimit(t *testing.T) {
	s := setup(t, backendtest.Boxed(700), backends.Options{
		TimeLimit: 10 * time.Millisecond, Settings: highs.Settings{NoPresolve: true},
	})
	for range 2 {
		sol := backendtest.Answer(t, s)
		assert.Equal(t, backends.TimeLimit, sol.Status)
	}
}

func TestManyIterations(t *testing.T) { backendtest.ManyIterations(t, highs.Raw) }

// TestZeroCost is hostile program 6565, on which the factor of a cost of zero was infinite, and the simplex method of
// HiGHS did not end. A row bounds x_1, the one with a cost, by 5.714936956411375e-101, and x_2 makes room for it in the
// equation. Then x_2 gets a cost, which the factors of the first program take beyond the numbers, and other factors do
// not help; that is refused, and the first program is solved again.
func TestZeroCost(t *testing.T) {
	p := &backends.Problem{
		Q: []float64{0, 1e-154, 0},
		A: sparse.NewCSC(3, 3, []int{0, 2, 4, 5}, []int{0, 1, 0, 2, 0}, []float64{-1, -1, -3, -1, 1e-300}),
		B: make([]float64, 3),
		Cones: []backends.Cone{backends.Zero(1), backends.Box([]float64{-1.142987391282275e-100, -5.714936956411375e-101},
			[]float64{1.142987391282275e-100, 5.714936956411375e-101})},
	}
	solver := setup(t, p, backends.Options{Eps: 1e-3, TimeLimit: 10 * time.Second})
	out := backendtest.Answer(t, solver)
	require.Equal(t, backends.Optimal, out.Status)
	require.LessOrEqual(t, math.Abs(out.X[1]), 5.72e-101)

	var refused *backends.ProblemError
	require.ErrorAs(t, solver.Update(backends.Update{Q: []float64{0, 1e-154, 1e-154}}), &refused)
	out = backendtest.Answer(t, solver)
	require.Equal(t, backends.Optimal, out.Status)
}

func TestProcess(t *testing.T) {
	backendtest.Process(t, open(t), func() backends.Solver {
		return must.Of(open(t).Setup(backendtest.Boxed(700), backends.Options{
			TimeLimit: 200 * time.Millisecond, Settings: highs.Settings{NoPresolve: true},
		}))(t)
	}, backendtest.Boxed(8), backendtest.Boxed(20))
}
