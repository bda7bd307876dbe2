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
	"github.com/conetune/conetune/internal/must"
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
	return &highs.Settings{PrimalTolerance: 1e-9, DualTolerance: 1e-9, IPMTolerance: 1e-9, Crossover: true, Presolve: true,
		Iterations: 1000}
}

func open(t *testing.T, d *highs.Data) *highs.Solver {
	t.Helper()
	s := must.Of(highs.New(d))(t)
	t.Cleanup(s.Close)
	return s
}

// TestFreeRows: a row that wants nothing, before and after an update, beside one with two bounds, whose slack interior
// points of HiGHS count from before. The point next to 2 with x <= 1 is 1, and that next to -2 with x >= 0 is 0.
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
			{x: 1}, {q: []float64{2}, x: 0}, {l: []float64{-inf, 0, -inf}, u: []float64{inf, 1, inf}, x: 0},
			{q: []float64{-2}, x: 1},
			{l: []float64{0, -inf, -inf}, u: []float64{0.5, inf, inf}, x: 0.5},
		} {
			require.NoError(t, s.Update(nil, c.q, nil, c.l, c.u))
			info := must.Of(s.Solve(set, sol, nil, 0))(t)
			assert.Equal(t, highs.Optimal, info.Status)
			assert.InDelta(t, c.x, sol.X[0], 1e-7)
		}
	}
}

func TestStops(t *testing.T) {
	s, sol, set := open(t, corner()), highs.NewSolution(2, 4), settings()
	set.Presolve = false
	stop := new(mirror.Interrupt)
	stop.Raise()
	info := must.Of(s.Solve(set, sol, stop, 0))(t)
	assert.Contains(t, []highs.Status{highs.TimeLimit, highs.Interrupted}, info.Status)
	require.NoError(t, s.Forget())
	info = must.Of(s.Solve(set, sol, nil, time.Nanosecond))(t)
	assert.Equal(t, highs.TimeLimit, info.Status)
	require.NoError(t, s.Forget())
	info = must.Of(s.Solve(set, sol, nil, 0))(t)
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
	assert.ErrorIs(t, s.Forget(), mirror.ErrClosed)
}
