package order

import (
	"math"

	"github.com/conetune/conetune/internal/stop"
)

// Options tune [AMD]. The zero value asks for the defaults.
type Options struct {
	// Weights, if not nil, says how many twins of the matrix each row stands for,
	// itself included: rows with the same entries and with none among themselves,
	// which the caller has left out except for one. They count in the degrees of
	// their neighbours, and after the first of these has been eliminated they are
	// a clique, like the rows that the method merges itself. Set aside are still
	// the rows with many entries in the pattern.
	Weights []int32

	// Stop, if not nil, ends the search: where it is reached there is no order.
	Stop *stop.Stop
}

// Rows of high degree make minimum degree slow: such a row is rescanned at the elimination of each of its neighbours,
// which costs up to its degree squared. Those with more than
//
//	max(minDense, dense sqrt(n), medianFactor times the median)
//
// entries are set aside until the others are eliminated, and come then, of the least degree first. The median keeps a
// matrix that is dense all over in one piece.
//
// While they are aside, they still count in the degrees of the others. Without that, of two neighbours with the same
// few sparse entries the one that has hundreds of dense ones could go first and hand them on to the other. A node keeps
// the largest number that it or a node that fills it has of them: where these are the same rows, that is all of them.
const (
	dense        = 5
	minDense     = 16 // below this degree a row is cheap to rescan
	medianFactor = 2
	linkShare    = 8 // at most one linking row for so many rows aside, see eliminateAll
)

// AMD returns an approximate minimum degree ordering of the symmetric n x n
// pattern with the entries (rowidx, column) above the diagonal: perm[k] is the
// original index of the k-th pivot. Pivots come in a postorder of the assembly
// tree, which keeps the columns of a supernode together. The same pattern gives
// the same order. It is nil if Options.Stop is reached.
func AMD(n int, colptr, rowidx []int32, o Options) []int32 {
	if n == 0 {
		return []int32{}
	}
	g := newGraph(n, o.Weights, o.Stop)
	counts := g.work
	for j := range n {
		if o.Stop.Reached(nodeWork + 2*int(colptr[j+1]-colptr[j])) {
			return nil
		}
		for _, i := range rowidx[colptr[j]:colptr[j+1]] {
			if int(i) < j {
				counts[i]++
				counts[j]++
				g.degree[i] += g.weight[j]
				g.degree[j] += g.weight[i]
			}
		}
	}
	g.load(colptr, rowidx, counts, denseLimit(counts, g.bucket))
	if o.Stop.Reached(0) {
		return nil
	}
	if g.eliminateAll(g.wait / linkShare); o.Stop.Reached(0) {
		return nil
	}
	return g.assemblyOrder()
}

// nodeWork is what a visit of a node is to Stop, in nanoseconds or so; an entry is 1 or 2.
const nodeWork = 8

// denseLimit returns the largest number of entries of a row that is not set aside. work has the length of counts.
func denseLimit(counts, work []int32) int {
	n := len(counts)
	limit := max(minDense, int(dense*math.Sqrt(float64(n))))
	if limit >= n-1 {
		return math.MaxInt
	}
	// The median by counting; duplicates may push a count beyond n-1.
	clear(work)
	for _, c := range counts {
		work[min(int(c), n-1)]++
	}
	median, seen := 0, int(work[0])
	for 2*seen < n {
		median++
		seen += int(work[median])
	}
	return max(limit, medianFactor*median)
}
