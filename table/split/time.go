package split

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// inTime cuts the rows in the order of time into one block more than there are wishes. Each wish is a number of rows
// before a cut, which is the border between two times that is nearest to it and leaves at least one time on either side
// and between two cuts. There are no blocks where there are too few different times.
func inTime(at, wishes []float64) (blocks [][]int, times int, err error) {
	order := make([]int, len(at))
	for i, v := range at {
		if math.IsNaN(v) {
			return nil, 0, fmt.Errorf("split: the time of row %d is no number", i)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	var border []int // rows before each time, and all
	for k, i := range order {
		if k == 0 || at[i] != at[order[k-1]] {
			border = append(border, k)
		}
	}
	if times = len(border); len(wishes) >= times {
		return nil, times, nil
	}
	border = append(border, len(at))
	last := 0 // border of the cut before
	for k, wish := range wishes {
		best := last + 1
		for b := best + 1; b <= times-(len(wishes)-k); b++ {
			if math.Abs(float64(border[b])-wish) < math.Abs(float64(border[best])-wish) {
				best = b
			}
		}
		blocks = append(blocks, sorted(order[border[last]:border[best]]))
		last = best
	}
	return append(blocks, sorted(order[border[last]:])), times, nil
}

// timeFolds are those of rows in the order of the times at, see [By.Folds].
func timeFolds(at []float64, t int) ([]Fold, error) {
	var wishes []float64
	for k := range t {
		wishes = append(wishes, float64(k+1)*float64(len(at))/float64(t+1))
	}
	blocks, times, err := inTime(at, wishes)
	switch {
	case err != nil:
		return nil, err
	case t < 2 || blocks == nil:
		return nil, fmt.Errorf("split: %d folds of %d different times, expected 2 to one less than these", t, times)
	}
	folds := make([]Fold, t)
	for k := range folds {
		folds[k] = Fold{Train: sorted(slices.Concat(blocks[:k+1]...)), Val: blocks[k+1]}
	}
	return folds, nil
}

// inTimeOrder are sets of rows in the order of the times at, of the sizes of a spec.
func inTimeOrder(at []float64, sizes []int, spec string) ([][]int, error) {
	sum := len(at) - total(sizes) // rows that the sizes leave over are the first ones
	var wishes []float64
	for _, size := range sizes {
		if sum > 0 {
			wishes = append(wishes, float64(sum))
		}
		sum += size
	}
	blocks, times, err := inTime(at, wishes)
	switch {
	case err != nil:
		return nil, err
	case blocks == nil:
		return nil, fmt.Errorf("split %q: leaves a set empty, with %d different times in all", spec, times)
	}
	return blocks[len(blocks)-len(sizes):], nil
}

func sorted(rows []int) []int {
	rows = slices.Clone(rows)
	slices.Sort(rows)
	return rows
}
