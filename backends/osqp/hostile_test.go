//go:build (osqp && cgo) || osqp_go

package osqp_test

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/internal/matrices"
	"github.com/conetune/conetune/backends/osqp"
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
