package split

import (
	"cmp"
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
