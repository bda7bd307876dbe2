package design

// Listed are the entries of some columns of a sparse matrix by rows, for products that go through them often: those of
// row i, start[i] to start[i+1]-1, are value[k] of column at[k] of the list, in its order.
type Listed struct {
	start []int
	at    []int32
	value []float64
}

// List brings columns of a sparse matrix, [Ones] among them, into that form.
func (d *Matrix) List(columns []int) *Listed {
	l := &Listed{start: make([]int, d.n+1)}
	// start[i+1] is where row i begins, until it is filled.
	count := func(i int) {
		if i+2 <= d.n {
			l.start[i+2]++
		}
	}
	all := 0
	for _, j := range columns {
		if j == Ones {
			all += d.n
			for i := range d.n {
				count(i)
			}
			continue
		}
		index, _ := d.Column(j)
		all += len(index)
		for _, i := range index {
			count(i)
		}
	}
	for i := range d.n {
		l.start[i+1] += l.start[i]
	}
	l.at, l.value = make([]int32, all), make([]float64, all)
	put := func(i, k int, v float64) {
		at := &l.start[i+1]
		l.at[*at], l.value[*at] = int32(k), v
		*at++
	}
	for k, j := range columns {
		if j == Ones {
			for i := range d.n {
				put(i, k, 1)
			}
			continue
		}
		index, value := d.Column(j)
		for m, i := range index {
			put(i, k, value[m])
		}
	}
	return l
}

// Row returns the entries of row i: value[k] stands in column at[k] of the list, which rise. The slices are to be read
// only.
func (l *Listed) Row(i int) (at []int32, value []float64) {
	lo, hi := l.start[i], l.start[i+1]
	return l.at[lo:hi], l.value[lo:hi]
}

// Products counts the products of two entries of a row, in all rows.
func (l *Listed) Products() (sum float64) {
	for i := range len(l.start) - 1 {
		n := float64(l.start[i+1] - l.start[i])
		sum += n * n
	}
	return sum
}

// productsOf adds the weighted products of column j with the first columns of a list to out, one for each of its
// entries: of the rows where column j is not zero, the entries of the list are gone through, which are few however long
// the list is.
func (d *Matrix) productsOf(j int, l *Listed, out, w []float64) {
	most := int32(len(out))
	add := func(i int, v float64) {
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
	}
	if j == Ones {
		for i := range d.n {
			add(i, 1)
		}
		return
	}
	index, value := d.Column(j)
	for k, i := range index {
		add(i, value[k])
	}
}
