package machine

import (
	"context"
	"math"
	"testing"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/must"
)

func TestStopped(t *testing.T) {
	x, y := lowertest.Sample(5, 60, 90, 10, 1)
	for i, v := range y {
		y[i] = math.Copysign(1, v)
	}
	g := must.Of(New(design.New(x), y, nil))(t)
	lowertest.StopsInTime(t, map[string]func(ctx context.Context) lowertest.End{
		"machine": func(ctx context.Context) lowertest.End {
			s := must.Of(g.Solve(ctx, 1e-2, []float64{0.3}, Options{}))(t)
			return lowertest.End{Status: s.Status, Objective: s.Objective}
		},
	})
}
