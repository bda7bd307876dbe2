//go:build (osqp && cgo) || osqp_go

package osqp_test

import (
	"math"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/internal/matrices"
	"github.com/conetune/conetune/backends/osqp"
	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHostile(t *testing.T) { backendtest.Hostile(t, osqp.Backend{}, 1000, nil) }

func TestManyIterations(t *testing.T) { backendtest.ManyIterations(t, osqp.Backend{}) }

func TestRecovery(t *testing.T) { backendtest.Recovery(t, osqp.Backend{}, 30, nil) }

// TestBeyondInfinity has bounds that OSQP takes as infinite, on the side where that
// leaves nothing.
func TestBeyondInfinity(t *testing.T) {
	p := &backends.Problem{
		P: matrices.Identity(1, 1), Q: []float64{1}, A: matrices.Identity(1, 1), B: []float64{-1e31}, Cones: []backends.Cone{backends.Nonnegative(1)},
	}
	set := backends.Options{Settings: osqp.Settings{NoRescaling: true}}
	var wrong *backends.ProblemError
	_, err := open(t).Setup(p, set)
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, "B", wrong.Field)
	assert.Contains(t, wrong.Reason, "entry 0")
	assert.Contains(t, wrong.Reason, "1e+30 on as infinite")

	p.B = []float64{-1}
	s, err := open(t).Setup(p, set)
	require.NoError(t, err)
	defer s.Close()
	require.ErrorAs(t, s.Update(backends.Update{B: []float64{-1e31}}), &wrong)
	sol, err := s.Solve(t.Context()) // nothing has changed: min x^2/2 + x with x <= -1
	require.NoError(t, err)
	assert.Equal(t, backends.Optimal, sol.Status)
	assert.InDelta(t, -1, sol.X[0], 1e-6)
}

// TestSingletons has feasible sets of one point, c <= x <= c as two rows each, at which OSQP may claim infeasibility:
// its test lets b'z = 0 pass (its issue 485, open in November 2026). What is returned is the point.
func TestSingletons(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		for _, c := range []float64{0, 1, -1e3, 1e5} {
			for _, push := range []float64{0, 1, -1e4, 1e7} { // multipliers grow for long
				p := &backends.Problem{Q: make([]float64, n), B: make([]float64, 2*n), Cones: []backends.Cone{backends.Nonnegative(2 * n)}}
				ptr, ind, val := []int{0}, []int(nil), []float64(nil)
				for j := range n {
					p.Q[j], p.B[2*j], p.B[2*j+1] = push, c, -c
					ind, val = append(ind, 2*j, 2*j+1), append(val, 1, -1)
					ptr = append(ptr, len(ind))
				}
				p.A = sparse.NewCSC(2*n, n, ptr, ind, val)
				for _, presolve := range []bool{true, false} {
					s, err := open(t).Setup(p, backends.Options{NoPresolve: !presolve})
					require.NoError(t, err)
					sol, err := s.Solve(t.Context())
					require.NoError(t, err)
					require.Equal(t, backends.Optimal, sol.Status, "%d %g %g: %s", n, c, push, sol.Message)
					for _, x := range sol.X {
						require.InDelta(t, c, x, 1e-6*max(1, math.Abs(c)))
					}
					require.NoError(t, s.Close())
				}
			}
		}
	}
}
