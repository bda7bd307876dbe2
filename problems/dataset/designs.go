package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Designs of validation that say more about rows than chance does: rows that belong together, rows in the order of time, and rows whose fold is given. All
// give lists of rows in rising order.

// FoldsOf makes folds of parts of the rows: each part validates the model of one fold, which all other parts train.
func FoldsOf(parts [][]int) []Fold {
	folds := make([]Fold, len(parts))
	for k := range parts {
		folds[k].Val = parts[k]
		for other := range parts {
			if other != k {
				folds[k].Train = append(folds[k].Train, parts[other]...)
			}
		}
		slices.Sort(folds[k].Train)
	}
	return folds
}

// PartsOf collects the rows of equal numbers: part k has those whose number is the k-th in size.
func PartsOf(number []int) [][]int {
	rows := map[int][]int{}
	var keys []int
	for i, k := range number {
		if rows[k] == nil {
			keys = append(keys, k)
		}
		rows[k] = append(rows[k], i)
	}
	slices.Sort(keys)
	parts := make([][]int, len(keys))
	for k, key := range keys {
		parts[k] = rows[key]
	}
	return parts
}

// GroupParts deals the groups of rows, where group has a number for each row, out to t parts of about equal numbers of rows: the largest
// group first, always to the part with the fewest rows. Which of several such groups and parts comes first is drawn by the seed. The parts are ordered
// by their first rows.
//
// With classes, which has the class of each row from 0 on, each class is spread over the parts as evenly as the groups allow: a group goes to the part where it adds least to the sum over
// classes and parts of the squares of the shares that a part has of a class, of several the one with the fewest rows. Either way
// two parts differ by at most the rows of the largest group: a part that would get ahead by more is passed over.
func GroupParts(group []int, t int, seed uint64, classes []int) ([][]int, error) {
	if groups := len(PartsOf(group)); t < 2 || t > groups {
		return nil, fmt.Errorf("dataset: %d folds of %d groups, expected 2 to %d", t, groups, groups)
	}
	if classes != nil && len(classes) != len(group) {
		return nil, fmt.Errorf("dataset: %d classes for %d rows", len(classes), len(group))
	}
	var parts [][]int
	if classes == nil {
		parts = dealGroups(group, make([]int, t), seed)
	} else {
		parts = stratifyGroups(group, classes, t, seed)
	}
	slices.SortFunc(parts, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return parts, nil
}

// dealGroups deals groups out, the largest first, to the part whose rows exceed its size the least. A part that is empty in the end has no group.
func dealGroups(group, sizes []int, seed uint64) [][]int {
	groups := PartsOf(group)
	order := permutation(len(groups), seed)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(groups[b]), len(groups[a])) })
	first := permutation(len(sizes), seed) // among parts that lack as much
	parts := make([][]int, len(sizes))
	for _, g := range order {
		to := slices.MinFunc(first, func(a, b int) int { return cmp.Compare(len(parts[a])-sizes[a], len(parts[b])-sizes[b]) })
		parts[to] = append(parts[to], groups[g]...)
	}
	for k := range parts {
		slices.Sort(parts[k])
	}
	return parts
}

// stratifyGroups deals groups out with their classes. As long as some part is empty there are groups for it.
func stratifyGroups(group, classes []int, t int, seed uint64) [][]int {
	groups, kinds := PartsOf(group), slices.Max(classes)+1
	total := make([]float64, kinds) // rows of each class
	for _, c := range classes {
		total[c]++
	}
	order := permutation(len(groups), seed)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(groups[b]), len(groups[a])) })
	largest := len(groups[order[0]])
	first := permutation(t, seed)
	parts, has := make([][]int, t), make([][]float64, t)
	for k := range has {
		has[k] = make([]float64, kinds)
	}
	empty := t
	for at, g := range order {
		own := make([]float64, kinds)
		for _, i := range groups[g] {
			own[classes[i]]++
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
		least := len(parts[0])
		for _, part := range parts {
			least = min(least, len(part))
		}
		to := -1
		for _, k := range first {
			if len(order)-at <= empty && len(parts[k]) > 0 || len(parts[k])+len(groups[g]) > least+largest {
				continue
			}
			if to < 0 || cmp.Or(cmp.Compare(adds(k), adds(to)), cmp.Compare(len(parts[k]), len(parts[to]))) < 0 {
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

// SplitGroups is [SplitNumbers] with the rows of a group in the same set: the largest group first, to the set that lacks the most rows of the size that spec
// asks for. Group has a number for each row.
func SplitGroups(group []int, spec string, seed uint64) ([][]int, error) {
	sizes, err := Sizes(spec, len(group))
	if err != nil {
		return nil, err
	}
	sets := len(sizes)
	if over := len(group) - total(sizes); over > 0 {
		sizes = append(sizes, over) // rows that are not used
	}
	parts := dealGroups(group, sizes, seed)[:sets]
	for _, part := range parts {
		if len(part) == 0 {
			return nil, fmt.Errorf("split %q: leaves a set empty, with %d groups in all", spec, len(PartsOf(group)))
		}
	}
	return parts, nil
}

func total(list []int) (sum int) {
	for _, v := range list {
		sum += v
	}
	return sum
}

// byTime are the rows in the order of time, and the numbers of rows of the same time, which stay together.
func byTime(at []float64) (order, runs []int, err error) {
	order = make([]int, len(at))
	for i, v := range at {
		if math.IsNaN(v) {
			return nil, nil, fmt.Errorf("dataset: the time of row %d is no number", i)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	for k, i := range order {
		if k == 0 || at[i] != at[order[k-1]] {
			runs = append(runs, 0)
		}
		runs[len(runs)-1]++
	}
	return order, runs, nil
}

// cut returns the numbers of rows before which the rows in the order of time are cut: each is the border between two times that is nearest to its wish, and leaves
// at least one time on either side and between two cuts. There are more times than wishes.
func cut(runs []int, wishes []float64) []int {
	border := make([]int, len(runs)+1) // rows before each time
	for k, n := range runs {
		border[k+1] = border[k] + n
	}
	cuts := make([]int, len(wishes))
	last := 0 // border of the cut before
	for k, wish := range wishes {
		most := len(runs) - (len(wishes) - k)
		best := last + 1
		for b := best + 1; b <= most; b++ {
			if math.Abs(float64(border[b])-wish) < math.Abs(float64(border[best])-wish) {
				best = b
			}
		}
		cuts[k], last = border[best], best
	}
	return cuts
}

// TimeFolds cuts rows in the order of the times at, one for each row, into t+1 blocks of about equal numbers of rows; rows of the same time are in the same block. Fold k, from 0,
// is validated by block k+1 and trained by all rows before it: nothing is trained on what comes later.
func TimeFolds(at []float64, t int) ([]Fold, error) {
	order, runs, err := byTime(at)
	if err != nil {
		return nil, err
	}
	if t < 2 || t >= len(runs) {
		return nil, fmt.Errorf("dataset: %d folds of %d different times, expected 2 to one less than these", t, len(runs))
	}
	wishes := make([]float64, t)
	for k := range wishes {
		wishes[k] = float64(k+1) * float64(len(at)) / float64(t+1)
	}
	cuts := append(cut(runs, wishes), len(at))
	folds := make([]Fold, t)
	for k := range folds {
		folds[k] = Fold{Train: sorted(order[:cuts[k]]), Val: sorted(order[cuts[k]:cuts[k+1]])}
	}
	return folds, nil
}

// SplitTime is [SplitNumbers] in the order of time: the first rows train, later ones validate, and the last ones test. Rows of the same time are in the same set, so that sizes
// are met as nearly as that allows.
func SplitTime(at []float64, spec string) ([][]int, error) {
	sizes, err := Sizes(spec, len(at))
	if err != nil {
		return nil, err
	}
	order, runs, err := byTime(at)
	if err != nil {
		return nil, err
	}
	// Rows that the sizes leave over are the first ones.
	over := len(at) - total(sizes)
	var wishes []float64
	if over > 0 {
		wishes = append(wishes, float64(over))
	}
	sum := over
	for _, size := range sizes[:len(sizes)-1] {
		sum += size
		wishes = append(wishes, float64(sum))
	}
	if len(wishes) >= len(runs) {
		return nil, fmt.Errorf("split %q: leaves a set empty, with %d different times in all", spec, len(runs))
	}
	cuts := append(append([]int{0}, cut(runs, wishes)...), len(at))
	cuts = cuts[len(cuts)-1-len(sizes):]
	parts := make([][]int, len(sizes))
	for k := range parts {
		parts[k] = sorted(order[cuts[k]:cuts[k+1]])
	}
	return parts, nil
}

func sorted(rows []int) []int {
	rows = slices.Clone(rows)
	slices.Sort(rows)
	return rows
}
