package sparse

import (
	"context"
	"slices"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/glm"
)

// regression is a fit of squares with weights of each feature.
type regression struct {
	*Fit
	of        Sample
	intercept bool
}

func newRegression(x *design.Matrix, y []float64, intercept bool) (regression, error) {
	s := Sample{X: x, Y: y}
	g, err := Squares(s, intercept, Terms{})
	return regression{g, s, intercept}, err
}

// weights are those of the penalties: each nil for 0, of length 1 for a common one, or of length p.
type weights struct{ l1, l2 []float64 }

// options are those of a solve.
type options struct {
	tol   float64
	start *Solution
}

func (g regression) solve(w weights, o options) (*Solution, error) {
	return g.solveIn(context.Background(), w, o)
}

func (g regression) solveIn(ctx context.Context, w weights, o options) (*Solution, error) {
	spread := func(w []float64) []float64 {
		if len(w) == g.p {
			return w
		}
		return slices.Repeat(append(w, 0)[:1], g.p)
	}
	return g.SolveAt(ctx, &glm.Weights{Norm: spread(w.l1), L2: spread(w.l2)}, o.tol, o.start)
}
