package svm

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
)

// The final training by the fast fit is that of the conic program.
func TestRetrainIsConic(t *testing.T) {
	for _, share := range []float64{1, 0.1} {
		m := must.Of(New(folded(t, 5, 80, 6, 3, share), Options{ClassWeights: []float64{1, 2}}))(t)
		all := make([]int, 80)
		for i := range all {
			all[i] = i
		}
		for _, h := range [][]float64{{10, 0.3, 0.2, 0.1, 0.1, 1, 1e-6}, {0.05, 10, 10, 10, 10, 10, 10},
			{10, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6}} {
			w, c := must.Both(m.train(context.Background(), problems.Solver{Backend: native(t), Fits: true}, within(h)))(t)
			conic, d := must.Both(m.train(context.Background(), problems.Solver{Backend: native(t)}, within(h)))(t)
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
		_, _, err := m.train(ended, problems.Solver{Backend: native(t), Fits: true}, within([]float64{1, 1, 1, 1, 1, 1, 1}))
		require.ErrorContains(t, err, backends.Cancelled.String())
	}
}

// Within radii, the folds of the fit have the loss and the multipliers of the constrained form of the program.
func TestWithinIsLowerLevel(t *testing.T) {
	m := must.Of(New(folded(t, 6, 90, 5, 3, 1), Options{ClassWeights: []float64{1, 2}}))(t)
	fit := must.Of(m.Penalised())(t)
	for _, h := range [][]float64{{0.01, 10, 10, 10, 10, 10}, {10, 0.5, 0.2, 0.1, 0.01, 1}, {0.1, 0.3, 0.2, 0.1, 0.01,
		1}} {
		p := m.Program()
		p.H0 = h
		s := m.PaperSettings()
		s.Backend = native(t)
		at := must.Of(dca.LowerLevel(context.Background(), p, s))(t)
		p.Fit, p.FitTol = fit, 1e-10
		w := must.Of(dca.LowerLevel(context.Background(), p, s))(t)
		require.Less(t, w.Gap, 1e-8)
		require.InDelta(t, at.Value, w.Value, 1e-7)
		require.InDeltaSlice(t, at.Lambda, w.Lambda, 1e-4*(1+at.Lambda[0]))
	}
}
