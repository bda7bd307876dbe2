package design

// Dots are the products of columns of a sparse matrix with one another, through the entries of the rows where one of them is not zero, which are few however long
// the list is.
type Dots struct {
	matrix  *Matrix
	columns []int
	entries *Listed // at is twice the column of the list, plus one for every other entry of it
	sums    []float64
}

// NewDots prepares those of a list of columns.
func (d *Matrix) NewDots(columns []int) *Dots {
	l := d.List(columns)
	odd := make([]int32, len(columns))
	for e, k := range l.at {
		l.at[e] = 2*k + odd[k]
		odd[k] ^= 1
	}
	return &Dots{matrix: d, columns: columns, entries: l, sums: make([]float64, 2*len(columns))}
}

// From sets out to the products of column i of the list with itself and those after it, added up as [Matrix.Dot] of these does: the entries of a column
// go to one of two sums in turn.
func (t *Dots) From(i int, out []float64) {
	l, sums := t.entries, t.sums
	clear(sums[2*i:])
	index, value := t.matrix.Column(t.columns[i])
	first := int32(2 * i)
	for k, row := range index {
		lo, hi := l.start[row], l.start[row+1]
		at, v, x := l.at[lo:hi], l.value[lo:hi], value[k]
		v = v[:len(at)]
		for e := len(at) - 1; e >= 0 && at[e] >= first; e-- {
			sums[at[e]] += v[e] * x
		}
	}
	for k := range out {
		out[k] = sums[2*(i+k)] + sums[2*(i+k)+1]
	}
}
