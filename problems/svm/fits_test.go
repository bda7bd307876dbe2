package svm

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// On many rows both programs are solved by fits, and what is chosen is as good as by conic programs.
func TestManyRows(t *testing.T) {
	m := must.Of(New(folded(t, 9, 3300, 5, 3, 1), Options{}))(t)
	var values []float64
	for _, engine := range []string{"", tune.EngineConic} {
		res := must.Of(tune.Run(context.Background(), m, tune.Config{Preset: tune.PresetPaper, Engine: engine}))(t)
		values = append(values, res.Refit.Validation)
		fits := 0
		for _, e := range res.Trace {
			if e.SubEngine == "fit" && e.LowerEngine == "fit" {
				fits++
			}
		}
		if engine == "" {
			require.Equal(t, len(res.Trace), fits)
		} else {
			require.Zero(t, fits)
		}
	}
	require.InDelta(t, values[1], values[0], 1e-3*values[1])
}

// On wide tables of many rows the folds have fits of few digits, on others none.
func TestWide(t *testing.T) {
	m := must.Of(New(folded(t, 4, 753, 1001, 3, 0.01), Options{}))(t)
	fit := must.Of(m.Penalised())(t)
	require.Len(t, fit.Traits().Parts, 3)
	require.Equal(t, 1e-5, fit.Traits().Coarse)
	m = must.Of(New(folded(t, 4, 750, 20, 3, 0.5), Options{}))(t)
	fit = must.Of(m.Penalised())(t)
	require.Zero(t, fit.Traits().Coarse)
}

// Each fold has its own values in the gaps: the validation error is the mean hinge loss of their machines, by hand.
func TestGaps(t *testing.T) {
	data := &dataset.Data{
		X: mat.NewDense(4, 1, []float64{1, 9, -1, 9}), Y: []float64{1, 1, 0, 0}, Features: []string{"a"}, Target: "y",
	}
	folds := []split.Fold{{Train: []int{0, 2}, Val: []int{1, 3}}, {Train: []int{1, 3}, Val: []int{0, 2}}}
	cv := &dataset.CrossValidation{Data: data, Folds: folds, Gaps: &dataset.Gaps{Row: []int{1, 3}, Feature: []int{0, 0},
		Values: [][]float64{{0.25, 0.25}, {9, 9}}}}
	m := must.Of(New(cv, Options{}))(t)
	// w = 2, c = 0: the first fold validates (0.25, +) and (0.25, -), which cost 1 - 0.5 and 1 + 0.5; the second (1, +)
	// and (-1, -), which cost nothing.
	require.InDelta(t, 0.5, m.Evaluate([][]float64{{2}, {0}, {2}, {0}}).Validation, 1e-15)
	cv.Gaps = nil
	m = must.Of(New(cv, Options{}))(t)
	require.InDelta(t, 9.5/2, m.Evaluate([][]float64{{2}, {0}, {2}, {0}}).Validation, 1e-15) // without, 9 costs 0 and 19
}

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
			require.InDelta(t, m.rows.mean(all, m.weights, conic, d, hinge), m.rows.mean(all, m.weights, w, c, hinge), 1e-6)
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
