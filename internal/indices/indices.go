// Package indices lists whole numbers, and what stands at them in other lists.
package indices

// Range is first, first+1, .., end-1.
func Range(first, end int) []int {
	list := make([]int, max(0, end-first))
	for i := range list {
		list[i] = first + i
	}
	return list
}

// Singles are the lists of each of 0, .., n-1 alone.
func Singles(n int) [][]int {
	list := make([][]int, n)
	for i := range list {
		list[i] = []int{i}
	}
	return list
}

// Pick are the entries of a list at some places; nil of nil.
func Pick[T any](list []T, at []int) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(at))
	for k, i := range at {
		out[k] = list[i]
	}
	return out
}
