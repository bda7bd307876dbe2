package numerics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Conjugate gradients meet the solution by a factor; without positive curvature they stop with what they have and say
// in which direction.
func TestConjugateGradient(t *testing.T) {
	const n = 12
	rng := rand.New(rand.NewPCG(1, 2))
	a, q := mat.NewDense(n, n, nil), make([]float64, n)
	a.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, a)
	for i := range q {
		q[i] = rng.NormFloat64()
	}
	h := mat.NewSymDense(n, nil)
	h.SymOuterK(1, a)
	system := System{
		Multiply: func(out, v []float64) bool {
			mat.NewVecDense(n, out).MulVec(h, mat.NewVecDense(n, v))
			return true
		},
		Divide: func(out, v []float64) { floats.ScaleTo(out, 0.5, v) },
	}
	x := make([]float64, n)
	_, ok := system.Solve(x, slices.Clone(q), 1e-12, 10*n)
	require.True(t, ok)
	require.False(t, system.Bent)
	var want mat.VecDense
	require.NoError(t, want.SolveVec(h, mat.NewVecDense(n, q)))
	require.InDeltaSlice(t, want.RawVector().Data, x, 1e-6*floats.Norm(x, 2))
	for i := range n {
		h.SetSym(i, i, h.At(i, i)-1e3)
	}
	clear(x)
	steps, _ := system.Solve(x, slices.Clone(q), 1e-12, 10*n)
	require.Zero(t, steps)
	require.True(t, system.Bent)
	require.Equal(t, make([]float64, n), x)
	d := slices.Clone(system.Way)
	floats.Scale(2, d)
	require.Equal(t, q, d)
	product := make([]float64, n)
	system.Multiply(product, system.Way)
	require.InEpsilon(t, floats.Dot(system.Way, product), system.Curve, 1e-12)
	require.Negative(t, system.Curve)
}

// Along t - t^2 / (2 s) the unit step is taken up to s = 1, and else the slope 1 - t / s falls to three tenths; where
// there are no points beyond an end, none is taken.
func TestSearch(t *testing.T) {
	for _, s := range []float64{2, 1, 0.7, 0.03, 1e-6} {
		last := 0.0
		require.True(t, Search(1, Little, 60, func(step float64) (float64, bool, bool) {
			last = step
			return 1 - step/s, true, false
		}))
		if s >= 1 {
			require.Equal(t, 1.0, last)
		} else {
			require.InDelta(t, s, last, Little*s)
		}
	}
	last := 0.0
	require.True(t, Search(1, Little, 60, func(step float64) (float64, bool, bool) {
		last = step
		return 0.1 - step, step < 0.4, false
	}))
	require.Less(t, last, 0.4)
	require.False(t, Search(1, Little, 60, func(float64) (float64, bool, bool) { return 0, false, false }))
}

func TestStall(t *testing.T) {
	var s Stall
	for k, want := range []int{0, 1, 0, 1, 2, 0} {
		require.Equal(t, want, s.Idle([]float64{math.Inf(1), math.Inf(1), 1, 0.95, 0.91, 0.85}[k]))
	}
	s.Restart()
	require.Equal(t, 1, s.Idle(0.85))
}

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
