package completion

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
)

// From a solution within other bounds, close or far, the optimum is that from nothing, and steps that do not pay are given up.
func TestWithinFromAnother(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		c := draw(3, 24, 20, 6, 0.4).problem(t, intercept)
		const tol = 1e-9
		bounds := func(share float64) Bounds {
			return Bounds{3 * share, []float64{0.2 * share, 0.1 / share}}
		}
		ctx := context.Background()
		last, _, err := c.Within(ctx, bounds(1), Options{Tol: tol})
		require.NoError(t, err)
		for _, share := range []float64{1, 1.02, 0.97, 0.9, 1.2, 3, 0.1, 1} {
			what := fmt.Sprint(share, " ", intercept)
			cold, w, err := c.Within(ctx, bounds(share), Options{Tol: tol})
			require.NoError(t, err)
			require.Equal(t, lower.Optimal, cold.Status, what)
			warm, v, err := c.Within(ctx, bounds(share), Options{Tol: tol, Start: last})
			require.NoError(t, err)
			require.Equal(t, lower.Optimal, warm.Status, what)
			require.LessOrEqual(t, warm.Newton, cold.Newton+20, what)
			require.InDelta(t, cold.Objective, warm.Objective, 2*tol*c.groups.Scale, what)
			require.InDeltaSlice(t, cold.B, warm.B, 1e-4, what)
			require.InDelta(t, w.Nuclear, v.Nuclear, 1e-4*w.Nuclear, what)
			require.InDelta(t, 0, floats.Distance(w.Norm, v.Norm, 2), 1e-4*floats.Norm(w.Norm, 2)+1e-6, what)
			last = warm
		}
	}
}
