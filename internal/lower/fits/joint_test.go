package fits

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/multipliers"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/must"
)

// anyJoint is another name, as the method of that one is wanted.
type anyJoint = bilevel.Joint

// slow is a fit whose solves are as much work as it says.
type slow struct {
	anyJoint
	work   float64
	solves *int
}

func (s slow) Joint() bilevel.JointSolver { return laborious{s.anyJoint.Joint(), s.work, s.solves} }

// laborious counts solves, and never comes to where the models are right.
type laborious struct {
	bilevel.JointSolver
	work   float64
	solves *int
}

func (c laborious) Solve(ctx context.Context, w *bilevel.JointWeights) (*bilevel.JointPoint, error) {
	*c.solves++
	pt, err := c.JointSolver.Solve(ctx, w)
	if pt != nil { // a derivative without meaning: the steps are short
		for _, row := range pt.Curvature {
			for j := range row {
				row[j] *= 1e4
			}
		}
	}
	return pt, err
}

func (c laborious) Work() float64 { return c.work * float64(*c.solves) }

// Programs end after so much work, with the gap that they have come to.
func TestWorkEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	b := []float64{2, -1, 1, 0, 0.5}
	regression := fit(t, "logistic", drawRows(rng, 200, 12, b, "logistic"), drawRows(rng, 100, 12, b, "logistic"), true,
		sparse.Terms{})
	for _, work := range []float64{0, 1e8} {
		solves := 0
		s := multipliers.NewLower(slow{regression, work, &solves})
		out := must.Of(s.Solve(context.Background(), []float64{0.5, 0.1}, 1e-13))(t)
		if work > 0 {
			require.LessOrEqual(t, solves, 100+60)
			require.False(t, out.Solved)
		} else {
			require.Greater(t, solves, 100+60)
		}
	}
}

// watched are the weights of |b|_1 that solvers of a fit are asked for.
type watched struct {
	anyJoint
	least *float64
}

func (w watched) Joint() bilevel.JointSolver { return watchedSolver{w.anyJoint.Joint(), w.least} }

type watchedSolver struct {
	bilevel.JointSolver
	least *float64
}

func (w watchedSolver) Solve(ctx context.Context, weights *bilevel.JointWeights) (*bilevel.JointPoint, error) {
	*w.least = math.Min(*w.least, weights.Penalties[0])
	return w.JointSolver.Solve(ctx, weights)
}

// Over the features that a solver works with at one pair of radii, the radius of |b|_1 may not hold anything back at
// the next one. A multiplier of zero would want all features: weights stay near that of the solution, which is the one
// of a conic program.
func TestFewFeaturesDoNotMakeTheWeightZero(t *testing.T) {
	const features = 600
	rng := rand.New(rand.NewPCG(3, 1))
	b := []float64{3, -2, 1, -1}
	least := math.Inf(1)
	p := regressionOf(t, "logistic", drawRows(rng, 80, features, b, "logistic"), drawRows(rng, 20, features, b,
		"logistic"), true, sparse.Terms{})
	s := multipliers.NewLower(watched{p.fit.(bilevel.Joint), &least})
	for _, radii := range [][]float64{{3, 1}, {12, 2}} {
		least = math.Inf(1)
		got := must.Of(s.Solve(context.Background(), radii, 1e-9))(t)
		require.True(t, got.Solved)
		want := conicWithin(t, p.build, radii)
		require.InDelta(t, want.Value, got.Loss, 1e-6)
		require.InDeltaSlice(t, want.Lambda, got.Lambda, 1e-4)
		require.Greater(t, got.Lambda[0], 0.0)
		require.Greater(t, least, 1e-2*got.Lambda[0])
	}
}
