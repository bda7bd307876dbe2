package dataset

import (
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
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
}

// newView shows the rows of index; nil where d is not dense by rows, and where they are few.
func newView(d *Data, index []int) *view {
	_, p := d.Dims()
	x, ok := d.X.(mat.RawRowViewer)
	if !ok || len(index)*p < viewEntries {
		return nil
	}
	return (&view{from: x, index: index, n: len(index), p: p}).ready()
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
	return v
}

// at is the row of the table that row i is.
func (v *view) at(i int) int {
	if v.index == nil {
		return i
	}
	return v.index[i]
}

// RawRowView implements [mat.RawRowViewer]: row i is shared where it is a row of the table, and else a copy.
func (v *view) RawRowView(i int) []float64 {
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
	if under, ok := v.from.(*view); ok {
		under.FillRow(to, at)
	} else {
		copy(to, v.from.RawRowView(at))
	}
	first, last := v.gaps.of(at)
	for k := first; k < last; k++ {
		to[v.gaps.Feature[k]] = v.fill[v.gaps.Feature[k]]
	}
	if t := v.transform; t != nil {
		for j, x := range to {
			to[j] = (x - t.Mean[j]) / t.Scale[j]
		}
	}
}

// mulTrans sets out to X'r in other units, which it applies to the sums in the place of the rows.
func (v *view) mulTrans(out, r []float64) {
	for i, a := range r {
		floats.AddScaled(out, a, v.from.RawRowView(v.at(i)))
	}
	total := floats.Sum(r)
	for j, sum := range out {
		out[j] = (sum - v.transform.Mean[j]*total) / v.transform.Scale[j]
	}
}

// Dims implements [mat.Matrix].
func (v *view) Dims() (rows, columns int) { return v.n, v.p }

// At implements [mat.Matrix].
func (v *view) At(i, j int) float64 { return v.RawRowView(i)[j] }

// T implements [mat.Matrix].
func (v *view) T() mat.Matrix { return mat.Transpose{Matrix: v} }

// RawMatrix implements [mat.RawMatrixer].
func (v *view) RawMatrix() blas64.General { return v.whole().RawMatrix() }

// Later is [Transform.Apply] with rows that are computed where they are asked for, where d is dense by rows and large.
func (t *Transform) Later(d *Data) *Data {
	if d == nil {
		return nil
	}
	n, p := d.Dims()
	x, ok := d.X.(mat.RawRowViewer)
	if !ok || n*p < viewEntries || p != len(t.Scale) {
		return t.Apply(d)
	}
	v := &view{from: x, n: n, p: p, transform: t}
	return &Data{X: v.ready(), Y: d.Y, Weights: d.Weights, Offset: d.Offset, Features: d.Features, Target: d.Target}
}

var (
	_ mat.RawRowViewer = (*view)(nil)
	_ mat.RawMatrixer  = (*view)(nil)
)
