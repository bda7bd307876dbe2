package split

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// inTime are the rows in the order of time, and the numbers of rows of the same time, which stay together.
func inTime(at []float64) (order, runs []int, err error) {
	order = make([]int, len(at))
	for i, v := range at {
		if math.IsNaN(v) {
			return nil, nil, fmt.Errorf("split: the time of row %d is no number", i)
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

// cut returns the numbers of rows before which the rows in the order of time are cut: each is the border between two
// times that is nearest to its wish, and leaves at least one time on either side and between two cuts. There are more
// times than wishes.
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

// timeFolds are those of rows in the order of the times at, see [By.Folds].
func timeFolds(at []float64, t int) ([]Fold, error) {
	order, runs, err := inTime(at)
	if err != nil {
		return nil, err
	}
	if t < 2 || t >= len(runs) {
		return nil, fmt.Errorf("split: %d folds of %d different times, expected 2 to one less than these", t, len(runs))
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

// inTimeOrder are sets of rows in the order of the times at, of the sizes of a spec.
func inTimeOrder(at []float64, sizes []int, spec string) ([][]int, error) {
	order, runs, err := inTime(at)
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
