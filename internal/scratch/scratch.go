// Package scratch has memory that is used again.
package scratch

import "slices"

// Zeros returns n zeros, which are not nil, in the memory of v where it is large enough.
func Zeros[T any](v []T, n int) []T {
	if v == nil {
		return make([]T, n)
	}
	v = slices.Grow(v[:0], n)[:n]
	clear(v)
	return v
}
