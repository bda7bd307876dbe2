package split

import (
	"cmp"
	"fmt"
	"slices"
)

// groupParts splits the groups of rows, where group has a number for each row, into t parts of about equal numbers of
// rows: the largest group first, always to the part with the fewest rows. Which of several such groups and parts comes
// first is drawn by the seed. The parts are ordered by their first rows.
//
// With classes, which has the class of each row from 0 on, each class is spread over the parts as evenly as the groups
// allow: a group goes to the part where it adds least to the sum over classes and parts of the squares of the shares
// that a part has of a class, of several the one with the fewest rows. Either way two parts differ by at most the rows
// of the largest group: a part that would get ahead by more is passed over.
func groupParts(group []int, t int, seed uint64, classes []int) ([][]int, error) {
	if groups := len(PartsOf(group)); t < 2 || t > groups {
		return nil, fmt.Errorf("split: %d folds of %d groups, expected 2 to %d", t, groups, groups)
	}
	if classes != nil && len(classes) != len(group) {
		return nil, fmt.Errorf("split: %d classes for %d rows", len(classes), len(group))
	}
	parts := divideGroups(group, classes, make([]int, t), seed)
	slices.SortFunc(parts, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return parts, nil
}

// divideGroups splits groups, the largest first: to the part where they add least to the squares of the shares of
// classes, if there are any, and of several such parts to the one whose rows exceed its size the least. A part that is
// empty in the end has no group; with classes there are groups for all parts.
func divideGroups(group, classes, sizes []int, seed uint64) [][]int {
	groups, t := PartsOf(group), len(sizes)
	var total []float64 // rows of each class
	for _, c := range classes {
		total = append(total, make([]float64, max(0, c+1-len(total)))...)
		total[c]++
	}
	order := permutation(len(groups), seed)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(groups[b]), len(groups[a])) })
	largest := len(groups[order[0]])
	first := permutation(t, seed) // among parts that are as good
	parts, has := make([][]int, t), make([][]float64, t)
	for k := range has {
		has[k] = make([]float64, len(total))
	}
	empty := t
	for at, g := range order {
		own := make([]float64, len(total))
		least := len(parts[0])
		for _, part := range parts {
			least = min(least, len(part))
		}
		for _, i := range groups[g] {
			if classes != nil {
				own[classes[i]]++
			}
		}
		// (n + g)^2 - n^2 = 2 n g + g^2, of which the second is the same for all parts.
		adds := func(k int) (sum float64) {
			for c, n := range own {
				if n > 0 {
					sum += n * has[k][c] / (total[c] * total[c])
				}
			}
			return sum
		}
		over := func(k int) int { return len(parts[k]) - sizes[k] }
		to := -1
		for _, k := range first {
			if classes != nil && (len(order)-at <= empty && len(parts[k]) > 0 || len(parts[k])+len(groups[g]) > least+largest) {
				continue
			}
			if to < 0 || cmp.Or(cmp.Compare(adds(k), adds(to)), cmp.Compare(over(k), over(to))) < 0 {
				to = k
			}
		}
		if len(parts[to]) == 0 {
			empty--
		}
		parts[to] = append(parts[to], groups[g]...)
		for c, n := range own {
			has[to][c] += n
		}
	}
	for k := range parts {
		slices.Sort(parts[k])
	}
	return parts
}

func total(list []int) (sum int) {
	for _, v := range list {
		sum += v
	}
	return sum
}
