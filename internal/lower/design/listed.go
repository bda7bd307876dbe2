package design

import "slices"

// Listed are the entries of some columns of a matrix by rows, for products that go through them often: those of
// row i, start[i] to start[i+1]-1, are value[k] of column at[k] of the list, in its order.
type Listed struct {
	start []int
	at    []int32
	value []float64
}

// List brings columns, [Ones] among them, into that form; of dense ones what is not zero.
func (d *Matrix) List(columns []int) *Listed {
	l := &Listed{}
	entries := func(f func(i, k int, v float64)) {
		for k, j := range columns {
			d.entries(j, func(i int, v float64) { f(i, k, v) })
		}
	}
	l.start, l.at, l.value = compress[int32](d.n, entries)
	return l
}

// entries calls f for those of column j that are stored and, of a dense matrix, not zero, or [Ones].
func (d *Matrix) entries(j int, f func(i int, v float64)) {
	if j == Ones {
		for i := range d.n {
			f(i, 1)
		}
		return
	}
	index, value := d.Column(j)
	for k, i := range index {
		f(i, value[k])
	}
	if index == nil {
		for i, v := range value {
			if v != 0 {
				f(i, v)
			}
		}
	}
}

// compress brings entries (i, k) of value v into n lists, one for each i, of which list i stands at start[i] to
// start[i+1]-1. It goes through them twice.
func compress[K int | int32](n int, entries func(f func(i, k int, v float64))) (start []int, at []K, value []float64) {
	start = make([]int, n+1)
	entries(func(i, _ int, _ float64) { start[i+1]++ })
	for i := range n {
		start[i+1] += start[i]
	}
	at, value = make([]K, start[n]), make([]float64, start[n])
	next := slices.Clone(start)
	entries(func(i, k int, v float64) {
		at[next[i]], value[next[i]] = K(k), v
		next[i]++
	})
	return start, at, value
}

// Row returns the entries of row i: value[k] stands in column at[k] of the list, which rise. The slices are to be read
// only.
func (l *Listed) Row(i int) (at []int32, value []float64) {
	lo, hi := l.start[i], l.start[i+1]
	return l.at[lo:hi], l.value[lo:hi]
}

// Entries is the number of them.
func (l *Listed) Entries() int { return len(l.at) }

// productsOf adds the weighted products of column j with the first columns of a list to out, one for each of its
// entries: of the rows where column j is not zero, the entries of the list are gone through, which are few however long
// the list is.
func (d *Matrix) productsOf(j int, l *Listed, out, w []float64) {
	most := int32(len(out))
	d.entries(j, func(i int, v float64) {
		if w != nil {
			v *= w[i]
		}
		lo, hi := l.start[i], l.start[i+1]
		value := l.value[lo:hi]
		for k, at := range l.at[lo:hi] {
			if at >= most {
				return
			}
			out[at] += v * value[k]
		}
	})
}
