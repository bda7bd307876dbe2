package order

import (
	"iter"

	"github.com/conetune/conetune/internal/stop"
)

// Etree returns the elimination tree of the pattern: parent[j] is the row of the
// first entry below the diagonal in column j of L, or -1 if there is none. It
// takes O(nnz log n) time, nearly O(nnz) in practice. It is nil where s is reached.
func Etree(n int, colptr, rowidx []int32, s *stop.Stop) (parent []int32) {
	work := make([]int32, 2*n)
	parent, top := work[:n:n], work[n:] // top: an ancestor of each node, moved up as paths are walked
	for j := range int32(n) {
		if s.Reached(nodeWork + 4*int(colptr[j+1]-colptr[j])) {
			return nil
		}
		parent[j], top[j] = -1, -1
		for _, i := range rowidx[colptr[j]:colptr[j+1]] {
			// Everything from i up to the root of its tree so far is in row j of L.
			for i < j {
				up := top[i]
				top[i] = j
				if up < 0 {
					parent[i] = j
					break
				}
				i = up
			}
		}
	}
	return parent
}

// Postorder returns the nodes of a forest in postorder: post[k] is the k-th node,
// children come before their parent and subtrees are contiguous. Roots and
// children are taken in ascending order, so that a tree which is in postorder
// already gives the identity. parent[j] is -1 at roots. It is nil where s is reached.
func Postorder(parent []int32, s *stop.Stop) (post []int32) {
	n := len(parent)
	work := make([]int32, 3*n)
	post, child, sibling := work[:n:n], work[n:2*n], work[2*n:]
	for j := range n {
		child[j], sibling[j] = -1, -1
	}
	for j := n - 1; j >= 0; j-- {
		if s.Reached(nodeWork) {
			return nil
		}
		if f := parent[j]; f >= 0 {
			sibling[j], child[f] = child[f], int32(j)
		}
	}
	k := 0
	for root := range int32(n) {
		if parent[root] >= 0 {
			continue
		}
		for j := range tree(root, parent, child, sibling) {
			if s.Reached(nodeWork) {
				return nil
			}
			post[k] = j
			k++
		}
	}
	return post
}

// tree yields the nodes of the tree of a root in postorder.
func tree(root int32, parent, child, sibling []int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for j := descend(root, child); yield(j) && j != root; {
			if next := sibling[j]; next >= 0 {
				j = descend(next, child)
			} else {
				j = parent[j]
			}
		}
	}
}
