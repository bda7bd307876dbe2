package svm

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

var _ tune.Chooser = (*Model)(nil)

// Every row is held out once, is in no fold of that model, and its labels are dealt evenly; the error is the mean hinge loss
// of a machine trained on the other rows as on a table of their own.
func TestHoldOut(t *testing.T) {
	cv := folded(t, 9, 46, 4, 3, 1)
	m, err := New(cv, Options{})
	require.NoError(t, err)
	out := m.HoldOut(3)
	require.Len(t, out, 3)
	times := make([]int, 46)
	h := []float64{10, 0.3, 0.2, 0.1, 0.1}
	for _, o := range out {
		less := o.Model.(*Model).cv
		var held, kept []int
		for i := range 46 {
			in := slices.ContainsFunc(less.Folds, func(f split.Fold) bool { return slices.Contains(f.Val, i) || slices.Contains(f.Train, i) })
			if in {
				kept = append(kept, i)
			} else {
				held = append(held, i)
				times[i]++
			}
		}
		high := 0
		for _, i := range held {
			if cv.Data.Y[i] == 8 {
				high++
			}
		}
		require.InDelta(t, 46.0/3, len(held), 1)
		require.InDelta(t, 23.0/3, high, 1)
		for k, f := range less.Folds { // the rest of the folds is as it was
			require.Subset(t, cv.Folds[k].Train, f.Train)
			require.Subset(t, cv.Folds[k].Val, f.Val)
			require.Len(t, append(slices.Clone(f.Train), f.Val...), len(kept))
		}

		rest := *cv
		rest.Data = cv.Data.Rows(kept)
		classes, err := Classes(rest.Data)
		require.NoError(t, err)
		own, err := dataset.CrossValidate(rest.Data, 2, 1, classes)
		require.NoError(t, err)
		other, err := New(own, Options{})
		require.NoError(t, err)
		fit, _, err := other.Retrain(context.Background(), native(t), backends.Options{}, h)
		require.NoError(t, err)
		e, err := o.Error(context.Background(), native(t), backends.Options{}, h)
		require.NoError(t, err)
		require.InDelta(t, meanHinge(cv.Data, held, [2]float64{1, 1}, fit.Coefficients, -fit.Intercept), e, 1e-6)
	}
	for _, n := range times {
		require.Equal(t, 1, n)
	}
	require.Nil(t, m.HoldOut(1))
	require.Nil(t, m.HoldOut(40)) // folds would keep rows, but parts have none of a label
}

// Where one feature of thirty counts, rows held out choose the run to the end often enough: over six seeds the test error of the default
// is not larger by more than a standard error, about 0.02.
func TestChoice(t *testing.T) {
	if testing.Short() {
		t.Skip("runs to the end beside the default")
	}
	var chosen, end float64
	for seed := range uint64(6) {
		m, err := New(folded(t, 20+seed, 60, 30, 3, 1), Options{})
		require.NoError(t, err)
		a, err := tune.Run(context.Background(), m, tune.Config{})
		require.NoError(t, err)
		b, err := tune.Run(context.Background(), m, tune.Config{StopFolds: 1})
		require.NoError(t, err)
		require.LessOrEqual(t, b.Refit.Validation, a.Refit.Validation+1e-9)
		chosen += *a.Refit.Test / 6
		end += *b.Refit.Test / 6
	}
	t.Logf("test error %.3f, run to the end %.3f", chosen, end)
	require.Less(t, chosen, end+0.02)
}

// The final training by the fast fit is that of the conic program.
func TestRetrainIsConic(t *testing.T) {
	for _, share := range []float64{1, 0.1} {
		m, err := New(folded(t, 5, 80, 6, 3, share), Options{ClassWeights: []float64{1, 2}})
		require.NoError(t, err)
		all := make([]int, 80)
		for i := range all {
			all[i] = i
		}
		for _, h := range [][]float64{{10, 0.3, 0.2, 0.1, 0.1, 1, 1e-6}, {0.05, 10, 10, 10, 10, 10, 10}, {10, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6}} {
			w, c, err := m.train(context.Background(), native(t), backends.Options{}, h, all)
			require.NoError(t, err)
			conic, d, err := m.trainConic(context.Background(), native(t), backends.Options{}, h, all)
			require.NoError(t, err)
			require.InDelta(t, m.rows.loss(all, m.weights, conic, d), m.rows.loss(all, m.weights, w, c), 1e-6)
			squares := 0.0
			for j, v := range w {
				require.LessOrEqual(t, max(v, -v), h[1+j])
				squares += v * v / 2
			}
			require.LessOrEqual(t, squares, h[0]*(1+1e-12))
		}
		ended, stop := context.WithCancel(context.Background())
		stop()
		_, _, err = m.train(ended, native(t), backends.Options{}, []float64{1, 1, 1, 1, 1, 1, 1}, all)
		require.ErrorContains(t, err, backends.Cancelled.String())
	}
}

// Within radii, the folds of the fit have the loss and the multipliers of the constrained form of the program.
func TestWithinIsLowerLevel(t *testing.T) {
	m, err := New(folded(t, 6, 90, 5, 3, 1), Options{ClassWeights: []float64{1, 2}})
	require.NoError(t, err)
	fit, err := m.Penalised()
	require.NoError(t, err)
	for _, h := range [][]float64{{0.01, 10, 10, 10, 10, 10}, {10, 0.5, 0.2, 0.1, 0.01, 1}, {0.1, 0.3, 0.2, 0.1, 0.01, 1}} {
		w, err := lower.ConstrainedOf(fit).Within(context.Background(), h, 1e-10)
		require.NoError(t, err)
		require.True(t, w.Solved)
		p := m.Program()
		p.H0 = h
		s := m.PaperSettings()
		s.Backend = native(t)
		at, err := dca.LowerLevel(context.Background(), p, s)
		require.NoError(t, err)
		require.InDelta(t, at.Value, w.Loss, 1e-7)
		require.InDeltaSlice(t, at.Lambda, w.Lambda[:1], 1e-4*(1+at.Lambda[0]))
	}
}
