package split

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		spec string
		n    int
		want []int
	}{
		{"50/50/rest", 442, []int{50, 50, 342}},
		{"50/50", 442, []int{50, 50}},
		{"rest/10/10", 25, []int{5, 10, 10}},
		{"0.5/0.25/rest", 8, []int{4, 2, 2}},
		{"50% / 25% / rest", 8, []int{4, 2, 2}},
		{"0.5/0.5", 7, []int{4, 3}},
		{"0.3/0.3/0.4", 11, []int{3, 4, 4}},
		{"0.5/rest", 7, []int{4, 3}},
		{"1/1/1", 3, []int{1, 1, 1}},
	} {
		got, err := Sizes(c.spec, c.n)
		require.NoError(t, err, c.spec)
		require.Equal(t, c.want, got, c.spec)
	}
}

func TestSizesErrors(t *testing.T) {
	for _, c := range []struct {
		spec string
		n    int
		want string
	}{
		{"", 10, `split "": expected two or three parts such as 50/50/rest or 0.5/0.25/rest`},
		{"50", 10, `split "50": expected two or three parts`},
		{"1/1/1/1", 10, `split "1/1/1/1": expected two or three parts`},
		{"rest/rest/1", 10, `has rest twice`},
		{"5/half", 10, `part "half" is neither a positive number of rows, nor a share below 1 or 100%, nor rest`},
		{"0/5", 10, `part "0" is neither`},
		{"-1/5", 10, `part "-1" is neither`},
		{"1.5/5", 10, `part "1.5" is neither`},
		{"100%/5", 10, `part "100%" is neither`},
		{"nan/5", 10, `part "nan" is neither`},
		{"6/5", 10, "asks for more than the 10 rows there are"},
		{"999999999999999999/999999999999999999/999999999999999999", 10, "asks for more than the 10 rows there are"},
		{"0.7/0.7", 10, "asks for more than the 10 rows there are"},
		{"5/5/rest", 10, "leaves the test set empty, with 10 rows in all"},
		{"0.5/3/rest", 7, `split "0.5/3/rest": leaves the test set empty, with 7 rows in all`},
		{"rest/1", 1, "leaves the training set empty, with 1 rows in all"},
		{"0.1/rest", 3, "leaves the training set empty, with 3 rows in all"},
		{"0.5/0.5", 1, "leaves the validation set empty, with 1 rows in all"},
	} {
		_, err := Sizes(c.spec, c.n)
		require.ErrorContains(t, err, c.want, c.spec)
	}
}

// Each row of each deal validates once and trains in the other folds, parts have equal sizes and their share of each
// class, deals differ, and the first is the only one of a single deal.
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
		for deal := range 3 {
			var validated []int
			for _, f := range folds[4*deal : 4*deal+4] {
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
	require.Equal(t, []int{3, 2, 1, 1}, []int{Repeats(100, 10), Repeats(400, 10), Repeats(2000, 10), Repeats(200, 1000)})
}
