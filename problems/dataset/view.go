package dataset

import (
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower/design"
)

// viewEntries is the number of entries from which on rows of a dense table are no copies of them.
const viewEntries = 1 << 20

// view has some rows of a dense table, or all of them, with other values in the gaps and in other units, without a copy of them. The folds of a cross-validation of a large
// table are such.
type view struct {
	from      mat.RawRowViewer
	index     []int // the rows; nil for all
	n, p      int
	gaps      *Gaps // of the table, nil for none; fill is what stands there
	fill      []float64
	transform *Transform // nil for none
	whole     func() *mat.Dense
	columns   func() *design.Matrix
}

// newView shows the rows of index; nil where d is not dense by rows, where it is small, and where it is a view with other values.
func newView(d *Data, index []int) *view {
	_, p := d.Dims()
	if len(index)*p < viewEntries {
		return nil
	}
	switch x := d.X.(type) {
	case *view:
		if x.gaps != nil || x.transform != nil {
			return nil
		}
		at := index
		if x.index != nil {
			at = make([]int, len(index))
			for k, i := range index {
				at[k] = x.index[i]
			}
		}
		return (&view{from: x.from, index: at, n: len(index), p: p}).ready()
	case mat.RawRowViewer:
		return (&view{from: x, index: index, n: len(index), p: p}).ready()
	}
	return nil
}

// ready sets what is made of the view where it is asked for.
func (v *view) ready() *view {
	v.whole = sync.OnceValue(func() *mat.Dense {
		x := mat.NewDense(v.n, v.p, nil)
		for i := range v.n {
			v.FillRow(x.RawRowView(i), i)
		}
		return x
	})
	v.columns = sync.OnceValue(func() *design.Matrix {
		data, rows := make([]float64, v.n*v.p), make([]float64, block*v.p)
		for i0 := 0; i0 < v.n; i0 += block {
			m := min(block, v.n-i0)
			for i := range m {
				v.FillRow(rows[i*v.p:(i+1)*v.p], i0+i)
			}
			for j := range v.p {
				for i := range m {
					data[j*v.n+i0+i] = rows[i*v.p+j]
				}
			}
		}
		return design.FromColumns(v.n, v.p, data)
	})
	return v
}

// at is the row of the table that row i is.
func (v *view) at(i int) int {
	if v.index == nil {
		return i
	}
	return v.index[i]
}

// row is row i, shared where it is a row of the table.
func (v *view) row(i int) []float64 {
	if v.transform == nil {
		if first, last := v.gaps.of(v.at(i)); first == last {
			return v.from.RawRowView(v.at(i))
		}
	}
	out := make([]float64, v.p)
	v.FillRow(out, i)
	return out
}

// FillRow copies row i.
func (v *view) FillRow(to []float64, i int) {
	at := v.at(i)
	copy(to, v.from.RawRowView(at))
	if v.gaps != nil {
		first, last := v.gaps.of(at)
		for k := first; k < last; k++ {
			to[v.gaps.Feature[k]] = v.fill[v.gaps.Feature[k]]
		}
	}
	if t := v.transform; t != nil {
		for j, x := range to {
			to[j] = (x - t.Mean[j]) / t.Scale[j]
		}
	}
}

// Dims implements [mat.Matrix].
func (v *view) Dims() (rows, columns int) { return v.n, v.p }

// At implements [mat.Matrix].
func (v *view) At(i, j int) float64 {
	at := v.at(i)
	x := v.from.RawRowView(at)[j]
	if v.gaps != nil {
		first, last := v.gaps.of(at)
		for k := first; k < last; k++ {
			if v.gaps.Feature[k] == j {
				x = v.fill[j]
			}
		}
	}
	if t := v.transform; t != nil {
		x = (x - t.Mean[j]) / t.Scale[j]
	}
	return x
}

// T implements [mat.Matrix].
func (v *view) T() mat.Matrix { return mat.Transpose{Matrix: v} }

// RawMatrix implements [mat.RawMatrixer].
func (v *view) RawMatrix() blas64.General { return v.whole().RawMatrix() }

// ByColumns implements [design.Columnwise].
func (v *view) ByColumns() *design.Matrix { return v.columns() }

// Later is [Transform.Apply] with rows that are computed where they are asked for, where d is dense by rows and large.
func (t *Transform) Later(d *Data) *Data {
	if d == nil {
		return nil
	}
	n, p := d.Dims()
	var v *view
	switch x := d.X.(type) {
	case *view:
		if x.transform == nil && n*p >= viewEntries {
			v = &view{from: x.from, index: x.index, n: n, p: p, gaps: x.gaps, fill: x.fill}
		}
	case mat.RawRowViewer:
		if n*p >= viewEntries {
			v = &view{from: x, n: n, p: p}
		}
	}
	if v == nil || p != len(t.Scale) {
		return t.Apply(d)
	}
	v.transform = t
	return &Data{X: v.ready(), Y: d.Y, Weights: d.Weights, Offset: d.Offset, Features: d.Features, Target: d.Target}
}

var (
	_ mat.RawMatrixer   = (*view)(nil)
	_ design.Columnwise = (*view)(nil)
)
