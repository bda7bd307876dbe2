package order

import "github.com/conetune/conetune/internal/stop"

// ColCounts returns the number of entries in each column of L, the diagonal
// included, for the elimination tree parent of the pattern and a postorder post
// of it. It does not form L: time and memory are nearly O(nnz of the pattern).
//
// Row i of L is a subtree of the elimination tree with root i; its leaves are
// entries of the matrix. The count of a column is the number of row subtrees
// that hold its node. So each row subtree adds 1 at its leaves, takes 1 off at
// the lowest common ancestor of each two consecutive leaves and at the parent of
// its root, and the sums over the subtrees of the elimination tree are the
// counts. They are nil where s is reached.
func ColCounts(n int, colptr, rowidx, parent, post []int32, s *stop.Stop) (counts []int32) {
	rowptr, cols := Transpose(n, colptr, rowidx, s)
	if s.Reached(n) {
		return nil
	}
	work := make([]int32, 5*n)
	counts = work[:n:n]
	var (
		first    = work[n : 2*n]   // place in post of the first node of the subtree
		latest   = work[2*n : 3*n] // largest first of the leaves of row i so far
		lastLeaf = work[3*n : 4*n] // the latest leaf of row i
		top      = work[4*n:]      // disjoint sets: ancestor within the subtrees finished
	)
	for j := range int32(n) {
		first[j], latest[j], lastLeaf[j], top[j] = -1, -1, -1, -1
	}
	for k, j := range post {
		if s.Reached(nodeWork) {
			return nil
		}
		if first[j] < 0 {
			first[j] = int32(k)
			counts[j] = 1 // a leaf of the tree is the only leaf of its own row
		}
		if f := parent[j]; f >= 0 && first[f] < 0 {
			first[f] = first[j]
		}
	}
	for _, j := range post {
		if s.Reached(nodeWork + 4*int(rowptr[j+1]-rowptr[j])) {
			return nil
		}
		f := parent[j]
		if f >= 0 {
			counts[f]-- // the row subtree with root j ends here
		}
		for _, i := range cols[rowptr[j]:rowptr[j+1]] {
			if first[j] <= latest[i] {
				continue // an earlier leaf of row i is below j
			}
			latest[i] = first[j]
			counts[j]++
			if l := lastLeaf[i]; l >= 0 {
				counts[findRoot(top, l)]--
			}
			lastLeaf[i] = j
		}
		if f >= 0 {
			top[j] = f
		}
	}
	for _, j := range post {
		if f := parent[j]; f >= 0 {
			counts[f] += counts[j]
		}
	}
	return counts
}

// Transpose returns, for each row i, the columns j > i of its entries above the
// diagonal: the columns of the lower triangle. They are nil where s is reached.
func Transpose(n int, colptr, rowidx []int32, s *stop.Stop) (rowptr, cols []int32) {
	rowptr = make([]int32, n+2)
	for j := range int32(n) {
		if s.Reached(nodeWork + int(colptr[j+1]-colptr[j])) {
			return nil, nil
		}
		for _, i := range rowidx[colptr[j]:colptr[j+1]] {
			if i < j {
				rowptr[i+2]++
			}
		}
	}
	for i := range n {
		rowptr[i+2] += rowptr[i+1]
	}
	cols = make([]int32, rowptr[n+1])
	for j := range int32(n) {
		if s.Reached(nodeWork + 2*int(colptr[j+1]-colptr[j])) {
			return nil, nil
		}
		for _, i := range rowidx[colptr[j]:colptr[j+1]] {
			if i < j {
				cols[rowptr[i+1]] = j
				rowptr[i+1]++
			}
		}
	}
	return rowptr[:n+1], cols
}

// findRoot follows root to the root of i and shortens the path.
func findRoot(root []int32, i int32) int32 {
	r := i
	for root[r] >= 0 {
		r = root[r]
	}
	for i != r {
		i, root[i] = root[i], r
	}
	return r
}
