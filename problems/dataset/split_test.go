package dataset

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

func TestSplitRows(t *testing.T) {
	d := table(100, "a", "b")
	s := must.Of(SplitRows(d, "50/20/rest", 7))(t)
	require.NoError(t, s.Validate())
	var all []float64
	for _, set := range s.sets() {
		require.True(t, slices.IsSorted(set.data.Y), "rows in the order of the file")
		for i, y := range set.data.Y {
			require.Equal(t, 10*y+1, set.data.X.At(i, 1), "rows stay together")
		}
		all = append(all, set.data.Y...)
	}
	require.Len(t, s.Val.Y, 20)
	slices.Sort(all)
	require.Equal(t, d.Y, all, "each row is in one set")

	again := must.Of(SplitRows(d, "50/20/rest", 7))(t)
	require.Equal(t, s, again)
	other := must.Of(SplitRows(d, "50/20/rest", 8))(t)
	require.NotEqual(t, s.Train.Y, other.Train.Y)

	two := must.Of(SplitRows(d, "30/30", 7))(t)
	require.Nil(t, two.Test)
}
