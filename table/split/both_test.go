package split

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/proptest"
)

// Groups that follow each other keep all of their rows; of two groups that are there at all times, one trains and the
// other validates in each fold.
func TestGroupTimeFoldsByHand(t *testing.T) {
	at := []float64{1, 2, 3, 4, 5, 6}
	folds := must.Of(GroupTimeFolds([]int{7, 7, 8, 8, 9, 9}, at, 2, 1, 1))(t)
	require.Equal(t, []Fold{{Train: []int{0, 1}, Val: []int{2, 3}}, {Train: []int{0, 1, 2, 3}, Val: []int{4, 5}}}, folds)
	crossed, at := []int{0, 1, 0, 1, 0, 1}, []float64{1, 1, 2, 2, 3, 3}
	for seed := range uint64(9) {
		for _, f := range must.Of(GroupTimeFolds(crossed, at, 2, 2, seed))(t) {
			require.NotEqual(t, f.Train[0]%2, f.Val[0]%2)
			require.Len(t, f.Val, 1)
		}
		sets := must.Of(ByGroupTime(crossed, at, "0.67/rest", seed))(t)
		require.Len(t, sets[0], 2)
		require.Len(t, sets[1], 1)
	}
	_, err := GroupTimeFolds(make([]int, 6), []float64{1, 2, 3, 4, 5, 6}, 2, 1, 1)
	require.ErrorContains(t, err, "fold 0 has no group for one of its sides")
	_, err = GroupTimeFolds(crossed, at, 2, 0, 1)
	require.ErrorContains(t, err, "0 repeats")
	_, err = ByGroupTime(make([]int, 6), at, "0.5/rest", 1)
	require.ErrorContains(t, err, "leaves a set empty, with 1 groups")
}

// Whatever the groups and times are: no group is on both sides of a fold, nothing is trained on what comes later, and a
// group on one side of its border keeps its rows.
func TestGroupTimeFoldsKeepBoth(t *testing.T) {
	proptest.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(20, 60).Draw(r, "rows")
		group := rapid.SliceOfN(rapid.IntRange(0, 7), n, n).Draw(r, "groups")
		time := rapid.SliceOfN(rapid.IntRange(0, 9), n, n).Draw(r, "times")
		at := make([]float64, n)
		for i, v := range time {
			at[i] = float64(v)
		}
		blocks, err := TimeFolds(at, 3)
		if err != nil {
			return
		}
		folds, err := GroupTimeFolds(group, at, 3, 2, rapid.Uint64().Draw(r, "seed"))
		if err != nil {
			return // a block of one group
		}
		require.NoError(r, CheckFolds(folds, n))
		for k, f := range folds {
			train, val := picked(group, f.Train), picked(group, f.Val)
			for _, g := range val {
				require.NotContains(r, train, g)
			}
			require.Less(r, slices.Max(picked(time, f.Train)), slices.Min(picked(time, f.Val)))
			whole := blocks[k%3]
			for _, side := range []struct{ all, other, kept []int }{{whole.Train, whole.Val, f.Train},
				{whole.Val, whole.Train, f.Val}} {
				for _, i := range side.all {
					if !slices.Contains(picked(group, side.other), group[i]) {
						require.Contains(r, side.kept, i)
					}
				}
			}
		}
	})
}

// picked are the entries of rows.
func picked(list, rows []int) (out []int) {
	for _, i := range rows {
		out = append(out, list[i])
	}
	return out
}
