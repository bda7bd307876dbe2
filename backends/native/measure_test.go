package native

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
)

// What is measured in the scaled problem is what the judge finds for the point in the caller's.
func TestMeasureIsThatOfTheJudge(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 20 {
		p := problemWith(rng, backends.SecondOrder(4), 5)
		for _, v := range [][]float64{p.Q, p.B} {
			for i := range v {
				v[i] = 100 * rng.NormFloat64()
			}
		}
		it := factoredAt(t, rng, p)
		for j := range it.x {
			it.x[j] = rng.NormFloat64()
		}
		it.tau, it.kappa = 0.1+rng.Float64(), 0.3
		it.residuals()
		got := it.measure()
		sol := it.f.expand(it.x, it.s, it.z, it.tau)
		want, primal, dual := backends.Recheck(p, sol.X, sol.S, sol.Z)
		product := 0.0
		for i, s := range sol.S {
			product += s * sol.Z[i]
		}
		gap := max(math.Abs(primal-dual), product) / max(1, min(math.Abs(primal), math.Abs(dual)))
		for _, c := range [][2]float64{{want.Primal, got.primal}, {want.Dual, got.dual}, {gap, got.gap},
			{primal, got.objective}, {dual, got.bound}} {
			require.InEpsilon(t, c[0], c[1], 1e-9)
		}
	}
}
