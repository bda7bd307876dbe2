//go:build (scs && cgo) || scs_go

package scs

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
	cscs "github.com/conetune/conetune/internal/mirror/scs"
)

// close says whether two bounds are so close, for their size, that their row goes to SCS's box cone. As two rows it
// would have two multipliers of which only the difference matters, and SCS takes very long to settle them.
func close(lower, upper float64) bool {
	return lower < upper && upper-lower <= closeBounds*max(math.Abs(lower), math.Abs(upper))
}

// closeBounds is measured: see the package comment.
const closeBounds = 1e-3

// form is the order in which SCS sees the rows of a problem.
type form struct {
	adapter.Rows
	cones cscs.Cone
}

func newForm(p *backends.Problem) *form {
	_, m := p.Dims()
	f := &form{}
	f.intervals(p.Cones)
	f.boxCone(p.Cones)
	f.curved(p.Cones)
	if len(f.List) == 0 { // SCS wants a row: 0'x = 0
		f.Add(adapter.None, 0, 0)
		f.cones.Zero = 1
	}
	f.Close(m)
	return f
}

// each visits the cones of some kinds, with their first rows.
func each(cones []backends.Cone, visit func(c backends.Cone, first int), kinds ...backends.ConeKind) {
	for first, c := range backends.Rows(cones) {
		if slices.Contains(kinds, c.Kind) && c.Dim > 0 {
			visit(c, first)
		}
	}
}

// intervals adds the rows of SCS's zero and nonnegative cones.
func (f *form) intervals(cones []backends.Cone) {
	plain := func(c backends.Cone, first int) { f.Plain(first, c.Dim) }
	bounds := func(visit func(row int, lower, upper float64)) {
		each(cones, func(c backends.Cone, first int) {
			for i, l := range c.Lower {
				visit(first+i, l, c.Upper[i])
			}
		}, backends.BoxCone)
	}
	each(cones, plain, backends.ZeroCone)
	bounds(func(row int, lower, upper float64) {
		if lower == upper { // s = l + 0
			f.Add(row, 1, -lower)
		}
	})
	f.cones.Zero = len(f.List)
	each(cones, plain, backends.NonnegativeCone)
	bounds(func(row int, lower, upper float64) {
		if lower == upper || close(lower, upper) {
			return
		}
		if !math.IsInf(lower, -1) { // s = l + s1
			f.Add(row, 1, -lower)
		}
		if !math.IsInf(upper, 1) { // s = u - s2
			f.Add(row, -1, upper)
		}
	})
	f.cones.Nonnegative = len(f.List) - f.cones.Zero
}

// boxCone adds the rows of SCS's box cone, the first of which is t = 1.
func (f *form) boxCone(cones []backends.Cone) {
	each(cones, func(c backends.Cone, first int) {
		for i, l := range c.Lower {
			if !close(l, c.Upper[i]) {
				continue
			}
			if f.cones.Box == nil {
				f.Add(adapter.None, 0, 1)
				f.cones.Box = &cscs.Box{}
			}
			f.Add(first+i, 1, 0)
			f.cones.Box.Lower, f.cones.Box.Upper = append(f.cones.Box.Lower, l), append(f.cones.Box.Upper, c.Upper[i])
		}
	}, backends.BoxCone)
}

// curved adds the rows of the other cones.
func (f *form) curved(cones []backends.Cone) {
	k := &f.cones
	add := func(note func(c backends.Cone), kinds ...backends.ConeKind) {
		each(cones, func(c backends.Cone, first int) {
			f.Plain(first, c.Dim)
			note(c)
		}, kinds...)
	}
	add(func(c backends.Cone) { k.SecondOrder = append(k.SecondOrder, c.Dim) }, backends.SecondOrderCone)
	add(func(c backends.Cone) { k.PSD = append(k.PSD, backends.PSDOrder(c.Dim)) }, backends.PSDCone)
	add(func(backends.Cone) { k.Exponential++ }, backends.ExponentialCone)
	add(func(backends.Cone) { k.DualExp++ }, backends.DualExponentialCone)
	add(func(c backends.Cone) { // both kinds in one list, told apart by the sign
		if c.Kind == backends.DualPowerCone {
			c.Alpha = -c.Alpha
		}
		k.Power = append(k.Power, c.Alpha)
	}, backends.PowerCone, backends.DualPowerCone)
	each(cones, f.nuclear, backends.NuclearNormCone)
}

// nuclear adds the rows of a nuclear norm cone. SCS wants no more columns than
// rows; the transpose has the same singular values.
func (f *form) nuclear(c backends.Cone, first int) {
	long, short, alongLong, alongShort := c.Rows, c.Cols, 1, c.Rows
	if c.Rows < c.Cols {
		long, short, alongLong, alongShort = c.Cols, c.Rows, c.Rows, 1
	}
	f.Add(first, 1, 0)
	for j := range short {
		for i := range long {
			f.Add(first+1+i*alongLong+j*alongShort, 1, 0)
		}
	}
	f.cones.Nuclear = append(f.cones.Nuclear, cscs.Size{Rows: long, Cols: short})
}

// problem returns what SCS is given.
func (f *form) problem(p *backends.Problem) *cscs.Data {
	n, m := p.Dims()
	out := &cscs.Data{A: f.Matrix(adapter.MatrixOf(p.A, m, n)), B: f.Vector(p.B), C: p.Q}
	if p.P != nil && p.P.NNZ() > 0 {
		out.P = adapter.MatrixOf(p.P, n, n)
	}
	return out
}

// multipliers writes those of ours as multipliers of SCS.
func (f *form) multipliers(z []float64) []float64 {
	out := make([]float64, len(f.List))
	scale := 0
	for i, r := range f.List {
		if r.Of == adapter.None {
			scale = i
			continue
		}
		out[i] = r.By * z[r.Of]
		if i >= f.cones.Zero && i < f.cones.Zero+f.cones.Nonnegative {
			out[i] = max(0, out[i]) // of the two rows of a box one has the multiplier
		}
	}
	if k := f.cones.Box; k != nil { // t = 1 has the multiplier that makes s'y + t y_t zero
		for i, l := range k.Lower {
			y := out[scale+1+i]
			out[scale] -= l*max(0, y) - k.Upper[i]*max(0, -y)
		}
	}
	return out
}
