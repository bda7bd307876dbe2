package dataset

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/table/split"
)

// Each fold has its own values in the gaps, in dense and in sparse tables, and the table itself does not change.
func TestGaps(t *testing.T) {
	table := &Data{
		X: mat.NewDense(4, 3, []float64{
			1, 0, 0,
			0, 7, 0,
			0, 0, 3,
			4, 7, 9,
		}),
		Y: []float64{1, 2, 3, 4}, Features: []string{"a", "b", "c"}, Target: "y",
	}
	gaps := &Gaps{Row: []int{1, 3, 3}, Feature: []int{1, 1, 2}, Fill: [][]float64{{0, 20, 30}, {0, 0, 33}}}
	folds := []split.Fold{{Train: []int{0, 1}, Val: []int{2, 3}}, {Train: []int{2, 3}, Val: []int{0, 1}}}
	for _, d := range []*Data{table, table.Compress()} {
		cv := &CrossValidation{Data: d, Folds: folds, Gaps: gaps}
		require.NoError(t, cv.Validate())
		parts := cv.Parts()
		for _, c := range []struct {
			got  *Data
			want []float64
		}{
			{parts[0].Train, []float64{1, 0, 0, 0, 20, 0}},
			{parts[0].Val, []float64{0, 0, 3, 4, 20, 30}},
			{parts[1].Train, []float64{0, 0, 3, 4, 0, 33}},
			{parts[1].Val, []float64{1, 0, 0, 0, 0, 0}},
			{cv.Gaps.Table(d, 1), []float64{1, 0, 0, 0, 0, 0, 0, 0, 3, 4, 0, 33}},
		} {
			require.Equal(t, c.want, c.got.Dense().RawMatrix().Data)
			require.Equal(t, d.Sparse(), c.got.Sparse())
		}
		require.Equal(t, []float64{4, 7, 9}, d.Dense().RawRowView(3))
		require.Equal(t, gaps, cv.Map(func(y float64) float64 { return -y }).(*CrossValidation).Gaps)
	}
	for want, spoilt := range map[string]*Gaps{
		"gap in row 4":         {Row: []int{4}, Feature: []int{0}, Fill: gaps.Fill},
		"of 1 folds":           {Row: []int{1}, Feature: []int{0}, Fill: gaps.Fill[:1]},
		"rows of gaps do not":  {Row: []int{3, 1}, Feature: []int{0, 0}, Fill: gaps.Fill},
		"the gaps of 1 featur": {Fill: [][]float64{{0}, {0}}},
	} {
		require.ErrorContains(t, (&CrossValidation{Data: table, Folds: folds, Gaps: spoilt}).Validate(), want)
	}
}
