package split

import (
	"cmp"
	"fmt"
	"slices"
)

// apart leaves rows out of sets, so that no group, of numbers from 0, has rows in two of them.
// A group that has rows in several stays in one of these: the largest group first, and always in the set that has kept
// the smallest share of its rows so far. Which of several such groups and sets comes first is drawn by the seed.
func apart(group []int, sets [][]int, seed uint64) [][]int {
	number := 1 + slices.Max(group)
	rows, size, in := make([][]int, number), make([]int, number), make([]int, number)
	for g := range rows {
		rows[g] = make([]int, len(sets)) // of the group in each set
	}
	for k, set := range sets {
		for _, i := range set {
			g := group[i]
			if rows[g][k]++; rows[g][k] == 1 {
				in[g]++
			}
			size[g]++
		}
	}
	order, first := permutation(number, seed), permutation(len(sets), seed)
	slices.SortStableFunc(order, func(a, b int) int { // those in one set before all others
		return cmp.Or(cmp.Compare(min(in[a], 2), min(in[b], 2)), cmp.Compare(size[b], size[a]))
	})
	kept, of := make([]float64, len(sets)), make([]int, number)
	for _, g := range order {
		of[g] = -1
		for _, k := range first {
			if rows[g][k] > 0 && (of[g] < 0 || kept[k] < kept[of[g]]) {
				of[g] = k
			}
		}
		if k := of[g]; k >= 0 {
			kept[k] += float64(rows[g][k]) / float64(len(sets[k]))
		}
	}
	out := make([][]int, len(sets))
	for k, set := range sets {
		out[k] = slices.DeleteFunc(slices.Clone(set), func(i int) bool { return of[group[i]] != k })
	}
	return out
}

// GroupTimeFolds are [TimeFolds], so often, with the rows of a group on one side of each: a group with rows both before
// the block that a fold validates and in it either trains or validates there, as chance has it and about the same share
// of each side is kept, and its rows on the other side are left out. Errors are those of new groups at later times.
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
				return nil, fmt.Errorf("split: fold %d has no group for one of its sides: expected more groups, or fewer folds", b)
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
