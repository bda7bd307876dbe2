package design

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
)

// Matrix is a read-only n x p matrix by columns, dense or sparse.
type Matrix struct {
	n, p  int
	dense []float64 // column j is dense[j*n:(j+1)*n]; nil for a sparse matrix
	// Columns start[j] to start[j+1]-1 of index and value of a sparse matrix.
	start, index []int
	value        []float64
}

// Columnwise is a matrix that has its numbers by columns.
type Columnwise interface {
	mat.Matrix
	ByColumns() *Matrix
}

// RowFiller is a matrix whose rows are computed, or copied, where they are wanted: none is allocated.
type RowFiller interface {
	mat.Matrix
	FillRow(to []float64, i int)
}

// New copies a matrix by columns; a [Columnwise] one is shared. Sparse ones stay sparse: a [*sparse.CSC] is shared, the
// nonzeros of a [*sparse.CSR] are copied.
func New(x mat.Matrix) *Matrix {
	if c, ok := x.(Columnwise); ok {
		return c.ByColumns()
	}
	n, p := x.Dims()
	if s, ok := x.(*sparse.CSR); ok {
		return fromCompressed(n, p, s)
	}
	if s, ok := x.(*sparse.CSC); ok {
		raw := s.RawMatrix()
		return &Matrix{n: n, p: p, start: raw.Indptr, index: raw.Ind, value: raw.Data}
	}
	if rows, ok := x.(mat.RawRowViewer); ok {
		return FromRows(n, p, func(_ []float64, i int) []float64 { return rows.RawRowView(i) })
	}
	d := &Matrix{n: n, p: p, dense: make([]float64, n*p)}
	for j := range p {
		mat.Col(d.column(j), j, x)
	}
	return d
}

// fromCompressed copies compressed rows by columns, whose indices rise.
func fromCompressed(n, p int, x *sparse.CSR) *Matrix {
	raw := x.RawMatrix()
	entries := func(f func(j, i int, v float64)) {
		for i := range n {
			for k := raw.Indptr[i]; k < raw.Indptr[i+1]; k++ {
				f(raw.Ind[k], i, raw.Data[k])
			}
		}
	}
	d := &Matrix{n: n, p: p}
	d.start, d.index, d.value = compress[int](p, entries)
	return d
}

// FromRows copies a dense matrix by columns. row returns row i, in room of length p where it does not lie in memory.
func FromRows(n, p int, row func(room []float64, i int) []float64) *Matrix {
	const block = 16 // rows and columns that stay in the cache
	d := &Matrix{n: n, p: p, dense: make([]float64, n*p)}
	blocks, threads := (n+block-1)/block, runtime.GOMAXPROCS(0)
	parts := min(blocks, 2*threads)
	crew.Each(parts, threads, func(k int) {
		room, rows := make([]float64, block*p), make([][]float64, block)
		for i0 := k * blocks / parts * block; i0 < min(n, (k+1)*blocks/parts*block); i0 += block {
			rows = rows[:min(block, n-i0)]
			for i := range rows {
				rows[i] = row(room[i*p:(i+1)*p], i0+i)
			}
			for j0 := 0; j0 < p; j0 += block {
				for j := j0; j < min(p, j0+block); j++ {
					column := d.dense[j*n+i0:]
					for i, row := range rows {
						column[i] = row[j]
					}
				}
			}
		}
	})
	return d
}

// FromColumns shares a dense matrix that is stored by columns: entry (i, j) is data[j*n+i].
// It panics if data has another length than n p.
func FromColumns(n, p int, data []float64) *Matrix {
	if len(data) != n*p {
		panic(fmt.Sprintf("design: %d numbers for a %d x %d matrix", len(data), n, p))
	}
	return &Matrix{n: n, p: p, dense: data}
}

// FromEntries shares a sparse matrix: column j has value[k] in row index[k], for k from start[j] to start[j+1]-1, rows
// rising.
func FromEntries(n, p int, start, index []int, value []float64) *Matrix {
	return &Matrix{n: n, p: p, start: start, index: index, value: value}
}

// Dims returns the number n of rows and p of columns.
func (d *Matrix) Dims() (n, p int) { return d.n, d.p }

// Rows is the number n of rows.
func (d *Matrix) Rows() int { return d.n }

// Columns is the number p of columns.
func (d *Matrix) Columns() int { return d.p }

// Dense says whether all entries are stored, zeros too.
func (d *Matrix) Dense() bool { return d.dense != nil }

// column is column j of a dense design.
func (d *Matrix) column(j int) []float64 { return d.dense[j*d.n : (j+1)*d.n : (j+1)*d.n] }

// At is entry (i, j).
func (d *Matrix) At(i, j int) float64 {
	if d.dense != nil {
		return d.dense[j*d.n+i]
	}
	index, value := d.Column(j)
	if k, ok := slices.BinarySearch(index, i); ok {
		return value[k]
	}
	return 0
}

// T implements [mat.Matrix].
func (d *Matrix) T() mat.Matrix { return mat.Transpose{Matrix: d} }

// ByColumns implements [Columnwise].
func (d *Matrix) ByColumns() *Matrix { return d }

// Column returns the stored entries of column j, of which value[k] stands in row index[k]; index is nil for a dense
// design, whose value has all n. The slices are the matrix's own, to be read only.
func (d *Matrix) Column(j int) (index []int, value []float64) {
	if d.dense != nil {
		return nil, d.column(j)
	}
	lo, hi := d.start[j], d.start[j+1]
	return d.index[lo:hi], d.value[lo:hi]
}

// Len is the number of stored entries of column j.
func (d *Matrix) Len(j int) int {
	if d.dense != nil {
		return d.n
	}
	return d.start[j+1] - d.start[j]
}

// kernelRows is the length from which on the kernels of internal/dense are faster than those of gonum.
const kernelRows = 64

// Dot is x_j'r, with r of length n.
func (d *Matrix) Dot(j int, r []float64) float64 {
	if d.dense != nil {
		if d.n < kernelRows {
			return floats.Dot(d.column(j), r)
		}
		return dense.Dot(d.column(j), r)
	}
	lo, hi := d.start[j], d.start[j+1]
	index, value := d.index[lo:hi], d.value[lo:hi]
	var s0, s1 float64
	k := 0
	for ; k+2 <= len(index) && k+2 <= len(value); k += 2 {
		s0 += value[k] * r[index[k]]
		s1 += value[k+1] * r[index[k+1]]
	}
	if k < len(index) {
		s0 += value[k] * r[index[k]]
	}
	return s0 + s1
}

// Dots sets out to the products of r with the columns from from to from+len(out), each of them as Dot has it.
func (d *Matrix) Dots(from int, r, out []float64) {
	if d.dense == nil || d.n < kernelRows {
		for k := range out {
			out[k] = d.Dot(from+k, r)
		}
		return
	}
	clear(out)
	dense.GemvT(d.n, len(out), d.dense[from*d.n:], d.n, r, out)
	for k, v := range out {
		out[k] = 0 - v
	}
}

// Axpy computes r += a x_j, with r of length n.
func (d *Matrix) Axpy(a float64, j int, r []float64) {
	if d.dense != nil {
		if d.n < kernelRows {
			floats.AddScaled(r, a, d.column(j))
		} else {
			dense.Axpy(a, d.column(j), r)
		}
		return
	}
	lo, hi := d.start[j], d.start[j+1]
	value := d.value[lo:hi]
	for k, i := range d.index[lo:hi] {
		r[i] += a * value[k]
	}
}

// Less computes r -= a_0 x_from + a_1 x_from+1 + .., with r of length n, each of them as Axpy has it.
func (d *Matrix) Less(from int, a, r []float64) {
	if d.dense != nil && d.n >= kernelRows {
		dense.GemvN(d.n, len(a), d.dense[from*d.n:], d.n, a, r)
		return
	}
	for k, v := range a {
		if v != 0 {
			d.Axpy(-v, from+k, r)
		}
	}
}

// eachRows and eachColumns are the rows and columns of a block that stays in the cache for several vectors.
const eachRows, eachColumns = 2048, 32

// LessEach is Less of all columns for several vectors, with one pass over the table, on some threads, until the context
// ends. Columns that are multiplied by zero cost nothing.
func (d *Matrix) LessEach(ctx context.Context, a, r [][]float64, threads int) {
	if d.dense == nil || d.n < kernelRows {
		crew.Each(len(r), threads, func(k int) { d.Less(0, a[k], r[k]) })
		return
	}
	crew.Until(ctx, (d.n+eachRows-1)/eachRows, threads, func(block int) {
		lo := block * eachRows
		rows := min(eachRows, d.n-lo)
		for from := 0; from < d.p; from += eachColumns {
			last := min(d.p, from+eachColumns)
			for k, steps := range a {
				for j := from; j < last; j++ {
					first := j
					for j < last && steps[j] != 0 {
						j++
					}
					dense.GemvN(rows, j-first, d.dense[first*d.n+lo:], d.n, steps[first:j], r[k][lo:])
				}
			}
		}
	})
}

// DotsEach sets each of out to the products of all columns with one of several vectors, with one pass over the table,
// on some threads, until the context ends.
func (d *Matrix) DotsEach(ctx context.Context, r, out [][]float64, threads int) {
	if d.dense == nil || d.n < kernelRows {
		const columns = 8 // that stay in the cache
		crew.Until(ctx, (d.p+columns-1)/columns, threads, func(block int) {
			for from, k := block*columns, 0; k < len(r); k++ {
				d.Dots(from, r[k], out[k][from:min(d.p, from+columns)])
			}
		})
		return
	}
	crew.Until(ctx, (d.p+eachColumns-1)/eachColumns, threads, func(block int) {
		from := block * eachColumns
		columns := min(eachColumns, d.p-from)
		for k := range out {
			clear(out[k][from : from+columns])
		}
		for lo := 0; lo < d.n; lo += eachRows {
			for k, v := range r {
				dense.GemvT(min(eachRows, d.n-lo), columns, d.dense[from*d.n+lo:], d.n, v[lo:], out[k][from:])
			}
		}
		for k := range out {
			for j := from; j < from+columns; j++ {
				out[k][j] = 0 - out[k][j]
			}
		}
	})
}

// largest bounds the root mean square of a column, as tables of files bound their entries: products of four entries,
// summed over rows and columns, are finite.
const largest = 1e70

// Sums returns the sum and the sum of squares of column j. The error is for entries that are not finite or too large.
func (d *Matrix) Sums(j int) (sum, squares float64, err error) {
	if d.dense != nil {
		x := d.column(j)
		sum, squares = floats.Sum(x), floats.Dot(x, x)
	} else {
		for _, v := range d.value[d.start[j]:d.start[j+1]] {
			sum += v
			squares += v * v
		}
	}
	if !(squares <= largest*largest*float64(d.n)) {
		err = fmt.Errorf("column %d of the design has entries that are not finite or above %g in size", j, largest)
	}
	return sum, squares, err
}

// Mul adds X b to out, which has length n.
func (d *Matrix) Mul(out, b []float64) {
	for j, v := range b {
		if v != 0 {
			d.Axpy(v, j, out)
		}
	}
}

// MulTrans sets out, of length p, to X'r.
func (d *Matrix) MulTrans(out, r []float64) {
	d.Dots(0, r, out)
}
