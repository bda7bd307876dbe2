package design

import "github.com/conetune/conetune/internal/dense"

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

// Lower has the products of some columns of a dense matrix, the lower triangle of theirs, by columns.
func (d *Matrix) Lower(columns []int) []float64 {
	k := len(columns)
	out, block := make([]float64, k*k), make([]float64, k*min(d.n, productRows))
	for from := 0; from < d.n; from += productRows {
		rows := min(productRows, d.n-from)
		d.pack(block, columns, from, rows, nil, 1)
		dense.SyrkNT(k, rows, block, k, block, k, out, k)
	}
	for i, v := range out {
		out[i] = -v
	}
	return out
}
