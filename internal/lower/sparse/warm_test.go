package sparse

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

// A start that is nearly a solution at nearby weights, where the dual bound is poor as w2 is small, is improved upon
// and not given up.
func TestSmoothFromNearby(t *testing.T) {
	x, y := lowertest.Sample(3, 400, 800, 60, 0.1)
	for i, v := range y {
		y[i] = math.Copysign(1, v)
	}
	g := must.Of(Logistic(Sample{X: design.New(matrices.Compress(x)), Y: y}, true, Terms{}))(t)
	for _, share := range []float64{0.3, 0.1, 0.05} {
		for _, w2 := range []float64{1e-3, 1e-5, 1e-7} {
			for _, tol := range []float64{1e-4, 1e-6} {
				l := share * g.LambdaMax()
				s := must.Of(g.solve(context.Background(), l, w2, tol, nil))(t)
				for _, step := range []float64{1e-1, 1e-2, 1e-3, 1e-4} {
					next := must.Of(g.solve(context.Background(), l*(1-step), w2, tol, s))(t)
					require.Equal(t, outcome.Converged, next.Status, "%v %v %v %v: gap %v", share, w2, tol, step, g.Relative(next.Gap))
				}
			}
		}
	}
}
