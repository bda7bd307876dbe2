//go:build (osqp && cgo) || osqp_go

package osqp_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/mirror"
	"github.com/conetune/conetune/internal/mirror/osqp"
	"github.com/conetune/conetune/internal/must"
)

// libraries are those of the build, by name.
var libraries = map[string]osqp.Library{}

// each runs a test on each of them.
func each(t *testing.T, test func(*testing.T, osqp.Library)) {
	for name, library := range libraries {
		t.Run(name, func(t *testing.T) { test(t, library) })
	}
}

func one(v float64) *mirror.Matrix {
	return &mirror.Matrix{Rows: 1, Cols: 1, Ptr: []int{0, 1}, Ind: []int{0}, Val: []float64{v}}
}

// projection is min |x|^2/2 - 2x subject to -1 <= x <= 1: x = 1 with the multiplier 1.
func projection() *osqp.Data {
	return &osqp.Data{P: one(1), Q: []float64{-2}, A: one(1), L: []float64{-1}, U: []float64{1}}
}

func point() *osqp.Solution {
	v := func() []float64 { return make([]float64, 1) }
	return &osqp.Solution{X: v(), Y: v(), PrimalCertificate: v(), DualCertificate: v()}
}

func settings() *osqp.Settings {
	return &osqp.Settings{EpsAbs: 1e-9, EpsRel: 1e-9, Polishing: true}
}

func open(t *testing.T, library osqp.Library) *osqp.Solver {
	t.Helper()
	s := must.Of(osqp.New(library, projection(), settings()))(t)
	t.Cleanup(s.Close)
	return s
}

// TestStatusIsOfThisSolve has a solve that cannot end after one that did: OSQP
// itself calls the second one solved.
func TestStatusIsOfThisSolve(t *testing.T) { each(t, testStatusIsOfThisSolve) }

func testStatusIsOfThisSolve(t *testing.T, library osqp.Library) {
	s, sol := open(t, library), point()
	info := must.Of(s.Solve(sol, nil))(t)
	assert.Equal(t, osqp.Solved, info.Status)
	set := settings()
	set.MaxIterations, set.EpsAbs, set.EpsRel = 2, 1e-14, 1e-14
	require.NoError(t, s.UpdateSettings(set))
	require.NoError(t, s.WarmStart([]float64{1e6}, []float64{1e6}))
	info = must.Of(s.Solve(sol, nil))(t)
	assert.Equal(t, osqp.MaxIterReached, info.Status)
}

func TestMisuse(t *testing.T) { each(t, testMisuse) }

func testMisuse(t *testing.T, library osqp.Library) {
	d := projection()
	d.Q = []float64{1, 2}
	_, err := osqp.New(library, d, settings())
	assert.ErrorContains(t, err, "q has length 2, expected 1")

	var failed *mirror.Error
	d = projection()
	d.L[0] = 3 // above the upper bound
	_, err = osqp.New(library, d, settings())
	require.ErrorAs(t, err, &failed)
	assert.False(t, osqp.NotFactored(err))
	assert.NotEmpty(t, failed.Error())

	d = projection()
	d.P = one(-1)
	_, err = osqp.New(library, d, settings())
	require.ErrorAs(t, err, &failed)
	assert.True(t, osqp.NotFactored(err))

	set := settings()
	set.Alpha = 7
	_, err = osqp.New(library, projection(), set)
	assert.True(t, errors.As(err, &failed))

	s := open(t, library)
	assert.ErrorContains(t, s.UpdateVectors([]float64{1, 2}, nil, nil), "q has length 2")
	assert.ErrorContains(t, s.UpdateMatrices([]float64{1, 2}, nil), "P has length 2")
	assert.ErrorContains(t, s.WarmStart(nil, []float64{1, 2}), "y has length 2")
	assert.Error(t, s.UpdateVectors(nil, []float64{5}, []float64{4}))
	assert.Error(t, s.UpdateRho(-1))
	_, err = s.Solve(&osqp.Solution{}, nil)
	assert.ErrorContains(t, err, "length")
	s.Close()
	s.Close()
	_, err = s.Solve(point(), nil)
	assert.ErrorIs(t, err, mirror.ErrClosed)
	assert.Zero(t, s.Info())
}
