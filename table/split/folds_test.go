package split

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// Each row of each repeat validates once and trains in the other folds, parts have equal sizes and their share of each
// class, repeats differ, and the first is the only one of a single repeat.
func TestRandomFolds(t *testing.T) {
	all := make([]int, 23)
	for i := range all {
		all[i] = i
	}
	for _, classes := range [][]int{nil, {0, 1, 1, 0, 1, 2, 0, 1, 1, 1, 0, 2, 0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1}} {
		folds := must.Of(RandomFolds(23, 4, 3, 7, classes))(t)
		require.NoError(t, CheckFolds(folds, 23))
		require.Len(t, folds, 12)
		once := must.Of(RandomFolds(23, 4, 1, 7, classes))(t)
		require.Equal(t, once, folds[:4])
		require.NotEqual(t, folds[:4], folds[4:8])
		require.NotEqual(t, folds[4:8], folds[8:])
		for repeat := range 3 {
			var validated []int
			for _, f := range folds[4*repeat : 4*repeat+4] {
				require.Contains(t, []int{5, 6}, len(f.Val))
				require.Equal(t, all, sorted(slices.Concat(f.Train, f.Val)))
				require.True(t, slices.IsSorted(f.Val))
				validated = append(validated, f.Val...)
				for class := range 3 {
					of := func(rows []int) (n int) {
						for _, i := range rows {
							if classes != nil && classes[i] == class {
								n++
							}
						}
						return n
					}
					n := of(all)
					require.Contains(t, []int{n / 4, (n + 3) / 4}, of(f.Val), "class %d", class)
				}
			}
			require.Equal(t, all, sorted(validated))
		}
	}
	for _, t2 := range []int{-1, 0, 1, 24} {
		_, err := RandomFolds(23, t2, 1, 7, nil)
		require.ErrorContains(t, err, "folds of 23 rows, expected 2 to 23")
	}
	_, err := RandomFolds(23, 4, 0, 7, nil)
	require.ErrorContains(t, err, "0 repeats")
}
