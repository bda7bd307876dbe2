package order

import (
	"math"

	"github.com/conetune/conetune/internal/stop"
)

// Options tune [AMD]. The zero value asks for the defaults.
//
// Rows of high degree make minimum degree slow: such a row is rescanned at the
// elimination of each of its neighbours, which costs up to its degree squared.
// They are set aside until the others are eliminated. Then they are ordered too,
// by the same method on the graph that is left, in which each connected part of
// the eliminated rows is one clique.
//
// While they are aside, they still count in the degrees of the others. Without
// that, of two neighbours with the same few sparse entries the one that has
// hundreds of dense ones could go first and hand them on to the other. Each node
// keeps a 64-bit set of the classes of rows aside that its elimination fills; up
// to 64 rows each is a class of its own, beyond that neighbouring rows share one
// and the degrees become upper bounds.
type Options struct {
	// Dense sets a row aside when its degree is above
	// max(16, Dense sqrt(n), 2 x the median degree). Default 5; negative sets
	// none aside. The median keeps a matrix that is dense all over in one piece.
	Dense float64

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

const (
	// With 2 or 10 the entries of L differ by less than a percent from those
	// with 5 on the patterns of the tests; less sets too many rows of graphs
	// with irregular degrees aside, more leaves slow rows in.
	defaultDense = 5
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
	checkPattern(n, colptr, rowidx)
	checkWeights(n, o.Weights)
	if n == 0 {
		return []int32{}
	}
	g := newGraph(n, o.Weights, o.Stop)
	degrees := g.work
	for j := range n {
		if o.Stop.Reached(nodeWork + 2*int(colptr[j+1]-colptr[j])) {
			return nil
		}
		for _, i := range rowidx[colptr[j]:colptr[j+1]] {
			if int(i) < j {
				degrees[i]++
				degrees[j]++
			}
		}
	}
	limit := denseLimit(degrees, g.bucket, o)
	g.load(colptr, rowidx, degrees, limit)
	if o.Stop.Reached(0) {
		return nil
	}
	if g.wait == 0 {
		limit = math.MaxInt
	} else if o.Weights != nil {
		limit = max(limit, g.lightestAside(colptr, rowidx)-1)
	}
	g.eliminateAll(limit, g.wait/linkShare)
	if g.left > 0 && !o.Stop.Reached(0) {
		if g.reload(colptr, rowidx); !o.Stop.Reached(0) {
			g.eliminateAll(math.MaxInt, 0)
		}
	}
	if o.Stop.Reached(0) {
		return nil
	}
	return g.assemblyOrder()
}

// nodeWork is what a visit of a node is to Stop, in nanoseconds or so; an entry is 1 or 2.
const nodeWork = 8

func checkPattern(n int, colptr, rowidx []int32) {
	if n < 0 || len(colptr) != n+1 {
		panic("order: colptr does not have length n+1")
	}
	if colptr[0] < 0 || int(colptr[n]) > len(rowidx) {
		panic("order: colptr points outside rowidx")
	}
	for j := range n {
		if colptr[j] > colptr[j+1] {
			panic("order: colptr decreases")
		}
	}
	for _, i := range rowidx[colptr[0]:colptr[n]] {
		if i < 0 || int(i) >= n {
			panic("order: row index out of range")
		}
	}
}

func checkWeights(n int, weights []int32) {
	if weights == nil {
		return
	}
	if len(weights) != n {
		panic("order: weights do not have length n")
	}
	total := int64(0)
	for _, w := range weights {
		if w <= 0 {
			panic("order: weight that is not positive")
		}
		total += int64(w)
	}
	if total > math.MaxInt32/8 { // the stamps of a graph grow by several times this
		panic("order: weights add up to more than 2^28")
	}
}

// denseLimit returns the largest degree of a row that is not set aside. work has
// the length of degrees.
func denseLimit(degrees, work []int32, o Options) int {
	n := len(degrees)
	if o.Dense < 0 {
		return math.MaxInt
	}
	if o.Dense == 0 {
		o.Dense = defaultDense
	}
	limit := max(minDense, int(o.Dense*math.Sqrt(float64(n))))
	if limit >= n-1 {
		return math.MaxInt
	}
	// The median by counting; duplicates may push a degree beyond n-1.
	clear(work)
	for _, c := range degrees {
		work[min(int(c), n-1)]++
	}
	median, seen := 0, int(work[0])
	for 2*seen < n {
		median++
		seen += int(work[median])
	}
	return max(limit, medianFactor*median)
}
