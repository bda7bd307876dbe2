//go:build highs && cgo

package highs_test

import (
	"math"
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/highs"
	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
)

func TestHostile(t *testing.T) { backendtest.Hostile(t, highs.Backend{}, 1000, nil) }

func TestManyIterations(t *testing.T) { backendtest.ManyIterations(t, highs.Backend{}) }

func TestRecovery(t *testing.T) { backendtest.Recovery(t, highs.Backend{}, 30, nil) }

// TestZeroCost is hostile program 6565, on which the factor of a cost of zero was infinite, and the simplex method of
// HiGHS did not end. A row bounds x_1, the one with a cost, by 5.714936956411375e-101, and x_2 makes room for it in the
// equation. Then x_2 gets a cost, which the factors of the first program take beyond the numbers, and other factors do
// not help; that is refused, and the first program is solved again.
func TestZeroCost(t *testing.T) {
	p := &backends.Problem{
		Q:     []float64{0, 1e-154, 0},
		A:     sparse.NewCSC(3, 3, []int{0, 2, 4, 5}, []int{0, 1, 0, 2, 0}, []float64{-1, -1, -3, -1, 1e-300}),
		B:     make([]float64, 3),
		Cones: []backends.Cone{backends.Zero(1), backends.Box([]float64{-1.142987391282275e-100, -5.714936956411375e-101}, []float64{1.142987391282275e-100, 5.714936956411375e-101})},
	}
	solver, err := open(t).Setup(p, backends.Options{Eps: 1e-3, TimeLimit: 10 * time.Second})
	require.NoError(t, err)
	defer solver.Close()
	out, err := solver.Solve(t.Context())
	require.NoError(t, err)
	require.Equal(t, backends.Optimal, out.Status)
	require.LessOrEqual(t, math.Abs(out.X[1]), 5.72e-101)

	var refused *backends.ProblemError
	require.ErrorAs(t, solver.Update(backends.Update{Q: []float64{0, 1e-154, 1e-154}}), &refused)
	out, err = solver.Solve(t.Context())
	require.NoError(t, err)
	require.Equal(t, backends.Optimal, out.Status)
}
