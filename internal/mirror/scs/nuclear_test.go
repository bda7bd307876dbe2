//go:build (scs && cgo) || scs_go

package scs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/mirror"
	"github.com/conetune/conetune/internal/mirror/scs"
)

// TestNuclear has min t with X fixed to [1 4; 2 2; 2 -4], whose columns are
// orthogonal and of lengths 3 and 6: t = 9, with the multiplier -UV'.
func TestNuclear(t *testing.T) { each(t, testNuclear) }

func testNuclear(t *testing.T, library scs.Library) {
	d := &scs.Data{
		A: &mirror.Matrix{Rows: 7, Cols: 1, Ptr: []int{0, 1}, Ind: []int{0}, Val: []float64{-1}},
		B: []float64{0, 1, 2, 2, 4, 2, -4}, C: []float64{1},
	}
	k := &scs.Cone{Nuclear: []scs.Size{{Rows: 3, Cols: 2}}}
	var set scs.Settings
	set.EpsAbs, set.EpsRel = 1e-9, 1e-9
	w, err := scs.New(library, d, k, &set)
	if !library.HasNuclear() {
		assert.ErrorContains(t, err, "without the nuclear norm cone")
		return
	}
	require.NoError(t, err)
	defer w.Close()
	sol := &scs.Solution{X: make([]float64, 1), Y: make([]float64, 7), S: make([]float64, 7)}
	info, err := w.Solve(sol, false, nil)
	require.NoError(t, err)
	assert.Equal(t, scs.Solved, info.Status)
	assert.InDelta(t, 9, sol.X[0], 1e-6)
	assert.InDeltaSlice(t, []float64{1, -1. / 3, -2. / 3, -2. / 3, -2. / 3, -1. / 3, 2. / 3}, sol.Y, 1e-6)

	k.Nuclear[0] = scs.Size{Rows: 2, Cols: 3}
	_, err = scs.New(library, d, k, &set)
	assert.ErrorContains(t, err, "scs_init failed") // more columns than rows
}
