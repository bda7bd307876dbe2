package split

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/proptest"
)

func TestPartsOf(t *testing.T) {
	require.Equal(t, [][]int{{1, 4}, {0, 3}, {2}}, PartsOf([]int{7, 2, 9, 7, 2}))
	require.Equal(t, []Fold{{Train: []int{0, 2, 3}, Val: []int{1, 4}}, {Train: []int{1, 2, 4}, Val: []int{0, 3}},
		{Train: []int{0, 1, 3, 4}, Val: []int{2}}}, FoldsOf(PartsOf([]int{7, 2, 9, 7, 2})))
}

// Groups of 4, 3, 2 and 1 rows: 4 | 3, then 2 to the 3 and 1 to the 4.
func TestGroupPartsByHand(t *testing.T) {
	group := []int{5, 5, 5, 5, 8, 8, 8, 1, 1, 0}
	for seed := range uint64(4) {
		parts := must.Of(groupParts(group, 2, seed, nil))(t)
		require.Equal(t, [][]int{{0, 1, 2, 3, 9}, {4, 5, 6, 7, 8}}, parts)
		// 5, 3 and 2 rows: 4 | 3 | 2, and the last row where one is lacking.
		parts, err := By{Group: group}.Sets(len(group), "0.5/0.3/rest", seed)
		require.NoError(t, err)
		require.Equal(t, [][]int{{0, 1, 2, 3, 9}, {4, 5, 6}, {7, 8}}, parts)
	}
	_, err := groupParts(group, 5, 1, nil)
	require.ErrorContains(t, err, "5 folds of 4 groups")
	_, err = By{Group: []int{1, 1, 1, 2, 2}}.Sets(5, "0.4/0.4/rest", 1)
	require.ErrorContains(t, err, "leaves a set empty, with 2 groups")
	_, err = By{Group: group}.Folds(len(group), 2, 0, 1, nil)
	require.ErrorContains(t, err, "0 repeats")
	// Groups of the same size are drawn.
	var seen []int
	folds := must.Of(By{Group: []int{0, 0, 1, 1, 2, 2, 3, 3}}.Folds(8, 2, 20, 1, nil))(t)
	require.Len(t, folds, 40)
	for _, f := range folds {
		require.Len(t, f.Val, 4)
		if f.Val[0] == 0 {
			seen = append(seen, f.Val[2])
		}
	}
	for _, partner := range []int{2, 4, 6} {
		require.Contains(t, seen, partner)
	}
}

// Seven rows at six times: 2 stands twice and stays together.
func TestTimeFoldsByHand(t *testing.T) {
	at := []float64{3, 1, 2, 9, 2, 5, 4} // in order: 1, 2, 4, 0, 6, 5, 3
	folds := must.Of(timeFolds(at, 2))(t)
	require.Equal(t, []Fold{{Train: []int{1, 2, 4}, Val: []int{0, 6}}, {Train: []int{0, 1, 2, 4, 6}, Val: []int{3, 5}}},
		folds)
	folds = must.Of(timeFolds(at, 5))(t)
	require.Equal(t, Fold{Train: []int{1}, Val: []int{2, 4}}, folds[0])
	require.Equal(t, Fold{Train: []int{0, 1, 2, 4, 5, 6}, Val: []int{3}}, folds[4])
	_, err := timeFolds(at, 6)
	require.ErrorContains(t, err, "6 folds of 6 different times")
	for spec, want := range map[string][][]int{
		"0.5/0.25/rest": {{0, 1, 2, 4}, {6}, {3, 5}}, // 4, 1 and 2 rows
		"2/2":           {{0, 6}, {3, 5}},            // the last ones
		"2/rest":        {{1}, {0, 2, 3, 4, 5, 6}},   // the cut after one row is as near as that after three
	} {
		parts := must.Of(By{At: at}.Sets(len(at), spec, 1))(t)
		require.Equal(t, want, parts, spec)
	}
	_, err = By{At: []float64{1, 1, 1}}.Sets(3, "2/1", 1)
	require.ErrorContains(t, err, "1 different times")
}

// Whatever the rows: each validates once in a repeat, and no group is on both sides; by time each validates at
// most once, and all that trains comes before all that validates.
func TestDesignsKeepTheirPromises(t *testing.T) {
	proptest.Check(t, func(r *rapid.T) {
		number := rapid.SliceOfN(rapid.IntRange(0, 9), 3, 40).Draw(r, "numbers")
		seed := rapid.Uint64().Draw(r, "seed")
		kinds := len(PartsOf(number))
		k := rapid.IntRange(2, 6).Draw(r, "folds")
		if kinds >= k {
			var classes []int
			if rapid.Bool().Draw(r, "stratified") {
				classes = rapid.SliceOfN(rapid.IntRange(0, 2), len(number), len(number)).Draw(r, "classes")
			}
			folds := must.Of(By{Group: number}.Folds(len(number), k, 2, seed, classes))(r)
			require.NoError(r, CheckFolds(folds, len(number)))
			largest := 0
			for _, part := range PartsOf(number) {
				largest = max(largest, len(part))
			}
			for repeat := range 2 {
				var all, sizes []int
				for _, f := range folds[repeat*k : repeat*k+k] {
					all, sizes = append(all, f.Val...), append(sizes, len(f.Val))
					require.Len(r, f.Train, len(number)-len(f.Val))
					for _, i := range f.Val {
						require.False(r, slices.ContainsFunc(f.Train, func(j int) bool { return number[i] == number[j] }))
					}
				}
				slices.Sort(all)
				require.Equal(r, indices.Range(0, len(number)), all)
				require.LessOrEqual(r, slices.Max(sizes)-slices.Min(sizes), largest)
			}
		}
		at := make([]float64, len(number))
		for i, v := range number {
			at[i] = float64(v)
		}
		if kinds > k {
			folds := must.Of(timeFolds(at, k))(r)
			require.NoError(r, CheckFolds(folds, len(at)))
			validated := map[int]bool{}
			for _, f := range folds {
				for _, i := range f.Val {
					require.False(r, validated[i])
					validated[i] = true
					require.False(r, slices.ContainsFunc(f.Train, func(j int) bool { return at[j] >= at[i] }))
				}
			}
			require.Len(r, validated, len(at)-len(folds[0].Train))
		}
		for _, split := range []func() ([][]int, error){
			func() ([][]int, error) { return By{Group: number}.Sets(len(number), "0.5/0.25/rest", seed) },
			func() ([][]int, error) { return By{At: at}.Sets(len(at), "0.5/0.25/rest", 1) },
		} {
			parts, err := split()
			if err != nil {
				continue // too few groups or times
			}
			var all []int
			side := map[int]int{}
			for p, part := range parts {
				all = append(all, part...)
				for _, i := range part {
					if other, there := side[number[i]]; there {
						require.Equal(r, other, p)
					}
					side[number[i]] = p
				}
			}
			slices.Sort(all)
			require.Equal(r, indices.Range(0, len(number)), all)
		}
	})
}

// Classes do not make one fold larger than another by more than the largest group: here the class of the last row is
// nearly all in one fold.
func TestStratifiedGroupsStayAsLarge(t *testing.T) {
	parts := must.Of(groupParts([]int{1, 0, 0, 1, 2, 2, 3}, 2, 0, []int{0, 1, 1, 0, 0, 2, 0}))(t)
	require.Len(t, parts, 2)
	require.LessOrEqual(t, max(len(parts[0]), len(parts[1])), 4)
}

// Ten groups of five rows, of which four are of class 1: each of two folds gets two of these, by whatever seed, and
// three of the others; of 20 groups with 1 to 4 rows of class 1 and as many of class 0 as make them 6, each of 4 folds
// has about a quarter of both.
func TestStratifiedGroups(t *testing.T) {
	var group, class []int
	for _, c := range []struct {
		groups, rows, folds int
		one                 func(g, k int) bool // whether row k of a group is of class 1
		near, others        float64             // how far from their shares those of the classes may be
	}{
		{10, 5, 2, func(g, _ int) bool { return g%5 > 2 }, 0, 0},
		{20, 6, 4, func(g, k int) bool { return k <= g%4 }, 2, 4},
	} {
		group, class = nil, nil
		all := 0
		for g := range c.groups {
			for k := range c.rows {
				group, class = append(group, g), append(class, map[bool]int{true: 1}[c.one(g, k)])
				all += class[len(class)-1]
			}
		}
		for seed := range uint64(20) {
			parts := must.Of(groupParts(group, c.folds, seed, class))(t)
			for _, part := range parts {
				ones := 0
				for _, i := range part {
					ones += class[i]
				}
				require.InDelta(t, float64(all)/float64(c.folds), ones, c.near)
				require.InDelta(t, float64(len(group)-all)/float64(c.folds), len(part)-ones, c.others)
			}
		}
	}
	_, err := groupParts(group, 4, 1, class[1:])
	require.ErrorContains(t, err, "119 classes for 120 rows")
}

// Each row of each repeat validates once and trains in the other folds, parts have equal sizes and their share of each
// class, repeats differ, and the first is the only one of a single repeat.
func TestRandomFolds(t *testing.T) {
	all := indices.Range(0, 23)
	for _, classes := range [][]int{nil, {0, 1, 1, 0, 1, 2, 0, 1, 1, 1, 0, 2, 0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1}} {
		folds := must.Of(By{}.Folds(23, 4, 3, 7, classes))(t)
		require.NoError(t, CheckFolds(folds, 23))
		require.Len(t, folds, 12)
		once := must.Of(By{}.Folds(23, 4, 1, 7, classes))(t)
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
		_, err := By{}.Folds(23, t2, 1, 7, nil)
		require.ErrorContains(t, err, "folds of 23 rows, expected 2 to 23")
	}
	_, err := By{}.Folds(23, 4, 0, 7, nil)
	require.ErrorContains(t, err, "0 repeats")
}

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

// Groups that follow each other keep all of their rows; of two groups that are there at all times, one trains and the
// other validates in each fold.
func TestGroupTimeFoldsByHand(t *testing.T) {
	at := []float64{1, 2, 3, 4, 5, 6}
	folds := must.Of(By{Group: []int{7, 7, 8, 8, 9, 9}, At: at}.Folds(len(at), 2, 1, 1, nil))(t)
	require.Equal(t, []Fold{{Train: []int{0, 1}, Val: []int{2, 3}}, {Train: []int{0, 1, 2, 3}, Val: []int{4, 5}}}, folds)
	crossed, at := []int{0, 1, 0, 1, 0, 1}, []float64{1, 1, 2, 2, 3, 3}
	for seed := range uint64(9) {
		for _, f := range must.Of(By{Group: crossed, At: at}.Folds(len(at), 2, 2, seed, nil))(t) {
			require.NotEqual(t, f.Train[0]%2, f.Val[0]%2)
			require.Len(t, f.Val, 1)
		}
		sets := must.Of(By{Group: crossed, At: at}.Sets(6, "0.67/rest", seed))(t)
		require.Len(t, sets[0], 2)
		require.Len(t, sets[1], 1)
	}
	_, err := By{Group: make([]int, 6), At: []float64{1, 2, 3, 4, 5, 6}}.Folds(6, 2, 1, 1, nil)
	require.ErrorContains(t, err, "fold 0 has no group for one of its sides")
	_, err = By{Group: crossed, At: at}.Folds(len(at), 2, 0, 1, nil)
	require.ErrorContains(t, err, "0 repeats")
	_, err = By{Group: make([]int, 6), At: at}.Sets(6, "0.5/rest", 1)
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
		blocks, err := timeFolds(at, 3)
		if err != nil {
			return
		}
		folds, err := By{Group: group, At: at}.Folds(len(at), 3, 2, rapid.Uint64().Draw(r, "seed"), nil)
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
