package native_test

import (
	"context"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/stretchr/testify/require"
)

func TestConformance(t *testing.T) {
	b, err := backends.Open("native")
	require.NoError(t, err)
	backendtest.Run(t, b, backendtest.Options{Answers: 0.99})
}

// A solve with a loose tolerance can be tightened: both solves together take no
// more iterations than one, and end at the same point.
func TestSetEpsGoesOn(t *testing.T) {
	b, err := backends.Open("native")
	require.NoError(t, err)
	for _, shape := range backendtest.Shapes() {
		p := shape.NewCase(3).Problem
		if !supports(b, p) {
			continue
		}
		fresh, err := b.Setup(p, backends.Options{})
		require.NoError(t, err)
		want, err := fresh.Solve(context.Background())
		require.NoError(t, err)
		s, err := b.Setup(p, backends.Options{Eps: 1e-2})
		require.NoError(t, err)
		first, err := s.Solve(context.Background())
		require.NoError(t, err)
		require.Equal(t, backends.Optimal, first.Status)
		require.NoError(t, s.(backends.Tightener).SetEps(1e-8))
		second, err := s.Solve(context.Background())
		require.NoError(t, err)
		require.Equal(t, backends.Optimal, second.Status)
		require.Equal(t, want.Iterations, first.Iterations+second.Iterations)
		require.Equal(t, want.X, second.X)
	}
}

func supports(b backends.ConicBackend, p *backends.Problem) bool {
	for _, c := range p.Cones {
		if !b.Capabilities().Supports(c.Kind) {
			return false
		}
	}
	return true
}
