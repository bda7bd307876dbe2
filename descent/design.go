package descent

import (
	"fmt"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
)

// Design is a read-only n x p matrix by columns, dense or sparse.
type Design struct {
	n, p  int
	dense []float64 // column j is dense[j*n:(j+1)*n]; nil for a sparse matrix
	// Columns start[j] to start[j+1]-1 of index and value of a sparse matrix.
	start, index []int
	value        []float64
}

// NewDesign copies a matrix by columns; a [*sparse.CSC] stays sparse and is shared, not copied.
func NewDesign(x mat.Matrix) *Design {
	n, p := x.Dims()
	if s, ok := x.(*sparse.CSC); ok {
		raw := s.RawMatrix()
		return &Design{n: n, p: p, start: raw.Indptr, index: raw.Ind, value: raw.Data}
	}
	d := &Design{n: n, p: p, dense: make([]float64, n*p)}
	if rows, ok := x.(mat.RawRowViewer); ok {
		d.transpose(rows)
		return d
	}
	for j := range p {
		mat.Col(d.column(j), j, x)
	}
	return d
}

// transpose copies rows to columns in blocks that stay in the cache.
func (d *Design) transpose(x mat.RawRowViewer) {
	const block = 16
	for i0 := 0; i0 < d.n; i0 += block {
		i1 := min(d.n, i0+block)
		for j0 := 0; j0 < d.p; j0 += block {
			j1 := min(d.p, j0+block)
			for i := i0; i < i1; i++ {
				row := x.RawRowView(i)
				for j := j0; j < j1; j++ {
					d.dense[j*d.n+i] = row[j]
				}
			}
		}
	}
}

// NewColumns shares a dense matrix that is stored by columns: entry (i, j) is data[j*n+i].
// It panics if data has another length than n p.
func NewColumns(n, p int, data []float64) *Design {
	if len(data) != n*p {
		panic(fmt.Sprintf("descent: %d numbers for a %d x %d matrix", len(data), n, p))
	}
	return &Design{n: n, p: p, dense: data}
}

// Dims returns the number n of rows and p of columns.
func (d *Design) Dims() (n, p int) { return d.n, d.p }

// column is column j of a dense design.
func (d *Design) column(j int) []float64 { return d.dense[j*d.n : (j+1)*d.n : (j+1)*d.n] }

// count is the number of stored entries of column j.
func (d *Design) count(j int) int {
	if d.dense != nil {
		return d.n
	}
	return d.start[j+1] - d.start[j]
}

// kernelRows is the length from which on the kernels of internal/dense are faster than those of gonum.
const kernelRows = 64

// dot is x_j'r.
func (d *Design) dot(j int, r []float64) float64 {
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

// axpy computes r += a x_j.
func (d *Design) axpy(a float64, j int, r []float64) {
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

// sums returns the sum and the sum of squares of column j.
func (d *Design) sums(j int) (sum, squares float64) {
	if d.dense != nil {
		x := d.column(j)
		return floats.Sum(x), floats.Dot(x, x)
	}
	for _, v := range d.value[d.start[j]:d.start[j+1]] {
		sum += v
		squares += v * v
	}
	return sum, squares
}

// Mul adds X b to out, which has length n.
func (d *Design) Mul(out, b []float64) {
	for j, v := range b {
		if v != 0 {
			d.axpy(v, j, out)
		}
	}
}

// MulTrans sets out, of length p, to X'r.
func (d *Design) MulTrans(out, r []float64) {
	for j := range out {
		out[j] = d.dot(j, r)
	}
}
