package ldl

import (
	"slices"

	"github.com/conetune/conetune/backends/internal/order"
	"github.com/conetune/conetune/internal/stop"
)

// pattern is an upper triangle in compressed columns.
type pattern struct{ ptr, ind []int32 }

// permuteUpper returns the upper triangle of the permuted pattern, without its
// diagonal, rows unsorted.
func permuteUpper(n int, ptr, ind, perm []int32, s *stop.Stop) pattern {
	inv := invert(perm)
	out := pattern{ptr: make([]int32, n+1)}
	each := func(visit func(row, column int32)) {
		for j := range n {
			if s.Reached(entryWork * (1 + int(ptr[j+1]-ptr[j]))) {
				return
			}
			for _, i := range ind[ptr[j]:ptr[j+1]] {
				if int(i) != j {
					visit(min(inv[i], inv[j]), max(inv[i], inv[j]))
				}
			}
		}
	}
	each(func(_, column int32) { out.ptr[column+1]++ })
	for j := range n {
		out.ptr[j+1] += out.ptr[j]
	}
	out.ind = make([]int32, out.ptr[n])
	next := slices.Clone(out.ptr[:n])
	each(func(row, column int32) {
		out.ind[next[column]] = row
		next[column]++
	})
	return out
}

// entryWork is what a visit of an entry is to a Stop, in nanoseconds or so.
const entryWork = 4

func invert(perm []int32) []int32 {
	inv := make([]int32, len(perm))
	for k, i := range perm {
		inv[i] = int32(k)
	}
	return inv
}

// compose returns the permutation that first applies perm, then post.
func compose(perm, post []int32) []int32 {
	out := make([]int32, len(perm))
	for k, i := range post {
		out[k] = perm[i]
	}
	return out
}

func identity(perm []int32) bool {
	for k, i := range perm {
		if int(i) != k {
			return false
		}
	}
	return true
}

// structures groups the columns into supernodes and returns the first column of
// each (with n at the end) and its rows below the diagonal block, unsorted.
// A column that is loose is one by itself.
func structures(n int, up pattern, parent, count []int32, loose []bool, stop *stop.Stop) (first []int32,
	rows [][]int32) {
	for j := range int32(n) {
		if j == 0 || loose[j-1] || parent[j-1] != j || count[j-1] != count[j]+1 {
			first = append(first, j)
		}
	}
	supers := len(first)
	first = append(first, int32(n))
	owner := make([]int32, n)
	for s := range supers {
		for j := first[s]; j < first[s+1]; j++ {
			owner[j] = int32(s)
		}
	}
	ptr, ind := order.Transpose(n, up.ptr, up.ind, stop)
	if ptr == nil {
		return nil, nil
	}
	total := 0
	for s := range supers {
		total += int(count[first[s+1]-1]) - 1
	}
	store := make([]int32, 0, total)
	rows = make([][]int32, supers)
	mark := slices.Repeat([]int32{-1}, n)
	children := slices.Repeat([]int32{-1}, supers) // head of the list of children
	sibling := make([]int32, supers)
	for s := range int32(supers) {
		if stop.Reached(entryWork) {
			return nil, nil
		}
		last := first[s+1] - 1
		begin := len(store)
		add := func(list []int32) {
			stop.Reached(entryWork * (1 + len(list)))
			for _, i := range list {
				if i > last && mark[i] != s {
					mark[i] = s
					store = append(store, i)
				}
			}
		}
		for c := children[s]; c >= 0; c = sibling[c] {
			add(rows[c])
		}
		for j := first[s]; j <= last; j++ {
			add(ind[ptr[j]:ptr[j+1]])
		}
		rows[s] = store[begin:len(store):len(store)]
		if p := parent[last]; p >= 0 {
			t := owner[p]
			sibling[s], children[t] = children[t], s
		}
	}
	return first, rows
}
