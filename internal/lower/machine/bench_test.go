package machine

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/must"
)

// BenchmarkSolve follows lambda down, each solution from the one before.
func BenchmarkSolve(b *testing.B) {
	for name, binary := range map[string]bool{"features=normal": false, "features=binary": true} {
		b.Run(name, func(b *testing.B) {
			x, y, u := sample(7, 300, 30, binary)
			for b.Loop() {
				g := must.Of(New(design.New(x), y, u))(b)
				var o Options
				for lambda := 1.0; lambda > 1e-4; lambda *= 0.6 {
					o.Start = must.Of(g.Solve(context.Background(), lambda, []float64{0.5}, o))(b)
				}
			}
		})
	}
}

// BenchmarkRows follows lambda down on more and more rows of 100 features, each solution from the one before, by both
// methods.
func BenchmarkRows(b *testing.B) {
	for _, n := range []int{500, 2000, 8000, 32000} {
		x, y, u := sample(7, n, 100, false)
		g := must.Of(New(design.New(x), y, u))(b)
		bound := slices.Repeat([]float64{0.5}, 100)
		for name, solve := range map[string]func(lambda float64, o Options) *Solution{
			"path":  func(lambda float64, o Options) *Solution { return g.follow(context.Background(), lambda, bound, o) },
			"steps": func(lambda float64, o Options) *Solution { return g.solveMany(context.Background(), lambda, bound, o) },
		} {
			b.Run(fmt.Sprintf("n=%d/by=%s", n, name), func(b *testing.B) {
				for b.Loop() {
					o := Options{Tol: 1e-9}
					for lambda := 1.0; lambda > 1e-3; lambda *= 0.4 {
						o.Start = solve(lambda, o)
						require.LessOrEqual(b, g.Relative(o.Start.Gap), 1e-8)
					}
				}
			})
		}
	}
}
