package machine

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
)

func TestStopped(t *testing.T) {
	x, y := lowertest.Sample(5, 60, 90, 10, 1)
	for i, v := range y {
		y[i] = math.Copysign(1, v)
	}
	g, err := New(design.New(x), y, nil)
	require.NoError(t, err)
	lowertest.StopsInTime(t, map[string]func(ctx context.Context) lowertest.End{
		"machine": func(ctx context.Context) lowertest.End {
			s, err := g.Solve(ctx, 1e-2, []float64{0.3}, Options{})
			require.NoError(t, err)
			return lowertest.End{Status: s.Status, Objective: s.Objective}
		},
	})
}
