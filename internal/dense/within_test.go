package dense

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/internal/stop/stoptest"
)

// TestWithin runs each kernel with a Stop that is looked at as often as it can be. Not reached,
// it changes no bit, and nor do threads. Reached, the kernel leaves at the next block.
func TestWithin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.Float64() - 0.5
		}
		return v
	}
	const n, k, narrow, long = 700, 300, 40, 4*stripRows + 1
	a, b, c, tall := random(n*n), random(n*n), random(long*narrow/4), random(long*narrow/4)
	const tallest = longVector / 8 // for products with vectors, of 32 columns
	many := random(32 * tallest)
	for i := range many {
		many[i] *= 1e-3 // the triangle of it is well conditioned
	}
	for j := range n {
		c[j+j*n] = n
	}
	sign, dInv := make([]int8, n), random(n)
	for i := range sign {
		sign[i] = 1
	}
	for _, kernel := range []struct {
		name string
		run  func(w Within, out []float64)
	}{
		{"GemmNT", func(w Within, out []float64) { w.GemmNT(n, n, k, a, n, b, n, out, n) }},
		{"GemmNT, narrow", func(w Within, out []float64) { w.GemmNT(n, narrow, n, a, n, b, n, out, n) }},
		{"GemmNT, long", func(w Within, out []float64) { w.GemmNT(long, narrow/4, narrow/4, tall, long, b, n, out, long) }},
		{"SyrkNT", func(w Within, out []float64) { w.SyrkNT(n, k, a, n, b, n, out, n) }},
		{"SyrkNT, small", func(w Within, out []float64) { w.SyrkNT(blockRows, n, a, n, b, n, out, n) }},
		{"TrsmRightLT", func(w Within, out []float64) { w.TrsmRightLT(n, n, a, n, out, n) }},
		{"SolvePanel", func(w Within, out []float64) { w.SolvePanel(n, n, a, n, dInv, out, n, make([]float64, n*n), n) }},
		{"GemvN", func(w Within, out []float64) { w.GemvN(tallest, 32, many, tallest, many, out) }},
		{"GemvT", func(w Within, out []float64) { w.GemvT(tallest, 32, many, tallest, many, out) }},
		{"TrsvN", func(w Within, out []float64) { w.TrsvN(2*longSolve, many, 2*longSolve, out) }},
		{"TrsvT", func(w Within, out []float64) { w.TrsvT(2*longSolve, many, 2*longSolve, out) }},
		{"LDL", func(w Within, out []float64) { w.LDL(n, out, n, make([]float64, n), sign, 0, 1) }},
	} {
		t.Run(kernel.name, func(t *testing.T) {
			plain, within := slices.Clone(c), slices.Clone(c)
			kernel.run(Within{}, plain)
			s, ctx := stop.Every(1), stoptest.After(1<<30)
			s.Begin(ctx, 0)
			kernel.run(Within{Stop: s}, within)
			assert.True(t, slices.Equal(plain, within), "a Stop that is not reached changes the result")
			assert.Greater(t, ctx.Looks(), 2, "looks")
			for threads := range 5 {
				shared := slices.Clone(c)
				kernel.run(Within{Threads: threads}, shared)
				assert.True(t, slices.Equal(plain, shared), "%d threads change the result", threads)
			}
			whole := ctx.Looks()
			for _, at := range []int{0, 1, whole / 2} {
				ctx := stoptest.After(at)
				s.Begin(ctx, 0)
				kernel.run(Within{Stop: s}, slices.Clone(c))
				assert.Equal(t, at+1, ctx.Looks(), "looks after the end was reached")
			}
		})
	}
}
