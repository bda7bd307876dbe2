package split

import (
	"cmp"
	"fmt"
	"slices"
)

// apart leaves rows out of sets, so that no group, of which each row has the number of its own, has rows in two of them.
// A group that has rows in several stays in one of these: the largest group first, and always in the set that has kept
// the smallest share of its rows so far. Which of several such groups and sets comes first is drawn by the seed.
func apart(group []int, sets [][]int, seed uint64) [][]int {
	rows := map[int][]int{} // of a group in each set
	for k, set := range sets {
		for _, i := range set {
			if rows[group[i]] == nil {
				rows[group[i]] = make([]int, len(sets))
			}
			rows[group[i]][k]++
		}
	}
	kept, of := make([]float64, len(sets)), map[int]int{}
	keep := func(g, k int) {
		of[g], kept[k] = k, kept[k]+float64(rows[g][k])/float64(len(sets[k]))
	}
	var several []int
	for _, part := range PartsOf(group) {
		in := []int{}
		for k, n := range rows[group[part[0]]] {
			if n > 0 {
				in = append(in, k)
			}
		}
		if len(in) == 1 {
			keep(group[part[0]], in[0])
		} else if len(in) > 1 {
			several = append(several, group[part[0]])
		}
	}
	order := permutation(len(several), seed)
	size := func(g int) (n int) {
		for _, m := range rows[g] {
			n += m
		}
		return n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size(several[b]), size(several[a])) })
	first := permutation(len(sets), seed)
	for _, at := range order {
		g, to := several[at], -1
		for _, k := range first {
			if rows[g][k] > 0 && (to < 0 || kept[k] < kept[to]) {
				to = k
			}
		}
		keep(g, to)
	}
	out := make([][]int, len(sets))
	for k, set := range sets {
		out[k] = slices.DeleteFunc(slices.Clone(set), func(i int) bool { return of[group[i]] != k })
	}
	return out
}

// GroupTimeFolds are [TimeFolds], so often, with the rows of a group on one side of each: a group with rows both before
// the block that a fold validates and in it either trains or validates there, as chance has it and about as many rows of
// each side are kept, and its rows on the other side are left out. Errors are those of new groups at later times.
func GroupTimeFolds(group []int, at []float64, t, repeats int, seed uint64) ([]Fold, error) {
	blocks, err := TimeFolds(at, t)
	if err == nil {
		err = checkRepeats(repeats)
	}
	if err != nil {
		return nil, err
	}
	var folds []Fold
	for k := range repeats {
		for b, f := range blocks {
			sides := apart(group, [][]int{f.Train, f.Val}, repeatSeed(seed, k*t+b))
			if len(sides[0]) == 0 || len(sides[1]) == 0 {
				return nil, fmt.Errorf("split: fold %d has no group for one of its sides: %d groups before and in its block, "+
					"expected more, or fewer folds", b, len(PartsOf(picked(group, f.Train, f.Val))))
			}
			folds = append(folds, Fold{Train: sides[0], Val: sides[1]})
		}
	}
	return folds, nil
}

// ByGroupTime is [ByTime] with the rows of a group in one set, those that it has in others left out, see
// [GroupTimeFolds].
func ByGroupTime(group []int, at []float64, spec string, seed uint64) ([][]int, error) {
	sets, err := ByTime(at, spec)
	if err != nil {
		return nil, err
	}
	sets = apart(group, sets, seed)
	if slices.ContainsFunc(sets, func(set []int) bool { return len(set) == 0 }) {
		return nil, fmt.Errorf("split %q: leaves a set empty, with %d groups in all", spec, len(PartsOf(group)))
	}
	return sets, nil
}

// picked are the entries of rows.
func picked(list []int, rows ...[]int) (out []int) {
	for _, i := range slices.Concat(rows...) {
		out = append(out, list[i])
	}
	return out
}
