package svm

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/split"
)

// Each fold has its own values in the gaps: the validation error is the mean hinge loss of their machines, by hand.
func TestGaps(t *testing.T) {
	data := &dataset.Data{
		X: mat.NewDense(4, 1, []float64{1, 9, -1, 9}), Y: []float64{1, 1, 0, 0}, Features: []string{"a"}, Target: "y",
	}
	folds := []split.Fold{{Train: []int{0, 2}, Val: []int{1, 3}}, {Train: []int{1, 3}, Val: []int{0, 2}}}
	cv := &dataset.CrossValidation{Data: data, Folds: folds, Gaps: &dataset.Gaps{Row: []int{1, 3}, Feature: []int{0, 0},
		Fill: [][]float64{{0.25}, {9}}}}
	m := must.Of(New(cv, Options{}))(t)
	// w = 2, c = 0: the first fold validates (0.25, +) and (0.25, -), which cost 1 - 0.5 and 1 + 0.5; the second (1, +)
	// and (-1, -), which cost nothing.
	require.InDelta(t, 0.5, m.Evaluate([][]float64{{2}, {0}, {2}, {0}}).Validation, 1e-15)
	cv.Gaps = nil
	m = must.Of(New(cv, Options{}))(t)
	require.InDelta(t, 9.5/2, m.Evaluate([][]float64{{2}, {0}, {2}, {0}}).Validation, 1e-15) // without, 9 costs 0 and 19
}
