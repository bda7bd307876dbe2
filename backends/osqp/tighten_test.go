//go:build osqp && cgo && !syslibs

package osqp

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
)

// TestSetEpsGoesOn counts iterations: a tolerance reached in two steps takes about as
// many as in one, with the same factorisation.
func TestSetEpsGoesOn(t *testing.T) {
	shape := backendtest.Shape{Name: "qp", N: 50, Cones: []backends.Cone{backends.Zero(10), backends.Nonnegative(100)}, Rank: 50, Density: 0.2}
	atOnce, inSteps, again := 0, 0, 0
	for seed := range uint64(5) {
		p := shape.NewCase(seed).Problem
		run := func(eps ...float64) (iterations, last int) {
			opened, err := Backend{}.Setup(p, backends.Options{Eps: eps[0]})
			require.NoError(t, err)
			defer opened.Close()
			s := opened.(*solver)
			kept := s.osqp
			for _, e := range eps {
				require.NoError(t, s.SetEps(e))
				sol, err := s.Solve(context.Background())
				require.NoError(t, err)
				assert.Equal(t, backends.Optimal, sol.Status)
				assert.LessOrEqual(t, sol.Residuals.Max(), e)
				iterations += sol.Iterations
				last = sol.Iterations
			}
			assert.Same(t, kept, s.osqp)
			return iterations, last
		}
		n, _ := run(1e-8)
		atOnce += n
		n, _ = run(1e-3, 1e-8)
		inSteps += n
		_, n = run(1e-8, 1e-8)
		again += n
	}
	t.Log(atOnce, inSteps, again)
	assert.Less(t, float64(inSteps), 1.3*float64(atOnce))
	assert.Less(t, 3*again, atOnce)
}
