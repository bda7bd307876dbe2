package multipliers_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/multipliers"
)

type anyJoint = lower.Joint

// slow is a fit each of whose solves costs much, if it says so.
type slow struct {
	anyJoint
	costly bool
	solves *int
}

func (s slow) Costly() bool { return s.costly }

func (s slow) Joint() lower.JointSolver { return counted{s.anyJoint.Joint(), s.solves} }

// counted counts solves, and never comes to where the models are right.
type counted struct {
	lower.JointSolver
	solves *int
}

func (c counted) Solve(ctx context.Context, w *lower.JointWeights) (*lower.JointPoint, error) {
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

// Programs end after so many solves of fits that cost much, with the gap that they have come to.
func TestCostlyFitsEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	b := []float64{2, -1, 1, 0, 0.5}
	regression := fit(t, "logistic", draw(rng, 200, 12, b, "logistic"), draw(rng, 100, 12, b, "logistic"), true)
	for _, costly := range []bool{false, true} {
		solves := 0
		s := multipliers.NewLower(slow{regression, costly, &solves})
		out, err := s.Solve(context.Background(), []float64{0.5, 0.1}, 1e-13)
		require.NoError(t, err)
		if costly {
			require.LessOrEqual(t, solves, 100+60)
			require.False(t, out.Solved)
		} else {
			require.Greater(t, solves, 100+60)
		}
	}
}
