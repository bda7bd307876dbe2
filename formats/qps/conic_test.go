package qps

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/readertest"
)

func solve(t *testing.T, m *Model) (*backends.Solution, formats.Solution) {
	t.Helper()
	p := m.Conic()
	s := readertest.Solve(t, p.Problem)
	return s, p.Solution(s)
}

func TestSolveSmall(t *testing.T) {
	m := must.Of(Read("testdata/small.qps"))(t)
	s, got := solve(t, m)
	require.Equal(t, backends.Optimal, s.Status)
	// 3x - 2 = y1 and 2y - 2 = y1 at x = 1, y = 3/2 with y1 = 1; z = x.
	assert.InDeltaSlice(t, []float64{1, 1.5, 1}, got.X, 1e-6)
	assert.InDeltaSlice(t, []float64{1, 0, 0}, got.Y, 1e-6)
	assert.InDeltaSlice(t, []float64{0, 0, 0}, got.Z, 1e-6)
	// 3/2 + 9/4 - 2 - 3 + 1
	assert.InDelta(t, -0.25, got.Objective, 1e-6)
	assert.InDelta(t, -0.25, got.DualObjective, 1e-6)
}

func TestSolveInfeasible(t *testing.T) {
	// Bounds that cross are a property of the program, not an error.
	s, got := solve(t, parse(t, one("L", "BOUNDS\n LO B x 5\n UP B x 3\n")))
	assert.Equal(t, backends.PrimalInfeasible, s.Status)
	assert.Equal(t, inf, got.Objective)
	assert.InDelta(t, -got.Y[0], got.Z[0], 1e-8, "A'y + z = 0: the bounds of x and the row r contradict each other")

	s, got = solve(t, parse(t, "OBJSENSE MAX\n"+one("G", "")))
	assert.Equal(t, backends.DualInfeasible, s.Status)
	assert.Equal(t, inf, got.Objective, "a maximum without bound")
	assert.Positive(t, got.X[0])
}

// TestRandomOptimality solves programs that have a known point and checks the
// conditions of optimality in the terms of the file, entry by entry.
func TestRandomOptimality(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 60 {
		m := random(rng)
		rows, n := len(m.Rows), len(m.Columns)
		// A moderate program with x0 inside its sides, strictly convex in both senses.
		sign := 1.0
		if m.Maximize {
			sign = -1
		}
		m.P, m.Constant = nil, 0.5
		x0 := make([]float64, n)
		for j := range n {
			x0[j] = rng.NormFloat64()
			m.Q[j] = rng.NormFloat64()
		}
		data := m.A.RawMatrix().Data
		for k := range data {
			data[k] = rng.NormFloat64()
		}
		around := func(l, u *float64, v float64) {
			equal := *l == *u
			if !math.IsInf(*l, -1) {
				*l = v - rng.Float64()
			}
			if !math.IsInf(*u, 1) {
				*u = v + rng.Float64()
			}
			if equal {
				*l, *u = v, v
			}
		}
		a := dense(m.A)
		for i := range rows {
			v := 0.0
			for j := range n {
				v += a[i][j] * x0[j]
			}
			around(&m.RowLower[i], &m.RowUpper[i], v)
		}
		for j := range n {
			around(&m.ColumnLower[j], &m.ColumnUpper[j], x0[j])
		}
		m.P = diagonal(n, sign)
		s, got := solve(t, m)
		require.Equal(t, backends.Optimal, s.Status)
		check := func(multiplier, value, l, u float64) {
			assert.GreaterOrEqual(t, value, l-1e-6)
			assert.LessOrEqual(t, value, u+1e-6)
			if multiplier > 1e-4 {
				assert.InDelta(t, l, value, 1e-4, "a positive multiplier acts on the lower side")
			} else if multiplier < -1e-4 {
				assert.InDelta(t, u, value, 1e-4, "a negative multiplier acts on the upper side")
			}
		}
		objective := m.Constant
		reduced := make([]float64, n)
		for j, x := range got.X {
			objective += m.Q[j]*x + sign*x*x/2
			reduced[j] = sign * (m.Q[j] + sign*x)
		}
		for i := range rows {
			v := 0.0
			for j := range n {
				v += a[i][j] * got.X[j]
				reduced[j] -= a[i][j] * got.Y[i]
			}
			check(got.Y[i], v, m.RowLower[i], m.RowUpper[i])
		}
		assert.InDeltaSlice(t, reduced, got.Z, 1e-6)
		for j := range n {
			check(got.Z[j], got.X[j], m.ColumnLower[j], m.ColumnUpper[j])
		}
		assert.InDelta(t, objective, got.Objective, 1e-6)
	}
}

func diagonal(n int, v float64) *sparse.CSC {
	ptr, ind, data := make([]int, n+1), make([]int, n), make([]float64, n)
	for j := range n {
		ptr[j+1], ind[j], data[j] = j+1, j, v
	}
	return sparse.NewCSC(n, n, ptr, ind, data)
}
