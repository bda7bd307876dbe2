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
		require.True(t, Search(1, 60, func(step float64) (float64, bool, bool) {
			last = step
			return 1 - step/s, true, false
		}))
		if s >= 1 {
			require.Equal(t, 1.0, last)
		} else {
			require.InDelta(t, s, last, left*s)
		}
	}
	last := 0.0
	require.True(t, Search(1, 60, func(step float64) (float64, bool, bool) {
		last = step
		return 0.1 - step, step < 0.4, false
	}))
	require.Less(t, last, 0.4)
	require.False(t, Search(1, 60, func(float64) (float64, bool, bool) { return 0, false, false }))
}

func TestStall(t *testing.T) {
	var s Stall
	for k, want := range []int{0, 1, 0, 1, 2, 0} {
		require.Equal(t, want, s.Idle([]float64{math.Inf(1), math.Inf(1), 1, 0.95, 0.91, 0.85}[k]))
	}
	s.Restart()
	require.Equal(t, 1, s.Idle(0.85))
}
