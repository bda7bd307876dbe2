package design

import (
	"context"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
)

// Ones stands for a column of ones where columns are listed.
const Ones = -1

const (
	// productColumns are the columns of one part of a product, and productRows the rows taken at a time: a part of the
	// second factor then stays in the cache. They do not depend on the threads, so that neither does rounding.
	productColumns, productRows = 64, 256
)

// Stored is the number of stored entries.
func (d *Matrix) Stored() int {
	if d.dense != nil {
		return len(d.dense)
	}
	return len(d.value)
}

// Pack copies some rows of columns of a dense design, row by row, times a factor and weights, nil for ones.
func (d *Matrix) Pack(to []float64, columns []int, from, rows int, w []float64, factor float64) {
	k := len(columns)
	for i, j := range columns {
		if j == Ones {
			for l := range rows {
				to[l*k+i] = factor
			}
		} else {
			for l, v := range d.dense[j*d.n+from : j*d.n+from+rows] {
				to[l*k+i] = factor * v
			}
		}
	}
	if w == nil {
		return
	}
	for l := range rows {
		weight := w[from+l]
		row := to[l*k : (l+1)*k]
		for i := range row {
			row[i] *= weight
		}
	}
}

// Gram returns the symmetric matrix sum_i w_i x_ij x_ik of the columns j and k of a list, by rows. The weights w are
// nil for ones. Where the context ends before, the numbers mean nothing.
func (d *Matrix) Gram(ctx context.Context, columns []int, w []float64, threads int) []float64 {
	k := len(columns)
	out := dense.Zeros(k * k) // the lower triangle by columns
	parts := (k + productColumns - 1) / productColumns
	if d.dense != nil || d.p == 0 { // by blocks of dense columns
		left, right := make([]float64, k*productRows), make([]float64, k*productRows)
		for from := 0; from < d.n && ctx.Err() == nil; from += productRows {
			rows := min(productRows, d.n-from)
			d.Pack(left, columns, from, rows, nil, -1)
			d.Pack(right, columns, from, rows, w, 1)
			crew.Each(parts, threads, func(part int) {
				lo, hi := part*productColumns, min(k, (part+1)*productColumns)
				dense.SyrkNT(hi-lo, rows, left[lo:], k, right[lo:], k, out[lo*k+lo:], k)
				if hi < k {
					dense.GemmNT(k-hi, hi-lo, rows, right[hi:], k, left[lo:], k, out[lo*k+hi:], k)
				}
			})
		}
	} else {
		of := d.List(columns)
		crew.Each(parts, threads, func(part int) {
			row := make([]float64, k)
			for i := part * productColumns; i < min(k, (part+1)*productColumns) && ctx.Err() == nil; i++ {
				clear(row)
				d.productsOf(columns[i], of, row[:i+1], w)
				for j, v := range row[:i+1] {
					out[j*k+i] = v
				}
			}
		})
	}
	dense.Mirror(out, k)
	return out
}
