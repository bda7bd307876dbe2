//go:build clarabel && cgo

package clarabel_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cgo/clarabel"
	"github.com/conetune/conetune/internal/mirror"
	"github.com/conetune/conetune/internal/must"
)

func one(v float64) *mirror.Matrix {
	return &mirror.Matrix{Rows: 1, Cols: 1, Ptr: []int{0, 1}, Ind: []int{0}, Val: []float64{v}}
}

// bound is min x^2/2 - 2x subject to x <= 1: x = 1 with the multiplier 1.
func bound() *clarabel.Data {
	return &clarabel.Data{P: one(1), Q: []float64{-2}, A: one(1), B: []float64{1},
		Cones: []clarabel.Cone{{Kind: clarabel.Nonnegative, Dim: 1}}}
}

func point(n, m int) *clarabel.Solution {
	return &clarabel.Solution{X: make([]float64, n), S: make([]float64, m), Z: make([]float64, m)}
}

func open(t *testing.T, d *clarabel.Data) *clarabel.Solver {
	t.Helper()
	var set clarabel.Settings
	s := must.Of(clarabel.New(d, &set))(t)
	t.Cleanup(s.Close)
	return s
}

func TestStops(t *testing.T) {
	s, sol := open(t, bound()), point(1, 1)
	stop := new(mirror.Interrupt)
	stop.Raise()
	info := must.Of(s.Solve(sol, stop, 0))(t)
	assert.Equal(t, clarabel.CallbackTerminated, info.Status)
	assert.True(t, info.Interrupted && stop.Raised())
	info = must.Of(s.Solve(sol, nil, time.Nanosecond))(t)
	assert.True(t, info.TimedOut && !info.Interrupted)

	var set clarabel.Settings
	set.MaxIter = 1
	require.NoError(t, s.Set(&set))
	info = must.Of(s.Solve(sol, nil, 0))(t)
	assert.Equal(t, 1, info.Iterations)
	set.NoEquilibration = true // which the set-up used
	assert.Error(t, s.Set(&set))
}

// TestPanics has weights whose sum is not one, on which Clarabel panics: that is an error with its text, nothing is
// printed, and other solvers go on.
func TestPanics(t *testing.T) {
	d := &clarabel.Data{P: &mirror.Matrix{Rows: 1, Cols: 1, Ptr: []int{0, 0}}, Q: []float64{1},
		A: &mirror.Matrix{Rows: 3, Cols: 1, Ptr: []int{0, 1}, Ind: []int{0}, Val: []float64{-1}},
		B: []float64{0, 1, 1}, Cones: []clarabel.Cone{{Kind: clarabel.GeneralizedPower, Dim: 2, Extra: 1,
			Weights: []float64{0.5, 0.6}}}}
	var set clarabel.Settings
	_, err := clarabel.New(d, &set)
	var failed *mirror.Error
	require.True(t, errors.As(err, &failed), err)
	assert.True(t, failed.Broken)
	assert.Contains(t, failed.Text, "assertion failed")

	d.Cones[0].Weights[1] = 0.5 // x^0.5 >= 1
	sol := point(1, 3)
	info := must.Of(open(t, d).Solve(sol, nil, 0))(t)
	assert.Equal(t, clarabel.Solved, info.Status)
	assert.InDelta(t, 1, sol.X[0], 1e-6)
}

func TestMisuse(t *testing.T) {
	var set clarabel.Settings
	d := bound()
	d.Q = nil
	_, err := clarabel.New(d, &set)
	assert.ErrorContains(t, err, "q has length 0, expected 1")
	d = bound()
	d.Cones[0].Dim = 2
	_, err = clarabel.New(d, &set)
	assert.ErrorContains(t, err, "set-up")
	d.Cones[0].Kind = 99
	_, err = clarabel.New(d, &set)
	assert.ErrorContains(t, err, "unknown cone")
	set.LinearSolver = 7
	_, err = clarabel.New(bound(), &set)
	assert.Error(t, err)

	s := open(t, bound())
	_, err = s.Solve(point(2, 1), nil, 0)
	assert.Error(t, err)
	s.Close()
	s.Close()
	_, err = s.Solve(point(1, 1), nil, 0)
	assert.ErrorIs(t, err, mirror.ErrClosed)
	assert.ErrorIs(t, s.Update(nil, nil, nil, nil), mirror.ErrClosed)
	assert.ErrorIs(t, s.Set(&set), mirror.ErrClosed)
	assert.False(t, s.Updatable())
}
