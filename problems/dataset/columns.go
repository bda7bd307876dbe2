package dataset

import (
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
)

// columns is a dense table by columns, which fits share. Rows are gathered where they are asked for, and all of them
// are copied only where they are wanted in one piece.
type columns struct {
	x     *design.Matrix
	whole func() *mat.Dense
}

func newColumns(x *design.Matrix) *columns {
	c := &columns{x: x}
	c.whole = sync.OnceValue(func() *mat.Dense {
		n, p := x.Dims()
		rows := mat.NewDense(n, p, nil)
		for j0 := 0; j0 < p; j0 += block {
			for i := range n {
				row := rows.RawRowView(i)
				for j := j0; j < min(p, j0+block); j++ {
					row[j] = x.At(i, j)
				}
			}
		}
		return rows
	})
	return c
}

// block is the size of blocks that stay in the cache by rows and by columns.
const block = 16

// Dims implements [mat.Matrix].
func (c *columns) Dims() (rows, columns int) { return c.x.Dims() }

// At implements [mat.Matrix].
func (c *columns) At(i, j int) float64 { return c.x.At(i, j) }

// T implements [mat.Matrix].
func (c *columns) T() mat.Matrix { return mat.Transpose{Matrix: c} }

// RawMatrix implements [mat.RawMatrixer].
func (c *columns) RawMatrix() blas64.General { return c.whole().RawMatrix() }

// ByColumns implements [design.Columnwise].
func (c *columns) ByColumns() *design.Matrix { return c.x }

// row gathers a row.
func (c *columns) row(i int) []float64 {
	out := make([]float64, c.x.Columns())
	for j := range out {
		out[j] = c.x.At(i, j)
	}
	return out
}

// pick are some of the rows, in this order.
func (c *columns) pick(rows []int) *columns {
	n, p := len(rows), c.x.Columns()
	data := make([]float64, 0, n*p)
	for j := range p {
		_, column := c.x.Column(j)
		for _, i := range rows {
			data = append(data, column[i])
		}
	}
	return newColumns(design.FromColumns(n, p, data))
}

// above are the rows of a table above those of another one.
func (c *columns) above(d *columns) *columns {
	n, p := c.Dims()
	m, _ := d.Dims()
	data := make([]float64, 0, (n+m)*p)
	for j := range p {
		_, first := c.x.Column(j)
		_, second := d.x.Column(j)
		data = append(append(data, first...), second...)
	}
	return newColumns(design.FromColumns(n+m, p, data))
}

// Columns is [Transform.Apply] with the result by columns, in the form in which fits work with it, where d is dense: a
// copy less than by rows. Rows of it are gathered one by one.
func (t *Transform) Columns(d *Data) *Data {
	if d == nil || d.Sparse() {
		return t.Apply(d)
	}
	n, p := d.Dims()
	if p != len(t.Scale) {
		panic(mat.ErrShape)
	}
	data := make([]float64, n*p)
	if c, ok := d.X.(*columns); ok {
		for j := range p {
			_, column := c.x.Column(j)
			for i, v := range column {
				data[j*n+i] = (v - t.Mean[j]) / t.Scale[j]
			}
		}
	} else {
		t.transpose(data, d)
	}
	out := *d
	out.X = newColumns(design.FromColumns(n, p, data))
	return &out
}

// transpose sets data to the columns of the transform of d.
func (t *Transform) transpose(data []float64, d *Data) {
	n, p := d.Dims()
	rows := make([][]float64, block)
	for i0 := 0; i0 < n; i0 += block {
		for i := i0; i < min(n, i0+block); i++ {
			_, rows[i-i0] = d.Row(i)
		}
		for j0 := 0; j0 < p; j0 += block {
			j1 := min(p, j0+block)
			mean, scale := t.Mean[j0:j1], t.Scale[j0:j1]
			for i := i0; i < min(n, i0+block); i++ {
				for k, v := range rows[i-i0][j0:j1] {
					data[(j0+k)*n+i] = (v - mean[k]) / scale[k]
				}
			}
		}
	}
}

var (
	_ mat.RawMatrixer   = (*columns)(nil)
	_ design.Columnwise = (*columns)(nil)
)
