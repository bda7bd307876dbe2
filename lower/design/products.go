package design

import (
	"context"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
)

// Ones stands for a column of ones where columns are listed.
const Ones = -1

const (
	// productColumns are the columns of one part of a product, and productRows the rows taken at a time: a part of the second factor then
	// stays in the cache. They do not depend on the threads, so that neither does rounding.
	productColumns, productRows = 64, 256
)

// Products returns the matrix sum_i w_i x_ij x_ik with a row for each column j of a list and a column for each k of b, by rows. The weights w are nil for
// ones. Where the context ends before, the numbers mean nothing.
func (d *Matrix) Products(ctx context.Context, a, b []int, w []float64, threads int) []float64 {
	out := make([]float64, len(a)*len(b))
	parts := (len(a) + productColumns - 1) / productColumns
	crew.Each(parts, threads, func(k int) {
		lo, hi := k*productColumns, min(len(a), (k+1)*productColumns)
		if d.dense != nil || d.p == 0 {
			d.denseProducts(ctx, out[lo*len(b):hi*len(b)], a[lo:hi], b, w)
		} else {
			d.sparseProducts(ctx, out[lo*len(b):hi*len(b)], a[lo:hi], b, w)
		}
	})
	return out
}

// Stored is the number of stored entries.
func (d *Matrix) Stored() int {
	if d.dense != nil {
		return len(d.dense)
	}
	return len(d.value)
}

func (d *Matrix) denseProducts(ctx context.Context, out []float64, a, b []int, w []float64) {
	left, right := make([]float64, len(a)*productRows), make([]float64, len(b)*productRows)
	for from := 0; from < d.n && ctx.Err() == nil; from += productRows {
		rows := min(productRows, d.n-from)
		d.pack(left, a, from, rows, nil, -1)
		d.pack(right, b, from, rows, w, 1)
		// C' has a column for each of a.
		dense.GemmNT(len(b), len(a), rows, right, len(b), left, len(a), out, len(b))
	}
}

// pack copies some rows of columns, row by row, times a factor and weights.
func (d *Matrix) pack(to []float64, columns []int, from, rows int, w []float64, factor float64) {
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

func (d *Matrix) sparseProducts(ctx context.Context, out []float64, a, b []int, w []float64) {
	column := make([]float64, d.n)
	for i, j := range a {
		if ctx.Err() != nil {
			return
		}
		if j == Ones {
			for l := range column {
				column[l] = 1
			}
		} else {
			d.Axpy(1, j, column)
		}
		for l, v := range w {
			column[l] *= v
		}
		for k, m := range b {
			if m == Ones {
				sum := 0.0
				for _, v := range column {
					sum += v
				}
				out[i*len(b)+k] = sum
			} else {
				out[i*len(b)+k] = d.Dot(m, column)
			}
		}
		clear(column)
	}
}

// correlateColumns is the number of columns of one part of [Matrix.MulTransIn].
const correlateColumns = 256

// MulTransIn is [Matrix.MulTrans] on so many threads at most. Where the context ends before, the numbers mean nothing.
func (d *Matrix) MulTransIn(ctx context.Context, out, r []float64, threads int) {
	crew.Each((len(out)+correlateColumns-1)/correlateColumns, threads, func(k int) {
		for j := k * correlateColumns; j < min(len(out), (k+1)*correlateColumns) && ctx.Err() == nil; j++ {
			out[j] = d.Dot(j, r)
		}
	})
}

// Gram returns the rows of the symmetric matrix of [Matrix.Products] of a list with itself.
func (d *Matrix) Gram(ctx context.Context, columns []int, w []float64, threads int) [][]float64 {
	k := len(columns)
	out := make([][]float64, k)
	parts := (k + productColumns - 1) / productColumns
	crew.Each(parts, threads, func(part int) {
		lo, hi := part*productColumns, min(k, (part+1)*productColumns)
		block := d.Products(ctx, columns[lo:hi], columns[:hi], w, 1)
		for i := lo; i < hi; i++ {
			out[i] = make([]float64, k)
			copy(out[i], block[(i-lo)*hi:(i-lo)*hi+i+1])
		}
	})
	for i, row := range out {
		for l := range i {
			out[l][i] = row[l]
		}
	}
	return out
}
