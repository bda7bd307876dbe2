package dataset

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/table/split"
)

func TestDivision(t *testing.T) {
	d := table(9, "a", "b")
	test := table(4, "a", "b")
	cv := must.Of(CrossValidate(d, 3, 1, nil))(t)
	cv.Test = test
	require.Same(t, d, cv.Table())
	require.Same(t, test, cv.Tests())
	for k, part := range cv.Parts() {
		require.Equal(t, d.Rows(cv.Folds[k].Train), part.Train)
		require.Equal(t, d.Rows(cv.Folds[k].Val), part.Val)
		require.Nil(t, part.Test)
	}
	s := &Split{Train: d, Val: test}
	require.Same(t, d, s.Table())
	require.Nil(t, s.Tests())
	require.Equal(t, []*Split{{Train: d, Val: test}}, s.Parts())

	for _, v := range []Division{cv, s} {
		before := append([]float64(nil), d.Y...)
		twice := v.Map(func(y float64) float64 { return 2 * y })
		for i, y := range twice.Table().Y {
			require.Equal(t, 2*d.Y[i], y)
		}
		require.Equal(t, before, d.Y)
		require.NoError(t, twice.Validate())
		require.Same(t, d.X, twice.Table().X)
	}
}

func TestCheckLabels(t *testing.T) {
	labelled := func(y ...float64) *Data {
		d := table(len(y), "a")
		copy(d.Y, y)
		return d
	}
	d := labelled(1, 2, 1, 2, 1, 2)
	folds := []split.Fold{{Train: []int{0, 1, 2, 3}, Val: []int{4, 5}}, {Train: []int{2, 3, 4, 5}, Val: []int{0, 1}}}
	l := must.Of(CheckLabels(&CrossValidation{Data: d, Folds: folds, Test: labelled(2, 2)}))(t)
	require.Equal(t, Labels{1, 2}, l)
	_, err := CheckLabels(&CrossValidation{Data: d, Folds: split.FoldsOf(split.PartsOf([]int{0, 1, 2, 3, 4, 5}))})
	require.NoError(t, err, "each row validates by itself")
	for want, v := range map[string]Division{
		"training rows: all rows have the label 3": &Split{Train: labelled(3, 3), Val: d},
		"validation rows: row 1 has the label 3":   &Split{Train: d, Val: labelled(1, 3)},
		"test rows: row 0 has the label 4":         &CrossValidation{Data: d, Folds: folds, Test: labelled(4)},
		"fold 1 has no training row with the label 2": &CrossValidation{Data: d, Folds: []split.Fold{folds[0],
			{Train: []int{0, 2}, Val: []int{1, 4}}}},
		"fold 0 has no training row with the label 1": &CrossValidation{Data: d,
			Folds: []split.Fold{{Train: []int{1, 3}, Val: []int{2, 5}}, folds[1]}},
		`training rows: "y" has 3 values (1, 2, 3), expected two`: &Split{Train: labelled(1, 2, 3), Val: d},
	} {
		_, err := CheckLabels(v)
		require.ErrorContains(t, err, want)
	}
}
