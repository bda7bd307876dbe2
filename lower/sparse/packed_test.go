package sparse

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/internal/lowertest"
)

// With more coefficients in use than a factor has room for, the systems of the Newton steps are solved by conjugate gradients. The
// solutions satisfy the optimality conditions, and are the same bytes however many threads there are.
func TestManyCoefficients(t *testing.T) {
	const n, p = 1300, 2600
	rng := rand.New(rand.NewPCG(4, 9))
	x, y := mat.NewDense(n, p, nil), make([]float64, n)
	for i := range n {
		y[i] = rng.NormFloat64()
		for range 12 {
			v := 0.5 + rng.Float64()
			x.Set(i, rng.IntN(1+rng.IntN(p)), v)
			y[i] += v * float64(rng.IntN(3)-1)
		}
	}
	for _, intercept := range []bool{false, true} {
		g, err := NewRegression(design.New(lowertest.Compress(x)), y, intercept)
		require.NoError(t, err)
		w := Weights{[]float64{0.01 * g.LambdaMax()}, []float64{1e-4 * g.LambdaMax()}}
		s, err := g.Solve(context.Background(), w, Options{Tol: 1e-12})
		require.NoError(t, err)
		require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status)
		require.Greater(t, len(s.Support), newtonMost)
		require.Positive(t, s.Newton)
		all := func(v []float64) func(int) float64 { return func(int) float64 { return v[0] } }
		require.Less(t, violation(x, y, intercept, all(w.L1), all(w.L2), s), 1e-6*g.LambdaMax())
		again, err := g.Solve(context.Background(), w, Options{Tol: 1e-12, Threads: 2})
		require.NoError(t, err)
		require.Equal(t, s, again)
	}
}
