package multipliers_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/multipliers"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
)

// watched are the weights of |b|_1 that solvers of a fit are asked for.
type watched struct {
	joint
	least *float64
}

// joint is another name, as the method of this one is wanted.
type joint = lower.Joint

func (w watched) Joint() lower.JointSolver { return watchedSolver{w.joint.Joint(), w.least} }

type watchedSolver struct {
	lower.JointSolver
	least *float64
}

func (w watchedSolver) Solve(ctx context.Context, weights *lower.JointWeights) (*lower.JointPoint, error) {
	*w.least = math.Min(*w.least, weights.Penalties[0])
	return w.JointSolver.Solve(ctx, weights)
}

// Over the features that a solver works with at one pair of radii, the radius of |b|_1 may not hold anything back at the next one. A multiplier of zero would want all features:
// weights stay near that of the solution, which is the one of a conic program.
func TestFewFeaturesDoNotMakeTheWeightZero(t *testing.T) {
	const p = 600
	rng := rand.New(rand.NewPCG(3, 1))
	b := []float64{3, -2, 1, -1}
	train, val := draw(rng, 80, p, b, "logistic"), draw(rng, 20, p, b, "logistic")
	least := math.Inf(1)
	fit := watched{fit(t, "logistic", train, val, true, sparse.Terms{}), &least}
	s := multipliers.NewLower(fit)
	for _, radii := range [][]float64{{3, 1}, {12, 2}} {
		least = math.Inf(1)
		got, err := s.Solve(context.Background(), radii, 1e-9)
		require.NoError(t, err)
		require.True(t, got.Solved)
		want := solveLower(t, "logistic", train, true, radii, sparse.Terms{})
		require.InDelta(t, want.value, got.Loss, 1e-6)
		require.InDeltaSlice(t, want.lambda, got.Lambda, 1e-4)
		require.Greater(t, got.Lambda[0], 0.0)
		require.Greater(t, least, 1e-2*got.Lambda[0])
	}
}
