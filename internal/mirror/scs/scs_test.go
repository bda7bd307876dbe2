//go:build (scs && cgo) || scs_go

package scs_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/mirror/scs"
)

// libraries are those of the build, by name.
var libraries = map[string]scs.Library{}

// each runs a test on each of them.
func each(t *testing.T, test func(*testing.T, scs.Library)) {
	for name, library := range libraries {
		t.Run(name, func(t *testing.T) { test(t, library) })
	}
}

// projection is min |x|^2/2 - 2x subject to x <= 1: x = 1 with the multiplier 1.
func projection() (*scs.Data, *scs.Cone) {
	one := func(v float64) *scs.Matrix {
		return &scs.Matrix{Rows: 1, Cols: 1, Ptr: []int{0, 1}, Ind: []int{0}, Val: []float64{v}}
	}
	return &scs.Data{P: one(1), A: one(1), B: []float64{1}, C: []float64{-2}}, &scs.Cone{Nonnegative: 1}
}

func point() *scs.Solution {
	return &scs.Solution{X: make([]float64, 1), Y: make([]float64, 1), S: make([]float64, 1)}
}

func open(t *testing.T, library scs.Library) scs.Work {
	t.Helper()
	d, k := projection()
	set := library.DefaultSettings()
	set.EpsAbs, set.EpsRel = 1e-9, 1e-9
	w, err := library.New(d, k, &set)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w
}

func TestVersion(t *testing.T) {
	each(t, func(t *testing.T, library scs.Library) { assert.Equal(t, "3.3.1", library.Version()) })
}

func TestDefaults(t *testing.T) { each(t, testDefaults) }

func testDefaults(t *testing.T, library scs.Library) {
	set := library.DefaultSettings() // as the documentation of SCS has them
	assert.Equal(t, 1.5, set.Alpha)
	assert.Equal(t, 1e-4, set.EpsAbs)
	assert.Equal(t, 1e-7, set.EpsInfeas)
	assert.Equal(t, 100_000, set.MaxIters)
	assert.True(t, set.Normalize && set.AdaptiveScale)
	assert.Zero(t, set.TimeLimit)
}

func TestSolveAndUpdate(t *testing.T) { each(t, testSolveAndUpdate) }

func testSolveAndUpdate(t *testing.T, library scs.Library) {
	w, sol := open(t, library), point()
	info, err := w.Solve(sol, false, nil)
	require.NoError(t, err)
	assert.Equal(t, scs.Solved, info.Status)
	assert.Equal(t, "solved", info.Text)
	assert.InDelta(t, 1, sol.X[0], 1e-7)
	assert.InDelta(t, 1, sol.Y[0], 1e-7)
	assert.InDelta(t, -1.5, info.PrimalObjective, 1e-7)
	assert.Positive(t, info.SolveTime)
	assert.Less(t, info.SolveTime, 10*time.Second)

	require.NoError(t, w.Update([]float64{3}, nil)) // the bound no longer binds: x = 2
	info, err = w.Solve(sol, true, nil)
	require.NoError(t, err)
	assert.Equal(t, scs.Solved, info.Status)
	assert.InDelta(t, 2, sol.X[0], 1e-7)
	assert.InDelta(t, 0, sol.Y[0], 1e-7)
}

func TestBoxCone(t *testing.T) { each(t, testBoxCone) }

func testBoxCone(t *testing.T, library scs.Library) {
	// min x with s = x - 0 in [2, 5]: t = 1 first, then s = -(-x).
	d := &scs.Data{
		A: &scs.Matrix{Rows: 2, Cols: 1, Ptr: []int{0, 1}, Ind: []int{1}, Val: []float64{-1}},
		B: []float64{1, 0}, C: []float64{1},
	}
	set := library.DefaultSettings()
	set.EpsAbs, set.EpsRel = 1e-9, 1e-9
	w, err := library.New(d, &scs.Cone{Box: &scs.Box{Lower: []float64{2}, Upper: []float64{5}}}, &set)
	require.NoError(t, err)
	defer w.Close()
	sol := &scs.Solution{X: make([]float64, 1), Y: make([]float64, 2), S: make([]float64, 2)}
	info, err := w.Solve(sol, false, nil)
	require.NoError(t, err)
	assert.Equal(t, scs.Solved, info.Status)
	assert.InDelta(t, 2, sol.X[0], 1e-6)
	assert.InDelta(t, 1, sol.Y[1], 1e-6)
	assert.InDelta(t, -2, sol.Y[0], 1e-6)
}

func TestInterrupt(t *testing.T) { each(t, testInterrupt) }

func testInterrupt(t *testing.T, library scs.Library) {
	w, sol := open(t, library), point()
	stop := new(scs.Interrupt)
	assert.False(t, stop.Raised())
	stop.Raise()
	assert.True(t, stop.Raised())
	info, err := w.Solve(sol, false, stop)
	require.NoError(t, err)
	assert.Contains(t, []scs.Status{scs.SigInt, scs.Failed}, info.Status)
	info, err = w.Solve(sol, false, new(scs.Interrupt)) // and the work is still good
	require.NoError(t, err)
	assert.Equal(t, scs.Solved, info.Status)
	assert.InDelta(t, 1, sol.X[0], 1e-7)
}

// TestFinish ends a solve that would go on for ever, with its point and the limits as
// they were.
func TestFinish(t *testing.T) { each(t, testFinish) }

func testFinish(t *testing.T, library scs.Library) {
	d, k := projection()
	set := library.DefaultSettings()
	set.EpsAbs, set.EpsRel, set.MaxIters = 0, 0, 1<<30
	w, err := library.New(d, k, &set)
	require.NoError(t, err)
	defer w.Close()
	if !w.SetLimits(&set) {
		t.Skip("a library of the system")
	}
	for range 2 {
		stop, sol := new(scs.Interrupt), point()
		time.AfterFunc(100*time.Millisecond, stop.Finish)
		info, err := w.Solve(sol, false, stop)
		require.NoError(t, err)
		assert.False(t, stop.Raised())
		assert.Equal(t, scs.SolvedInaccurate, info.Status)
		assert.Greater(t, info.Iterations, 100)
		assert.InDelta(t, 1, sol.X[0], 1e-7)
	}
	set.EpsAbs, set.MaxIters = 1e-6, 1000
	require.True(t, w.SetLimits(&set))
	info, err := w.Solve(point(), false, new(scs.Interrupt))
	require.NoError(t, err)
	assert.Equal(t, scs.Solved, info.Status)

	stop := new(scs.Interrupt) // before the first iteration
	stop.Finish()
	info, err = w.Solve(point(), false, stop)
	require.NoError(t, err)
	assert.Equal(t, 1, info.Iterations)
	stop.Raise()
	assert.True(t, stop.Raised())
}

func TestMisuse(t *testing.T) { each(t, testMisuse) }

func testMisuse(t *testing.T, library scs.Library) {
	d, k := projection()
	set := library.DefaultSettings()
	d.C = []float64{1, 2}
	_, err := library.New(d, k, &set)
	assert.ErrorContains(t, err, "c 2")
	d, _ = projection()
	_, err = library.New(d, &scs.Cone{Nonnegative: 2}, &set)
	assert.ErrorContains(t, err, "scs_init failed")
	d.A.Val[0] = math.NaN()
	_, err = library.New(d, k, &set)
	assert.ErrorContains(t, err, "scs_init failed")
	d.A.Ptr = []int{0}
	_, err = library.New(d, k, &set)
	assert.ErrorContains(t, err, "do not fit together")

	w := open(t, library)
	assert.ErrorContains(t, w.Update([]float64{1, 2}, nil), "length 2")
	_, err = w.Solve(&scs.Solution{}, false, nil)
	assert.ErrorContains(t, err, "expected 1, 1, 1")
	w.Close()
	w.Close()
	_, err = w.Solve(point(), false, nil)
	assert.ErrorIs(t, err, scs.ErrClosed)
	assert.ErrorIs(t, w.Update(nil, nil), scs.ErrClosed)
}
