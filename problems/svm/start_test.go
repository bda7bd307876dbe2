package svm

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/tune"
)

var _ tune.Cautious = (*Model)(nil)

// validation solves the lower level at h, fold by fold, and returns the mean loss of the machines on the validation rows.
func validation(t *testing.T, m *Model, h []float64) float64 {
	t.Helper()
	sum := 0.0
	for _, f := range m.cv.Folds {
		model := convex.NewModel()
		w, c := model.Variable("w", len(h)-1), model.Variable("c", 1)
		model.Minimize(m.rows.design(f.Train, m.weights).hinge(w, c))
		for _, b := range bounds(w, convex.Const(h...)) {
			model.Constrain(convex.LessEqual(b, convex.Const(0)))
		}
		prog, err := model.Compile()
		require.NoError(t, err)
		solver, err := prog.Solver(convex.SolverOptions{Backend: native(t)})
		require.NoError(t, err)
		res, err := solver.Solve(context.Background())
		require.NoError(t, err)
		solver.Close()
		sum += meanHinge(m.cv.Data, f.Val, m.weights, res.Value(w), res.Value(c)[0]) / float64(len(m.cv.Folds))
	}
	return sum
}

// The starts are one bound or the radius alone, in quarters of a power of ten.
func TestStarts(t *testing.T) {
	list := starts(3)
	require.Len(t, list, 15+21)
	for k, h := range list {
		require.Len(t, h, 4)
		require.Equal(t, h[1], h[2])
		require.Equal(t, h[1], h[3])
		if k < 15 {
			require.InEpsilon(t, math.Pow(10, -3+float64(k)/4), h[1], 1e-12)
			require.Equal(t, 10.0, h[0])
		} else {
			require.InEpsilon(t, math.Pow(10, -4+float64(k-15)/4), h[0], 1e-12)
			require.Equal(t, 10.0, h[1])
		}
	}
}

// On wide tables the starts are radii that grow, up to where the error rises, and there is no choice by rows held out. One row less in a fold is not enough.
func TestWideStarts(t *testing.T) {
	const n, p = 3 * (wideRows + 2) / 2, wideFeatures + 1
	m, err := New(folded(t, 4, n, p, 3, 0.01), Options{})
	require.NoError(t, err)
	prog := m.Program()
	require.Equal(t, 2, prog.PathRise)
	require.Len(t, prog.Starts, 21)
	for k, h := range prog.Starts {
		require.InEpsilon(t, math.Pow(10, -1+float64(k)/4), h[0], 1e-12)
		require.Len(t, h, 1+p)
		require.Equal(t, []float64{10, 10}, []float64{h[1], h[p]})
	}
	require.Nil(t, m.HoldOut(3))
	fit, err := m.Penalised()
	require.NoError(t, err)
	require.Len(t, lower.BilevelsOf(fit), 3)
	require.Equal(t, 1e-5, lower.CoarseOf(fit))

	m, err = New(folded(t, 4, n-3, 20, 3, 0.5), Options{})
	require.NoError(t, err)
	require.Zero(t, m.Program().PathRise)
	require.Len(t, m.Program().Starts, 15+21)
	require.NotNil(t, m.HoldOut(3))
	if fit, err = m.Penalised(); err == nil {
		require.Zero(t, lower.CoarseOf(fit))
	}
	require.NoError(t, err)
}

// On wide tables a step that has to be shorter than the tolerance is not taken. With a smaller tolerance it is, and is as short as was said; the lower level at the start is the one it was found by.
func TestShortSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("runs to the end beside short ones")
	}
	m, err := New(folded(t, 4, 3*(wideRows+2)/2, wideFeatures+1, 3, 0.01), Options{})
	require.NoError(t, err)
	solve := func(tol float64) *dca.Result {
		p, s := m.Program(), m.Caution().Settings
		s.Tol, s.MaxIter, s.Backend = tol, 1, native(t)
		fit, err := m.Penalised()
		require.NoError(t, err)
		p.Fit = lower.NewChain(fit, 1e-9)
		res, err := dca.Solve(context.Background(), p, s)
		require.NoError(t, err)
		return res
	}
	still := solve(1e-3)
	require.Equal(t, dca.Converged, still.Status)
	require.Zero(t, still.Iterations)
	require.Equal(t, still.X, still.Refit)
	moved := solve(1e-9)
	require.Equal(t, 1, moved.Iterations)
	require.Less(t, moved.Trace[0].Step, 1e-3)
	require.InEpsilon(t, still.UpperValue, moved.UpperValue, 0.05)
}

// Where all features count, the default takes three steps from the best of the starts, and stays near its validation loss. It is
// left where the configuration or the options ask for something else.
func TestDefault(t *testing.T) {
	ctx := context.Background()
	cv := folded(t, 8, 60, 40, 3, 1)
	for i, y := range cv.Data.Y { // all features count, so that one bound for them does well
		for j := range 40 {
			cv.Data.Dense().Set(i, j, cv.Data.X.At(i, j)+(y-5.5)/10)
		}
	}
	m, err := New(cv, Options{})
	require.NoError(t, err)
	least := math.Inf(1)
	for _, h := range starts(40) {
		least = math.Min(least, validation(t, m, h))
	}
	res, err := tune.Run(ctx, m, tune.Config{})
	require.NoError(t, err)
	require.Equal(t, dca.Converged, res.Status)
	require.LessOrEqual(t, res.Iterations, 3)
	require.Contains(t, res.Message, "few hyperparameters")
	require.InEpsilon(t, least, res.Refit.Validation, 0.05)

	for _, c := range []tune.Config{{StopFolds: 1}, {GapTol: 1e-4}, {Preset: tune.PresetPaper}, {MaxIter: 4}} {
		other, err := tune.Run(ctx, m, c)
		require.NoError(t, err)
		require.NotContains(t, other.Message, "few hyperparameters")
	}
	m, err = New(cv, Options{WBar0: 0.1})
	require.NoError(t, err)
	require.Nil(t, m.Caution())
	m, err = New(folded(t, 8, 41, 10, 3, 1), Options{}) // more than four rows for each feature
	require.NoError(t, err)
	require.True(t, m.Caution().Sure)
	m, err = New(folded(t, 8, 203, 2, 3, 1), Options{}) // more than a hundred
	require.NoError(t, err)
	require.Nil(t, m.Caution())
}
