package regression

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/split"
)

// Values in gaps are those of the fold, for the loss as for the error.
func TestGapsOfFolds(t *testing.T) {
	rows := &dataset.Data{X: mat.NewDense(4, 1, []float64{1, 9, 2, 9}), Y: []float64{1, 2, 3, 4}, Features: []string{"a"},
		Target: "y"}
	folds := []split.Fold{{Train: []int{0, 2}, Val: []int{1, 3}}, {Train: []int{1, 3}, Val: []int{0, 2}}}
	cv := &dataset.CrossValidation{Data: rows, Folds: folds, Gaps: &dataset.Gaps{Row: []int{1, 3}, Feature: []int{0, 0},
		Fill: [][]float64{{1.5}, {5}}}}
	d := must.Of(newData(cv, Options{}, Net{}))(t)
	// b = 1 in the first fold: residuals 1.5 - 2 and 1.5 - 4; b = 2 in the second: 2 - 1 and 4 - 3. Halves of the mean
	// squares.
	require.InDelta(t, ((0.25+6.25)/4+(1.0+1.0)/4)/2, d.Evaluate([][]float64{{1}, {2}}).Validation, 1e-15)
	// 1/n a'(ab - y), halved by the two folds: at b = 0 in the second, -(5 2 + 5 4)/2/2.
	require.InDelta(t, -30.0/4, trainGradient(d, [][]float64{{1}, {0}})[1][0], 1e-15)
}
