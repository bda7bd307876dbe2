package completion

import (
	"context"
	"testing"

	"github.com/conetune/conetune/internal/must"
)

// BenchmarkSolve follows a common weight down, by the interior-point method and by Newton's.
func BenchmarkSolve(b *testing.B) {
	for name, interior := range map[string]bool{"method=interior": true, "method=newton": false} {
		b.Run(name, func(b *testing.B) {
			d := draw(5, 30, 30, 9, 0.3)
			for b.Loop() {
				c := d.problem(b, true)
				if !interior {
					c.interior = nil
				}
				var o Options
				for l := c.LambdaMax() / 2; l > 1e-2*c.LambdaMax(); l *= 0.5 {
					o.Start = must.Of(c.Solve(context.Background(), Weights{l, []float64{l}}, o))(b)
				}
			}
		})
	}
}
