package sparse

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower/glm"
	"github.com/conetune/conetune/lower/internal/leastsquares"
)

// Weights are those of the penalties: each nil for 0, of length 1 for a common one, or
// of length p.
type Weights struct {
	// L1 holds w1, L2 holds w2.
	L1, L2 []float64
}

// LambdaMax is the smallest common L1 weight at which all coefficients are zero.
func (g *Regression) LambdaMax() float64 {
	return floats.Norm(g.data.XtY, math.Inf(1)) / float64(g.data.X.Rows())
}

// spread returns the weights of p features.
func (w Weights) spread(p int) (w1, w2 []float64, err error) {
	if w1, err = leastsquares.Spread("L1", w.L1, p); err == nil {
		w2, err = leastsquares.Spread("L2", w.L2, p)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("sparse: %w", err)
	}
	return w1, w2, nil
}

// Solve returns a solution at weights of each feature. The error is for weights or options without meaning;
// how the solve ended is the status of the solution.
func (g *Regression) Solve(ctx context.Context, w Weights, o Options) (*Solution, error) {
	w1, w2, err := w.spread(g.data.X.Columns())
	if err != nil {
		return nil, err
	}
	return single(Sample{X: g.data.X, Y: g.y}, g.data.Intercept).solve(ctx, g.data.Scale, &glm.Weights{Norm: w1, L2: w2}, o)
}
