//go:build (scs && cgo) || scs_go

package scs_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/mirror"
	"github.com/conetune/conetune/internal/mirror/scs"
	"github.com/conetune/conetune/internal/must"
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
	one := func(v float64) *mirror.Matrix {
		return &mirror.Matrix{Rows: 1, Cols: 1, Ptr: []int{0, 1}, Ind: []int{0}, Val: []float64{v}}
	}
	return &scs.Data{P: one(1), A: one(1), B: []float64{1}, C: []float64{-2}}, &scs.Cone{Nonnegative: 1}
}

func point() *scs.Solution {
	return &scs.Solution{X: make([]float64, 1), Y: make([]float64, 1), S: make([]float64, 1)}
}

func open(t *testing.T, library scs.Library) *scs.Work {
	t.Helper()
	d, k := projection()
	var set scs.Settings
	set.EpsAbs, set.EpsRel = 1e-9, 1e-9
	w := must.Of(scs.New(library, d, k, &set))(t)
	t.Cleanup(w.Close)
	return w
}

// mixed is a random program with cones of all kinds but boxes, and P if wanted. The patterns are the same for all
// seeds.
func mixed(seed uint64, quadratic bool) (*scs.Data, *scs.Cone) {
	k := &scs.Cone{Zero: 2, Nonnegative: 6, SecondOrder: []int{4, 3}, PSD: []int{3}, Exponential: 1, DualExp: 1,
		Power: []float64{0.3, -0.6}}
	const m, n = 2 + 6 + 4 + 3 + 6 + 3 + 3 + 3 + 3, 12
	draw := rand.New(rand.NewPCG(seed, 1))
	normal := func(length int) []float64 {
		v := make([]float64, length)
		for i := range v {
			v[i] = draw.NormFloat64()
		}
		return v
	}
	a := &mirror.Matrix{Rows: m, Cols: n, Ptr: []int{0}}
	for j := range n {
		for i := j % 3; i < m; i += 3 {
			a.Ind = append(a.Ind, i)
		}
		a.Ptr = append(a.Ptr, len(a.Ind))
	}
	a.Val = normal(len(a.Ind))
	d := &scs.Data{A: a, B: normal(m), C: normal(n)}
	if quadratic {
		d.P = &mirror.Matrix{Rows: n, Cols: n, Ptr: make([]int, n+1)}
		for j := range n {
			if j%2 == 1 { // blocks [2 x; x 2] of every other pair, zero columns between
				d.P.Ind = append(d.P.Ind, j-1, j)
				d.P.Val = append(d.P.Val, draw.Float64(), 2)
			} else {
				d.P.Ind = append(d.P.Ind, j)
				d.P.Val = append(d.P.Val, 2)
			}
			d.P.Ptr[j+1] = len(d.P.Ind)
		}
	}
	return d, k
}

// TestSetNumbers has new numbers give what a new work gives, to the last bit, whatever was solved before.
func TestSetNumbers(t *testing.T) { each(t, testSetNumbers) }

func testSetNumbers(t *testing.T, library scs.Library) {
	if !library.SetsNumbers() {
		t.Skip("a library of the system")
	}
	var set scs.Settings
	set.EpsAbs, set.EpsRel, set.MaxIters = 1e-7, 1e-7, 20_000
	for _, quadratic := range []bool{false, true} {
		for _, normalize := range []bool{false, true} {
			set.NoNormalize = !normalize
			d, k := mixed(1, quadratic)
			old := must.Of(scs.New(library, d, k, &set))(t)
			defer old.Close()
			for seed := range uint64(4) {
				d, k := mixed(seed+2, quadratic)
				fresh := must.Of(scs.New(library, d, k, &set))(t)
				defer fresh.Close()
				var points [2]*scs.Solution
				var iterations [2]int
				for i, w := range []*scs.Work{old, fresh} {
					if w == old {
						done := must.Of(w.SetNumbers(d, 0.1))(t)
						require.True(t, done)
					}
					points[i] = &scs.Solution{X: make([]float64, len(d.C)), Y: make([]float64, len(d.B)), S: make([]float64, len(d.B))}
					info := must.Of(w.Solve(points[i], false, nil))(t)
					iterations[i] = info.Iterations
				}
				require.Equal(t, iterations[1], iterations[0])
				for i := range points[0].Y { // certificates have entries that are no numbers
					require.Equal(t, math.Float64bits(points[1].Y[i]), math.Float64bits(points[0].Y[i]))
					require.Equal(t, math.Float64bits(points[1].S[i]), math.Float64bits(points[0].S[i]))
				}
			}
		}
	}
}

// TestSetNumbersRefused has numbers that the work cannot take.
func TestSetNumbersRefused(t *testing.T) { each(t, testSetNumbersRefused) }

func testSetNumbersRefused(t *testing.T, library scs.Library) {
	if !library.SetsNumbers() {
		t.Skip("a library of the system")
	}
	w := open(t, library)
	d, _ := projection()
	d.A.Val[0] = math.NaN()
	done := must.Of(w.SetNumbers(d, 0.1))(t)
	require.False(t, done)
	info := must.Of(w.Solve(point(), false, nil))(t) // as it was
	require.Equal(t, scs.Solved, info.Status)

	d, _ = projection()
	d.P = nil
	_, err := w.SetNumbers(d, 0.1)
	require.ErrorContains(t, err, "P has length 0, expected 1")
	d, _ = projection()
	d.P.Val[0] = -1
	_, err = w.SetNumbers(d, 0.1)
	require.ErrorIs(t, err, scs.ErrInit)

	var set scs.Settings
	boxed := &scs.Data{A: &mirror.Matrix{Rows: 2, Cols: 1, Ptr: []int{0, 1}, Ind: []int{1}, Val: []float64{-1}},
		B: []float64{1, 0}, C: []float64{1}}
	w = must.Of(scs.New(library, boxed, &scs.Cone{Box: &scs.Box{Lower: []float64{2}, Upper: []float64{5}}}, &set))(t)
	defer w.Close()
	done = must.Of(w.SetNumbers(boxed, 0.1))(t)
	require.False(t, done)
}

// TestFinish ends a solve that would go on for ever, with its point and the limits as
// they were.
func TestFinish(t *testing.T) { each(t, testFinish) }

func testFinish(t *testing.T, library scs.Library) {
	d, k := projection()
	var set scs.Settings
	set.EpsAbs, set.EpsRel, set.MaxIters = -1, -1, 1<<30
	w := must.Of(scs.New(library, d, k, &set))(t)
	defer w.Close()
	if !w.SetLimits(&set) {
		t.Skip("a library of the system")
	}
	for range 2 {
		stop, sol := new(mirror.Interrupt), point()
		time.AfterFunc(100*time.Millisecond, stop.Finish)
		info := must.Of(w.Solve(sol, false, stop))(t)
		assert.False(t, stop.Raised())
		assert.Equal(t, scs.SolvedInaccurate, info.Status)
		assert.Greater(t, info.Iterations, 100)
		assert.InDelta(t, 1, sol.X[0], 1e-7)
	}
	set.EpsAbs, set.MaxIters = 1e-6, 1000
	require.True(t, w.SetLimits(&set))
	info := must.Of(w.Solve(point(), false, new(mirror.Interrupt)))(t)
	assert.Equal(t, scs.Solved, info.Status)

	stop := new(mirror.Interrupt) // before the first iteration
	stop.Finish()
	info = must.Of(w.Solve(point(), false, stop))(t)
	assert.Equal(t, 1, info.Iterations)
	stop.Raise()
	assert.True(t, stop.Raised())
}

func TestMisuse(t *testing.T) { each(t, testMisuse) }

func testMisuse(t *testing.T, library scs.Library) {
	d, k := projection()
	var set scs.Settings
	d.C = []float64{1, 2}
	_, err := scs.New(library, d, k, &set)
	assert.ErrorContains(t, err, "c has length 2")
	d, _ = projection()
	_, err = scs.New(library, d, &scs.Cone{Nonnegative: 2}, &set)
	assert.ErrorContains(t, err, "scs_init failed")
	d.A.Val[0] = math.NaN()
	_, err = scs.New(library, d, k, &set)
	assert.ErrorContains(t, err, "scs_init failed")
	d.A.Ptr = []int{0}
	_, err = scs.New(library, d, k, &set)
	assert.ErrorContains(t, err, "do not fit together")

	w := open(t, library)
	assert.ErrorContains(t, w.Update([]float64{1, 2}, nil), "b has length 2")
	_, err = w.Solve(&scs.Solution{}, false, nil)
	assert.ErrorContains(t, err, "x has length 0, expected 1")
	w.Close()
	w.Close()
	_, err = w.Solve(point(), false, nil)
	assert.ErrorIs(t, err, mirror.ErrClosed)
}
