//go:build highs && cgo

package highs_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cgo/highs"
	"github.com/conetune/conetune/internal/mirror"
)

var inf = math.Inf(1)

// corner is min -x - 2y for x + y <= 4, x + 3y <= 6 and x, y >= 0: (3, 1) with the multipliers -1/2, -1/2, 0, 0.
func corner() *highs.Data {
	return &highs.Data{
		Q: []float64{-1, -2}, Lower: []float64{-inf, -inf, 0, 0}, Upper: []float64{4, 6, inf, inf},
		A: &mirror.Matrix{Rows: 4, Cols: 2, Ptr: []int{0, 3, 6}, Ind: []int{0, 1, 2, 0, 1, 3},
			Val: []float64{1, 1, 1, 1, 3, 1}},
	}
}

func settings() *highs.Settings {
	return &highs.Settings{PrimalTolerance: 1e-9, DualTolerance: 1e-9, IPMTolerance: 1e-9, Crossover: true, Presolve: true, Iterations: 1000}
}

func open(t *testing.T, d *highs.Data) *highs.Solver {
	t.Helper()
	s, err := highs.New(d)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func TestSolveAndUpdate(t *testing.T) {
	assert.Equal(t, "1.15.0", highs.Version())
	for _, method := range []highs.Method{highs.Simplex, highs.IPX, highs.HiPO} {
		s, sol, set := open(t, corner()), highs.NewSolution(2, 4), settings()
		set.Method = method
		info, err := s.Solve(set, sol, nil, 0)
		require.NoError(t, err)
		assert.Equal(t, highs.Optimal, info.Status)
		assert.True(t, info.HasPoint && info.HasBasis)
		assert.InDeltaSlice(t, []float64{3, 1}, sol.X, 1e-9)
		assert.InDeltaSlice(t, []float64{-0.5, -0.5, 0, 0}, sol.Y, 1e-9)
		assert.Equal(t, []highs.BasisStatus{highs.AtUpper, highs.AtUpper, highs.Basic, highs.Basic}, sol.Basis.Rows)

		// max x instead: (4, 0). Then x + 2y <= 4: the same. Then x + 2y <= 2: (2, 0).
		for _, c := range []struct {
			q, a, l, u []float64
			x          float64
		}{
			{q: []float64{-1, 0}, x: 4}, {a: []float64{1, 1, 1, 2, 3, 1}, x: 4}, {l: []float64{-inf, -inf, 0, 0}, u: []float64{2, 6, inf, inf}, x: 2},
		} {
			require.NoError(t, s.Update(nil, c.q, c.a, c.l, c.u))
			info, err = s.Solve(set, sol, nil, 0)
			require.NoError(t, err)
			assert.Equal(t, highs.Optimal, info.Status)
			assert.InDelta(t, c.x, sol.X[0], 1e-9)
		}
	}
}

// TestFreeRows: a row that wants nothing, before and after an update, beside one with two bounds, whose slack interior points of HiGHS count
// from before. The point next to 2 with x <= 1 is 1, and that next to -2 with x >= 0 is 0.
func TestFreeRows(t *testing.T) {
	d := &highs.Data{
		P: &mirror.Matrix{Rows: 1, Cols: 1, Ptr: []int{0, 1}, Ind: []int{0}, Val: []float64{1}},
		Q: []float64{-2}, A: &mirror.Matrix{Rows: 3, Cols: 1, Ptr: []int{0, 3}, Ind: []int{0, 1, 2}, Val: []float64{1, 1, 1}},
		Lower: []float64{-inf, -inf, 0}, Upper: []float64{inf, inf, 1},
	}
	for _, presolve := range []bool{true, false} {
		s, sol, set := open(t, d), highs.NewSolution(1, 3), settings()
		set.Method, set.Presolve = highs.HiPO, presolve
		for _, c := range []struct {
			q, l, u []float64
			x       float64
		}{
			{x: 1}, {q: []float64{2}, x: 0}, {l: []float64{-inf, 0, -inf}, u: []float64{inf, 1, inf}, x: 0}, {q: []float64{-2}, x: 1},
			{l: []float64{0, -inf, -inf}, u: []float64{0.5, inf, inf}, x: 0.5},
		} {
			require.NoError(t, s.Update(nil, c.q, nil, c.l, c.u))
			info, err := s.Solve(set, sol, nil, 0)
			require.NoError(t, err)
			assert.Equal(t, highs.Optimal, info.Status)
			assert.InDelta(t, c.x, sol.X[0], 1e-7)
		}
	}
}

// TestQuadratic is the point of the triangle x + y <= 1, x, y >= 0 next to (2, 1/2): (1, 0), where x + y <= 1 has the
// multiplier -1. Then (2, 2), whose nearest is (1/2, 1/2), and twice the weight of y.
func TestQuadratic(t *testing.T) {
	d := &highs.Data{
		P: &mirror.Matrix{Rows: 2, Cols: 2, Ptr: []int{0, 1, 2}, Ind: []int{0, 1}, Val: []float64{1, 1}},
		Q: []float64{-2, -0.5}, Lower: []float64{-inf, 0, 0}, Upper: []float64{1, inf, inf},
		A: &mirror.Matrix{Rows: 3, Cols: 2, Ptr: []int{0, 2, 4}, Ind: []int{0, 1, 0, 2}, Val: []float64{1, 1, 1, 1}},
	}
	s, sol, set := open(t, d), highs.NewSolution(2, 3), settings()
	set.Method = highs.HiPO
	point := func(x, y, multiplier float64) {
		info, err := s.Solve(set, sol, nil, 0)
		require.NoError(t, err)
		assert.True(t, info.HasPoint && info.Iterations > 0)
		assert.InDeltaSlice(t, []float64{x, y}, sol.X, 1e-8)
		assert.InDelta(t, multiplier, sol.Y[0], 1e-7)
	}
	point(1, 0, -1)
	require.NoError(t, s.Update(nil, []float64{-2, -2}, nil, nil, nil))
	point(0.5, 0.5, -1.5)
	require.NoError(t, s.Update([]float64{1, 2}, nil, nil, nil, nil)) // x - 2 = 2y - 2
	point(2./3, 1./3, -4./3)

	// With x + y >= 1 instead, no x' Px is left in y, and y goes to infinity.
	require.NoError(t, s.Update([]float64{1, 0}, nil, nil, []float64{1, 0, 0}, []float64{inf, inf, inf}))
	info, err := s.Prove(set, true, sol.Ray, nil, 0)
	require.NoError(t, err)
	assert.False(t, info.DualRay)
	info, err = s.Prove(set, false, sol.Ray, nil, 0)
	require.NoError(t, err)
	require.True(t, info.PrimalRay)
	assert.InDelta(t, 0, sol.Ray[0], 1e-9)
	assert.Greater(t, sol.Ray[1], 0.1)
	// x + y <= -1 has no point.
	require.NoError(t, s.Update(nil, nil, nil, []float64{-inf, 0, 0}, []float64{-1, inf, inf}))
	info, err = s.Prove(set, true, sol.Ray, nil, 0)
	require.NoError(t, err)
	assert.True(t, info.DualRay)
}

// TestRays has rows that contradict each other, and a cone that is open below.
func TestRays(t *testing.T) {
	d := corner()
	d.Lower[1] = 13 // x + 3y >= 13, but x + y <= 4 and x >= 0
	d.Upper[1] = inf
	s, sol := open(t, d), highs.NewSolution(2, 4)
	info, err := s.Solve(settings(), sol, nil, 0)
	require.NoError(t, err)
	require.True(t, info.Status == highs.Infeasible && info.DualRay)
	r := sol.Ray
	if r[0] > 0 {
		r = []float64{-r[0], -r[1], -r[2], -r[3]}
	}
	assert.InDelta(t, 0, r[0]+r[1]+r[2], 1e-9) // A'r = 0
	assert.InDelta(t, 0, r[0]+3*r[1]+r[3], 1e-9)
	assert.Greater(t, 4*r[0]+13*r[1], 0.) // with what the rows allow

	d = corner()
	d.Upper[0], d.Upper[1] = inf, inf
	s = open(t, d)
	info, err = s.Solve(settings(), sol, nil, 0)
	require.NoError(t, err)
	require.True(t, info.Status == highs.Unbounded && info.PrimalRay, info.Status)
	assert.True(t, sol.Ray[0] >= 0 && sol.Ray[1] >= 0 && sol.Ray[0]+sol.Ray[1] > 0)
}

func TestStops(t *testing.T) {
	s, sol, set := open(t, corner()), highs.NewSolution(2, 4), settings()
	set.Presolve = false
	stop := new(mirror.Interrupt)
	stop.Raise()
	info, err := s.Solve(set, sol, stop, 0)
	require.NoError(t, err)
	assert.Contains(t, []highs.Status{highs.TimeLimit, highs.Interrupted}, info.Status)
	require.NoError(t, s.Forget())
	info, err = s.Solve(set, sol, nil, time.Nanosecond)
	require.NoError(t, err)
	assert.Equal(t, highs.TimeLimit, info.Status)
	require.NoError(t, s.Forget())
	info, err = s.Solve(set, sol, nil, 0)
	require.NoError(t, err)
	assert.Equal(t, highs.Optimal, info.Status)
}

// TestStart begins at the solution's basis, and at none.
func TestStart(t *testing.T) {
	s, sol, set := open(t, corner()), highs.NewSolution(2, 4), settings()
	set.Presolve = false
	_, err := s.Solve(set, sol, nil, 0)
	require.NoError(t, err)
	require.NoError(t, s.Forget())
	require.NoError(t, s.Start(sol.Basis))
	info, err := s.Solve(set, sol, nil, 0)
	require.NoError(t, err)
	assert.Equal(t, highs.Optimal, info.Status)
	assert.Zero(t, info.Iterations)
	require.NoError(t, s.Forget())
	odd := highs.Basis{Cols: []highs.BasisStatus{highs.Basic, highs.Basic}, Rows: []highs.BasisStatus{highs.Basic, highs.Basic, highs.Basic, highs.Basic}}
	if err := s.Start(odd); err != nil {
		require.NoError(t, s.Forget())
	}
	info, err = s.Solve(set, sol, nil, 0)
	require.NoError(t, err)
	assert.Equal(t, highs.Optimal, info.Status)
}

func TestMisuse(t *testing.T) {
	d := corner()
	d.Q = nil
	_, err := highs.New(d)
	assert.ErrorContains(t, err, "q has length 0, expected 2")
	d = corner()
	d.P = &mirror.Matrix{Rows: 2, Cols: 2, Ptr: []int{0}}
	_, err = highs.New(d)
	assert.ErrorContains(t, err, "do not fit together")
	d = corner()
	d.A.Val[0] = 1e16 // more than its largest
	_, err = highs.New(d)
	assert.Error(t, err)

	s := open(t, corner())
	_, err = s.Solve(settings(), highs.NewSolution(1, 4), nil, 0)
	assert.Error(t, err)
	assert.Error(t, s.Update(nil, []float64{1}, nil, nil, nil))
	assert.Error(t, s.Start(highs.Basis{}))
	s.Close()
	s.Close()
	_, err = s.Solve(settings(), highs.NewSolution(2, 4), nil, 0)
	assert.ErrorIs(t, err, mirror.ErrClosed)
	assert.ErrorIs(t, s.Update(nil, nil, nil, nil, nil), mirror.ErrClosed)
	assert.ErrorIs(t, s.Forget(), mirror.ErrClosed)
	assert.ErrorIs(t, s.Start(highs.Basis{}), mirror.ErrClosed)
}
