package numerics

import (
	"cmp"
	"slices"

	"github.com/conetune/conetune/internal/indices"
)

// Foremost are the entries of a rising list with the largest values, so many of them at most, the first of equal ones.
// They rise, too.
func Foremost(list []int, values []float64, most int) []int {
	order := indices.Range(0, len(list))
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(values[b], values[a]), a-b) })
	out := make([]int, min(most, len(list)))
	for i := range out {
		out[i] = list[order[i]]
	}
	slices.Sort(out)
	return out
}
