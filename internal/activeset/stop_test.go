package activeset

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whenever stop is asked, it is the last time: the solver ends there, also while it makes its factors, and a new start from the solution
// before leads to the solution.
func TestStop(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 31))
	p := machines(rng, 3, 6, 20, 1, 4)
	zero := Point{X: make([]float64, len(p.D)), Limit: make([]float64, len(p.Limits)), Hinge: make([]float64, len(p.Hinges)), Ball: make([]float64, len(p.Balls))}
	whole := NewSolver(p)
	whole.Start(zero)
	polls := 0
	require.True(t, whole.Solve(3000, 1e-10, func() bool { polls++; return false }))
	solution := whole.Point()
	require.Greater(t, polls, whole.Exchanges(), "more often than once an exchange")

	s := NewSolver(p)
	for k := range polls {
		s.Start(zero)
		asked := 0
		require.False(t, s.Solve(3000, 1e-10, func() bool { asked++; return asked > k }), "after %d", k)
		require.Equal(t, k+1, asked)
	}
	// The factors of the solution are not made where it is to stop at once.
	s.Start(solution)
	require.False(t, s.Solve(3000, 1e-10, func() bool { return true }))
	held := 0
	for _, b := range s.blocks {
		held += len(b.rows)
	}
	require.Zero(t, held)

	s.Start(solution)
	require.True(t, s.Solve(3000, 1e-10, nil))
	for j, v := range s.Point().X {
		require.InDelta(t, solution.X[j], v, 1e-6)
	}
}
