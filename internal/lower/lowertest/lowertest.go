// Package lowertest has what the tests of the rooms of lower share: samples, and a check that solves end in time.
package lowertest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native" // that of Conic
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop/stoptest"
	"github.com/conetune/conetune/outcome"
)

// Sample draws n rows of p correlated features, a share of whose entries is not zero, and targets from k of them.
func Sample(seed uint64, n, p, k int, share float64) (*mat.Dense, []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := mat.NewDense(n, p, nil)
	y := make([]float64, n)
	for i := range n {
		row := x.RawRowView(i)
		last := 0.0
		for j := range row {
			last = 0.6*last + 0.8*rng.NormFloat64()
			if rng.Float64() < share {
				row[j] = last + 0.3
			}
		}
		for j := range k {
			y[i] += row[j*p/k] * float64(1+j%3)
		}
		y[i] += 2 + rng.NormFloat64()
	}
	return x, y
}

// Conic solves a model by the native backend, to eps, or as many digits as rounding leaves of it, of seven at least;
// where that is zero, to its default.
func Conic(t testing.TB, m *convex.Model, eps float64) *convex.Result {
	t.Helper()
	program, backend := must.Of(m.Compile())(t), must.Of(backends.Open("native"))(t)
	for ; ; eps *= 10 {
		o := convex.SolverOptions{Backend: backend, Options: backends.Options{Eps: eps}}
		solver := must.Of(program.Solver(o))(t)
		r := must.Of(solver.Solve(context.Background()))(t)
		require.NoError(t, solver.Close())
		if r.Status == backends.Inaccurate && 0 < eps && eps < 5e-8 {
			continue
		}
		require.Equal(t, backends.Optimal, r.Status)
		return r
	}
}

// EqualGroups divides p features into groups of a size, the last of which may be smaller.
func EqualGroups(p, size int) [][]int {
	return slices.Collect(slices.Chunk(indices.Range(0, p), size))
}

// End is how a solve ended, and the objective there.
type End struct {
	Status    outcome.Stop
	Objective float64
}

// StopsInTime checks that solves ask their context also within what one outer iteration does, end as soon as it says
// so, and until then do what they do without one.
func StopsInTime(t *testing.T, solves map[string]func(ctx context.Context) End) {
	t.Helper()
	for name, solve := range solves {
		whole := stoptest.After(math.MaxInt)
		want := solve(whole)
		asked := whole.Looks()
		require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, want.Status, name)
		require.Equal(t, want, solve(context.Background()), name)
		require.Greater(t, asked, 10, name)
		for n := 0; n < asked; n += 1 + n/8 {
			ctx := stoptest.After(n)
			got := solve(ctx)
			if got.Status != outcome.Cancelled { // asked for the last time, it had the solution
				require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, got.Status,
					"%s after %d of %d", name, n, asked)
				require.InEpsilon(t, want.Objective, got.Objective, 1e-7, "%s after %d of %d", name, n, asked)
			}
			require.LessOrEqual(t, ctx.Looks(), n+12, "%s after %d of %d: it asked again and again", name, n, asked)
		}
	}
}
