package numerics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// No point of a fine grid of the feasible set is better, and the solution is feasible.
func TestAgainstGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		p := Boxed{
			G: []float64{3 * rng.NormFloat64(), 3 * rng.NormFloat64()}, Lo: []float64{-rng.Float64(), 0},
			Hi: []float64{rng.Float64(), 2},
			K:  [][]float64{{a*a + b*b, a * c}, {a * c, c * c}}, Most: 2 * rng.Float64(),
		}
		value := func(d []float64) float64 {
			g := p.gradient(d)
			return (p.G[0]+g[0])*d[0]/2 + (p.G[1]+g[1])*d[1]/2
		}
		d := p.Solve()
		require.LessOrEqual(t, d[0]+d[1], p.Most+1e-9)
		best := math.Inf(-1)
		const steps = 60
		for i := range steps + 1 {
			for j := range steps + 1 {
				e := []float64{p.Lo[0] + (p.Hi[0]-p.Lo[0])*float64(i)/steps, p.Lo[1] + (p.Hi[1]-p.Lo[1])*float64(j)/steps}
				if e[0]+e[1] <= p.Most {
					best = math.Max(best, value(e))
				}
			}
		}
		require.GreaterOrEqual(t, value(d), best-1e-9)
		for i, v := range d {
			require.GreaterOrEqual(t, v, p.Lo[i]-1e-9)
			require.LessOrEqual(t, v, p.Hi[i]+1e-9)
		}
	}
}

// A matrix with an entry that is not a number has no step, and the search for a ridge that makes it definite ends.
func TestNotANumber(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, k := range [][][]float64{{{v, 0}, {0, 1}}, {{1, v}, {v, 1}}, {{1, 0}, {0, v}}} {
			p := Boxed{G: []float64{1, 1}, Lo: []float64{-1, -1}, Hi: []float64{1, 1}, K: k, Most: math.Inf(1)}
			for i, d := range p.Solve() {
				require.True(t, d >= p.Lo[i] && d <= p.Hi[i], "%v: %v", k, d)
			}
		}
	}
}
