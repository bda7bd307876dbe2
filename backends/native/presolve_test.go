package native_test

import (
	"math"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/matrices"
)

func denseCSC(rows, cols int, v ...float64) *sparse.CSC {
	return matrices.Compress(mat.NewDense(rows, cols, v))
}

func opened(t *testing.T, p *backends.Problem) backends.Solver {
	t.Helper()
	return backendtest.Setup(t, backendtest.Open(t, "native"), p, backends.Options{})
}

// TestPresolve: min 1/2 (x^2 + y^2) + x y / 2 + z with 2x = 4, x + y >= 3, z = 5, a variable and a row without entries
// and a row without bounds. With x = 2 and z = 5 it is min y^2/2 + y + 7 over y >= 1, so y = 1 and the value is 8.5.
// The multipliers are those of the whole: of x + y >= 3 as -x-y+s=-3, y + x/2 - m = 0, so m = 2; of 2x = 4, x + y/2 + 2
// u - m = 0, so u = -1/4; and of z, 1 + w = 0.
func TestPresolve(t *testing.T) {
	inf := math.Inf(1)
	p := &backends.Problem{
		P: denseCSC(4, 4, 1, 0.5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
		Q: []float64{0, 0, 1, 0},
		A: denseCSC(6, 4,
			2, 0, 0, 0,
			0, 0, 0, 0,
			-1, -1, 0, 0,
			0, 0, 0, 0,
			0, 0, 1, 0,
			1, 1, 1, 0),
		B: []float64{4, 0, -3, 7, 6, 0},
		Cones: []backends.Cone{backends.Zero(2), backends.Nonnegative(2), backends.Box([]float64{1, -1e20},
			[]float64{1, inf})},
	}
	s := opened(t, p)
	check := func(bound float64) {
		t.Helper()
		sol := backendtest.Answer(t, s)
		require.Equal(t, backends.Optimal, sol.Status, sol.Message)
		y := bound - 2
		assert.InDelta(t, y*y/2+y+7, sol.Objective, 1e-6)
		assert.InDeltaSlice(t, []float64{2, y, 5, 0}, sol.X, 1e-6)
		assert.InDeltaSlice(t, []float64{0, 0, 0, 7, 1, -7 - y}, sol.S, 1e-6)
		m := y + 1
		assert.InDeltaSlice(t, []float64{(m - 2 - y/2) / 2, 0, m, 0, -1, 0}, sol.Z, 1e-6)
		r, _, _ := backends.Recheck(p, sol.X, sol.S, sol.Z)
		assert.LessOrEqual(t, r.Max(), 1e-8)
	}
	check(3)
	p.B = []float64{4, 0, -4, 7, 6, 0}
	require.NoError(t, s.Update(backends.Update{B: p.B}))
	check(4)
	// An update that makes the row without entries a contradiction, and one that takes it back.
	require.NoError(t, s.Update(backends.Update{B: []float64{4, -3, -4, 7, 6, 0}}))
	sol := backendtest.Answer(t, s)
	assert.Equal(t, backends.PrimalInfeasible, sol.Status)
	assert.Equal(t, inf, sol.Radius)
	assert.InDelta(t, 1.0/3, sol.Z[1], 1e-12)
	require.NoError(t, s.Update(backends.Update{B: p.B}))
	check(4)
}

// TestPresolveOfLinearPrograms: min -3 x0 + x1 + x2 - x3 - 5 x4 + c x5 over x0 to x4 >= 0, x4 <= 2 with
//
//	x0 + x1 = r,   x2 - 2 x3 = 1,   x2 + x3 + x4 <= 10,   x4 - x5 <= -t,   x4 - x3 <= 100.
//
// With r = 0 the first row forces its variables. The last is implied, x5 is x4 + t for c > 0, and with x2 = 1 + 2 x3 the
// value is -3 r + 1 - 10 + c (2 + t) at x3 = 0, for c < 5.
func TestPresolveOfLinearPrograms(t *testing.T) {
	p := &backends.Problem{
		Q: []float64{-3, 1, 1, -1, -5, 2},
		A: denseCSC(11, 6,
			1, 1, 0, 0, 0, 0,
			0, 0, 1, -2, 0, 0,
			0, 0, 1, 1, 1, 0,
			0, 0, 0, 0, 1, -1,
			0, 0, 0, -1, 1, 0,
			-1, 0, 0, 0, 0, 0,
			0, -1, 0, 0, 0, 0,
			0, 0, -1, 0, 0, 0,
			0, 0, 0, -1, 0, 0,
			0, 0, 0, 0, -1, 0,
			0, 0, 0, 0, 1, 0),
		B:     []float64{0, 1, 10, -1, 100, 0, 0, 0, 0, 0, 2},
		Cones: []backends.Cone{backends.Zero(2), backends.Nonnegative(9)},
	}
	s := opened(t, p)
	solve := func(r, t1, c float64, want backends.Status) {
		t.Helper()
		p.B, p.Q = slices.Clone(p.B), slices.Clone(p.Q)
		p.B[0], p.B[3], p.Q[5] = r, -t1, c
		require.NoError(t, s.Update(backends.Update{B: p.B, Q: p.Q}))
		for _, solver := range []backends.Solver{s, opened(t, p)} {
			sol := backendtest.Answer(t, solver)
			require.Equal(t, want, sol.Status, sol.Message)
			if want != backends.Optimal {
				continue
			}
			assert.InDelta(t, -3*r-9+c*(2+t1), sol.Objective, 1e-7)
			assert.InDeltaSlice(t, []float64{r, 0, 1, 0, 2, 2 + t1}, sol.X, 1e-7)
			residuals, _, _ := backends.Recheck(p, sol.X, sol.S, sol.Z)
			assert.LessOrEqual(t, residuals.Max(), 1e-8)
		}
	}
	solve(0, 1, 2, backends.Optimal)
	solve(0, 3, 1, backends.Optimal)
	solve(-1, 3, 1, backends.PrimalInfeasible)
	solve(1, 2, 3, backends.Optimal)
	solve(1, 2, -1, backends.DualInfeasible)
	solve(0, 1, 2, backends.Optimal)
}

// TestContradictions are what no solver is asked: exact certificates.
func TestContradictions(t *testing.T) {
	for _, c := range []struct {
		name string
		p    *backends.Problem
		want backends.Status
	}{
		{"0 = -3", &backends.Problem{Q: []float64{1}, A: denseCSC(1, 1, 0), B: []float64{-3},
			Cones: []backends.Cone{backends.Zero(1)}}, backends.PrimalInfeasible},
		{"0 >= 1e-11 beside a large row", &backends.Problem{Q: []float64{1}, A: denseCSC(2, 1, 1, 0),
			B: []float64{1e6, -1e-11}, Cones: []backends.Cone{backends.Nonnegative(2)}}, backends.PrimalInfeasible},
		{"0.3 x = 1 and 0.7 x = 1", &backends.Problem{Q: []float64{1}, A: denseCSC(2, 1, 0.3, 0.7), B: []float64{1, 1},
			Cones: []backends.Cone{backends.Zero(2)}}, backends.PrimalInfeasible},
		{"x <= 1 and x >= 1.001, far apart in scale", &backends.Problem{Q: []float64{1}, A: denseCSC(2, 1, 1e-9, -1e9),
			B: []float64{1e-9, -1.001e9}, Cones: []backends.Cone{backends.Nonnegative(2)}}, backends.PrimalInfeasible},
		{"1e-12 x without rows", &backends.Problem{Q: []float64{1e-12}}, backends.DualInfeasible},
	} {
		sol := backendtest.Answer(t, opened(t, c.p))
		assert.Equal(t, c.want, sol.Status, c.name)
		assert.Equal(t, math.Inf(1), sol.Radius, c.name)
		assert.Zero(t, sol.Iterations, c.name)
	}
}

// TestColdAgain has a start that leads to a false verdict or to nothing: min -x with x in [0, 1] from x = 1e12.
func TestColdAgain(t *testing.T) {
	p := &backends.Problem{Q: []float64{-1, 1}, A: denseCSC(3, 2, 1, 1, -1, 0, 0, -1), B: []float64{1, 0, 0},
		Cones: []backends.Cone{backends.Nonnegative(3)}}
	s := opened(t, p)
	for _, far := range []float64{1e6, 1e12, 1e200} {
		require.NoError(t, s.WarmStart(backends.Point{X: []float64{far, -far}, S: []float64{1 / far, far, far},
			Z: []float64{far, 1 / far, far}}))
		sol := backendtest.Answer(t, s)
		assert.Equal(t, backends.Optimal, sol.Status, sol.Message)
		assert.InDelta(t, -1, sol.Objective, 1e-7)
	}
}
