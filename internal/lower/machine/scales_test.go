package machine

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

// Bounds of 24 decades, and lambda, too: an answer that is called solved is in the box, and its value is that of
// the dual function at its multipliers.
func TestBoundsOfManyScales(t *testing.T) {
	solved := 0
	const instances = 200
	for seed := range instances {
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		n, p := 10+rng.IntN(30), 2+rng.IntN(12)
		columns, y := make([]float64, n*p), make([]float64, n)
		units, bound := make([]float64, p), make([]float64, p)
		for j := range units {
			units[j], bound[j] = math.Pow(10, 4*rng.Float64()-2), math.Pow(10, 24*rng.Float64()-12)
		}
		for i := range y {
			f := rng.NormFloat64()
			for j, unit := range units {
				v := rng.NormFloat64()
				columns[j*n+i] = unit * v
				f += v
			}
			y[i] = math.Copysign(1, f)
		}
		y[0], y[1] = 1, -1
		g := must.Of(New(design.FromColumns(n, p, columns), y, nil))(t)
		lambda := math.Pow(10, 24*rng.Float64()-12)
		s := must.Of(g.Solve(context.Background(), lambda, bound, Options{Tol: 1e-9}))(t)
		if s.Status != outcome.Converged && s.Status != numerics.Exhausted {
			continue
		}
		solved++
		value, dual := 0.0, s.total
		for i, label := range y {
			f := -s.C
			for j := range p {
				f += columns[j*n+i] * s.W[j]
			}
			value += math.Max(0, 1-label*f) / float64(n)
		}
		for j, w := range s.W {
			require.LessOrEqual(t, math.Abs(w), bound[j]*(1+1e-9))
			value += lambda * w * w / 2
			best := math.Copysign(math.Min(math.Abs(s.v[j])/lambda, bound[j]), s.v[j])
			dual -= s.v[j]*best - lambda*best*best/2
		}
		require.LessOrEqual(t, value-dual, 1e-7, "seed %d", seed)
	}
	require.Greater(t, solved, 9*instances/10)
}
