package tune

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/proptest"
)

// With orthogonal features fits are known: each part of l = sum_t 1/2 |b_t - a_t|^2 has b = soft(a, lambda), so that
// the first program of an iteration is checked by its own weights, and the second by the gap of its point at these.
func TestMajorisedGap(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		number := rapid.Map(rapid.IntRange(-30, 30), func(i int) float64 { return float64(i) / 10 })
		parts := rapid.SliceOfN(rapid.SliceOfN(number, 3, 3), 1, 3).Draw(t, "a")
		target := rapid.SliceOfN(number, 3, 3).Draw(t, "target")
		c := []float64{rapid.Float64Range(0.01, 10).Draw(t, "c")}
		epsilon := rapid.Float64Range(0.01, 2).Draw(t, "epsilon")
		p := dca.Program{H0: []float64{1}, Radii: 1}
		for _, a := range parts {
			p.Blocks = append(p.Blocks, func(m *convex.Model, h convex.Expr) dca.Level {
				b := m.Vector("b", len(a))
				loss := func(y []float64) convex.Expr {
					return convex.Scale(0.5, convex.SumSquares(convex.Sub(b, y)))
				}
				return dca.Level{X: []*convex.Variable{b}, Train: loss(a), Validation: loss(target),
					Constraints: []convex.Expr{convex.Sub(convex.Norm1(b), h)}}
			})
		}
		backend := must.Of(backends.Open(backends.Default))(t)
		of := &task{Program: p, Backend: backend}
		first := must.Of(of.majorise(false))(t)
		h, phi := must.Both(first.at(context.Background(), c, 0))(t)
		lambda := c[0] * h[0]
		loss, norm := 0.0, 0.0 // of the fits at lambda
		for _, a := range parts {
			for _, v := range a {
				b := math.Max(0, math.Abs(v)-lambda)
				loss, norm = loss+(math.Abs(v)-b)*(math.Abs(v)-b)/2, norm+b
			}
		}
		require.InDelta(t, norm, h[0], 1e-4)
		require.InDelta(t, loss+lambda*norm/2, phi, 1e-6)

		second := must.Of(of.majorise(true))(t)
		h, value := must.Both(second.at(context.Background(), c, phi+epsilon))(t)
		require.LessOrEqual(t, value, phi+epsilon+1e-6)
		train := value - c[0]*h[0]*h[0]/2
		gap := train + lambda*h[0] - (loss + lambda*norm)
		require.LessOrEqual(t, gap, epsilon+1e-6)
		require.GreaterOrEqual(t, gap, -1e-6)
		require.LessOrEqual(t, gap, value-phi+1e-6) // the majorant
		require.False(t, floats.HasNaN(h))
	})
}
