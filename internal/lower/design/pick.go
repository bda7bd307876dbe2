package design

// Pick has copies of some columns, in the order of the list.
func (d *Matrix) Pick(columns []int) *Matrix {
	out := &Matrix{n: d.n, p: len(columns)}
	if d.Dense() {
		out.dense = make([]float64, 0, d.n*len(columns))
		for _, j := range columns {
			out.dense = append(out.dense, d.column(j)...)
		}
		return out
	}
	out.start = make([]int, 1, len(columns)+1)
	for _, j := range columns {
		index, value := d.Column(j)
		out.index, out.value = append(out.index, index...), append(out.value, value...)
		out.start = append(out.start, len(out.index))
	}
	return out
}
