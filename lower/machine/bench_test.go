package machine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/lower/design"
)

// BenchmarkSolve follows lambda down, each solution from the one before.
func BenchmarkSolve(b *testing.B) {
	for name, binary := range map[string]bool{"features=normal": false, "features=binary": true} {
		b.Run(name, func(b *testing.B) {
			x, y, u := sample(7, 300, 30, binary)
			for b.Loop() {
				g, err := New(design.New(x), y, u)
				require.NoError(b, err)
				var o Options
				for lambda := 1.0; lambda > 1e-4; lambda *= 0.6 {
					o.Start, err = g.Solve(context.Background(), lambda, []float64{0.5}, o)
					require.NoError(b, err)
				}
			}
		})
	}
}
