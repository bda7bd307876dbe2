package multipliers_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/multipliers"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
)

type anyJoint = lower.Joint

// slow is a fit whose solves are as much work as it says.
type slow struct {
	anyJoint
	work   float64
	solves *int
}

func (s slow) Joint() lower.JointSolver { return counted{s.anyJoint.Joint(), s.work, s.solves} }

// counted counts solves, and never comes to where the models are right.
type counted struct {
	lower.JointSolver
	work   float64
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

func (c counted) Work() float64 { return c.work * float64(*c.solves) }

// Programs end after so much work, with the gap that they have come to.
func TestWorkEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	b := []float64{2, -1, 1, 0, 0.5}
	regression := fit(t, "logistic", draw(rng, 200, 12, b, "logistic"), draw(rng, 100, 12, b, "logistic"), true, sparse.Terms{})
	for _, work := range []float64{0, 1e8} {
		solves := 0
		s := multipliers.NewLower(slow{regression, work, &solves})
		out, err := s.Solve(context.Background(), []float64{0.5, 0.1}, 1e-13)
		require.NoError(t, err)
		if work > 0 {
			require.LessOrEqual(t, solves, 100+60)
			require.False(t, out.Solved)
		} else {
			require.Greater(t, solves, 100+60)
		}
	}
}
