// Package indices lists whole numbers.
package indices

// Range is first, first+1, .., end-1.
func Range(first, end int) []int {
	list := make([]int, max(0, end-first))
	for i := range list {
		list[i] = first + i
	}
	return list
}
