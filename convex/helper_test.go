package convex_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// native returns the backend that the tests solve with.
func native(t testing.TB) backends.ConicBackend {
	return must.Of(backends.Open("native"))(t)
}

// solver compiles a model.
func solver(t testing.TB, m *convex.Model, o convex.SolverOptions) *convex.Solver {
	p := must.Of(m.Compile())(t)
	if o.Backend == nil {
		o.Backend = native(t)
	}
	s := must.Of(p.Solver(o))(t)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// solve solves and expects an optimal point.
func solve(t testing.TB, s *convex.Solver) *convex.Result {
	r := must.Of(s.Solve(context.Background()))(t)
	require.Equal(t, backends.Optimal, r.Status, r.Message)
	return r
}

// random returns a vector of standard normal numbers.
func random(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// regression returns an n x p matrix of standard normal numbers and a response
// to the first k features with some noise.
func regression(rng *rand.Rand, n, p, k int) (*mat.Dense, []float64) {
	x := mat.NewDense(n, p, random(rng, n*p))
	y := random(rng, n)
	for i := range y {
		y[i] *= 0.5
		for j := range k {
			y[i] += x.At(i, j)
		}
	}
	return x, y
}

func inDelta(t testing.TB, want, got []float64, delta float64, msg ...any) {
	t.Helper()
	require.Len(t, got, len(want), msg...)
	for i := range want {
		if !(math.Abs(want[i]-got[i]) <= delta) {
			require.InDelta(t, want[i], got[i], delta, append([]any{"entry", i}, msg...)...)
		}
	}
}
