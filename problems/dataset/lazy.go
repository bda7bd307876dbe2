package dataset

import (
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
)

// lazy has dense rows of other tables, which are computed where they are asked for, and copied only where all of them
// are asked for in one piece, or by columns, in the form in which fits work with them and which they share. Rows of two
// tables are such, those of folds, and tables in other units.
type lazy struct {
	n, p     int
	share    func(i int) []float64     // row i where it lies in memory, else nil
	fill     func(to []float64, i int) // copies row i
	mulTrans func(out, r []float64)    // adds X'r; nil where rows do
	whole    func() *mat.Dense
	columns  func() *design.Matrix
	moments  func() (mean, deviation []float64) // of rows of equal weights
}

func newLazy(n, p int, share func(i int) []float64, fill func(to []float64, i int)) *lazy {
	l := &lazy{n: n, p: p, share: share, fill: fill}
	l.whole = sync.OnceValue(func() *mat.Dense {
		x := mat.NewDense(n, p, nil)
		for i := range n {
			fill(x.RawRowView(i), i)
		}
		return x
	})
	l.moments = sync.OnceValues((&Data{X: l}).allMoments)
	l.columns = sync.OnceValue(func() *design.Matrix { return design.FromRows(n, p, l.row) })
	return l
}

// InPlace is a dense n x p matrix whose row i is row(i), in memory that must not change.
func InPlace(n, p int, row func(i int) []float64) mat.Matrix {
	return newLazy(n, p, row, func(to []float64, i int) { copy(to, row(i)) })
}

// ByColumns implements [design.Columnwise].
func (l *lazy) ByColumns() *design.Matrix { return l.columns() }

// It is a [mat.Matrix] and a [mat.RawMatrixer].

func (l *lazy) Dims() (rows, columns int) { return l.n, l.p }
func (l *lazy) At(i, j int) float64       { return l.RawRowView(i)[j] }
func (l *lazy) T() mat.Matrix             { return mat.Transpose{Matrix: l} }
func (l *lazy) RawMatrix() blas64.General { return l.whole().RawMatrix() }

// RawRowView implements [mat.RawRowViewer]: a row is shared where it lies in memory, and else computed.
func (l *lazy) RawRowView(i int) []float64 {
	if row := l.share(i); row != nil {
		return row
	}
	return l.row(make([]float64, l.p), i)
}

// row is row i where it lies in memory, and else computed in room.
func (l *lazy) row(room []float64, i int) []float64 {
	if row := l.share(i); row != nil {
		return row
	}
	l.fill(room, i)
	return room
}

// FillRow implements [design.RowFiller].
func (l *lazy) FillRow(to []float64, i int) { l.fill(to, i) }

// lookedUp has row k of a table that is of(i) as row i, with the values of a fold in its gaps; nil for none.
func lookedUp(n, p int, of func(i int) (d *Data, k int), gaps *Gaps, values []float64) *lazy {
	share := func(i int) []float64 {
		d, k := of(i)
		if features, _ := gaps.of(k); len(features) > 0 || d.Sparse() {
			return nil
		}
		_, row := d.Row(k)
		return row
	}
	return newLazy(n, p, share, func(to []float64, i int) {
		d, k := of(i)
		d.Fill(to, k)
		features, from := gaps.of(k)
		for e, j := range features {
			to[j] = values[from+e]
		}
	})
}

// later are rows in the units of the transform.
func (t *Transform) later(d *Data) *lazy {
	d = &Data{X: d.X}
	n, p := d.Dims()
	return newLazy(n, p, func(int) []float64 { return nil }, func(to []float64, i int) {
		d.Fill(to, i)
		for j, v := range to {
			to[j] = (v - t.Mean[j]) / t.Scale[j]
		}
	})
}

// Later is [Transform.Apply] with rows that are computed where they are asked for, where d is dense by rows.
func (t *Transform) Later(d *Data) *Data {
	if d == nil {
		return nil
	}
	_, p := d.Dims()
	if _, ok := d.X.(mat.RawRowViewer); !ok || p != len(t.Scale) {
		return t.Apply(d)
	}
	l, of := t.later(d), &Data{X: d.X}
	l.mulTrans = func(out, r []float64) { // of the sums in the place of the rows
		for i, a := range r {
			of.AddRow(out, a, i)
		}
		total := floats.Sum(r)
		for j, sum := range out {
			out[j] = (sum - t.Mean[j]*total) / t.Scale[j]
		}
	}
	out := *d
	out.X = l
	return &out
}

var (
	_ mat.RawRowViewer  = (*lazy)(nil)
	_ mat.RawMatrixer   = (*lazy)(nil)
	_ design.Columnwise = (*lazy)(nil)
	_ design.RowFiller  = (*lazy)(nil)
)
