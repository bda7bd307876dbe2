package native_test

import (
	"math"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	_ "github.com/conetune/conetune/backends/native"
)

// TestNonconvex: min -x^2/2 + y^2/2 with x + y >= -10 is unbounded, and is refused by name.
func TestNonconvex(t *testing.T) {
	diagonal := func(x, y float64) *sparse.CSC {
		return sparse.NewCSC(2, 2, []int{0, 1, 2}, []int{0, 1}, []float64{x, y})
	}
	p := &backends.Problem{
		P: diagonal(-1, 1), Q: []float64{0, 0}, A: sparse.NewCSC(1, 2, []int{0, 1, 2}, []int{0, 0}, []float64{-1, -1}),
		B:     []float64{10},
		Cones: []backends.Cone{backends.Nonnegative(1)},
	}
	var nonconvex *backends.ProblemError
	_, err := backendtest.Open(t, "native").Setup(p, backends.Options{})
	require.ErrorAs(t, err, &nonconvex)
	assert.Equal(t, []float64{1, 0}, nonconvex.Direction)
	assert.Equal(t, -1.0, nonconvex.Curvature)

	p.P = diagonal(1, 1)
	s := opened(t, p)
	require.ErrorAs(t, s.Update(backends.Update{P: diagonal(1, -1e-3)}), &nonconvex)
	sol := backendtest.Answer(t, s) // with the numbers before
	assert.Equal(t, backends.Optimal, sol.Status)
	assert.InDelta(t, 0, sol.Objective, 1e-7)
}

// TestNearlyConvex: min 1/2 (x^2 + y^2 + 2 (1+e) x y) - x - y has the eigenvalue -e along x = -y. With free variables
// it is unbounded; within a small box its optimum is near that of e = 0, -1/2.
func TestNearlyConvex(t *testing.T) {
	const e = 1e-6
	inf := math.Inf(1)
	for _, c := range []struct {
		name  string
		bound float64
		want  backends.Status
	}{{"free", inf, backends.Inaccurate}, {"bounded", 2, backends.Optimal}, {"a large box", 1e9, backends.Inaccurate}} {
		p := &backends.Problem{
			P: sparse.NewCSC(2, 2, []int{0, 1, 3}, []int{0, 0, 1}, []float64{1, 1 + e, 1}), Q: []float64{-1, -1},
			A: sparse.NewCSC(2, 2, []int{0, 1, 2}, []int{0, 1}, []float64{-1, -1}), B: []float64{0, 0},
			Cones: []backends.Cone{backends.Box([]float64{-c.bound, -c.bound}, []float64{c.bound, c.bound})},
		}
		sol := backendtest.Answer(t, opened(t, p))
		// optimal only locally: whether the solver ends there or nowhere, the status must not say more
		if c.name == "a large box" {
			assert.False(t, sol.Status == backends.Optimal && sol.Distance < 0.01 && math.Abs(sol.Objective+0.5) > 0.1)
			continue
		}
		assert.NotEqual(t, backends.DualInfeasible, sol.Status)
		if c.want == backends.Optimal {
			assert.Equal(t, c.want, sol.Status, sol.Message)
			assert.InDelta(t, -0.5, sol.Objective, 2e-5)
			assert.Positive(t, sol.Distance)
			assert.Less(t, sol.Distance, 2e-5)
		} else {
			assert.NotEqual(t, backends.Optimal, sol.Status)
		}
	}
}
