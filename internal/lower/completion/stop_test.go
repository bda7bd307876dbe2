package completion

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/lowertest"
)

func TestStopped(t *testing.T) {
	c := draw(3, 9, 8, 2, 0.5).problem(t, true)
	lowertest.StopsInTime(t, map[string]func(ctx context.Context) lowertest.End{
		"completion": func(ctx context.Context) lowertest.End {
			s, err := c.Solve(ctx, Weights{Nuclear: 0.1 * c.LambdaMax(), Norm: []float64{0.1 * c.LambdaMax()}}, Options{})
			require.NoError(t, err)
			return lowertest.End{Status: s.Status, Objective: s.Objective}
		},
	})
}
