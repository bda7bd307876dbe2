//go:build (scs && cgo) || scs_go

package scs

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/mirror"
	cscs "github.com/conetune/conetune/internal/mirror/scs"
	"github.com/james-bowman/sparse"
)

// row is a row of SCS's problem in terms of a row of ours: its s is
// sign * s + shift of our row, so that A' = sign A, b' = sign b + shift, and our
// z is the sum of sign * y over the rows of SCS that come from it.
type row struct {
	ours  int // ofScale for the row t of SCS's box cone, whose s is 1
	sign  float64
	shift float64
}

const ofScale = -1

// close says whether the two bounds of a row are so close, for their size, that
// the row goes to SCS's box cone. As two rows it would have two multipliers of
// which only the difference matters, and SCS takes very long to settle them.
func (b boxRow) close() bool {
	return b.lower < b.upper && b.upper-b.lower <= closeBounds*max(math.Abs(b.lower), math.Abs(b.upper))
}

// closeBounds is measured: see the package comment.
const closeBounds = 1e-3

// form is the order in which SCS sees the rows of a problem.
type form struct {
	m     int // our rows
	rows  []row
	cones cscs.Cone
	// boxes are our rows of boxes, whose s is taken from b - Ax.
	boxes []boxRow
	// dummy says that rows is empty and SCS, which wants a row, got 0'x = 0.
	dummy bool
	// asGiven says that the rows are ours in their order.
	asGiven bool
}

// boxRow is our row of a box.
type boxRow struct {
	ours         int
	lower, upper float64
}

func newForm(p *backends.Problem) *form {
	_, m := p.Dims()
	f := &form{m: m, rows: make([]row, 0, m)}
	f.intervals(p.Cones)
	f.boxCone()
	f.curved(p.Cones)
	if len(f.rows) == 0 {
		f.dummy, f.cones.Zero = true, 1
	}
	f.asGiven = len(f.rows) == m
	for i, r := range f.rows {
		f.asGiven = f.asGiven && r == row{i, 1, 0}
	}
	return f
}

// each visits the cones of some kinds, with their first rows.
func each(cones []backends.Cone, visit func(c backends.Cone, first int), kinds ...backends.ConeKind) {
	first := 0
	for _, c := range cones {
		if slices.Contains(kinds, c.Kind) && c.Dim > 0 {
			visit(c, first)
		}
		first += c.Dim
	}
}

// plain adds the rows of a cone as they are.
func (f *form) plain(c backends.Cone, first int) {
	for i := range c.Dim {
		f.rows = append(f.rows, row{first + i, 1, 0})
	}
}

// intervals adds the rows of SCS's zero and nonnegative cones.
func (f *form) intervals(cones []backends.Cone) {
	each(cones, f.plain, backends.ZeroCone)
	each(cones, func(c backends.Cone, first int) {
		for i, l := range c.Lower {
			f.boxes = append(f.boxes, boxRow{first + i, l, c.Upper[i]})
			if l == c.Upper[i] { // s = l + 0
				f.rows = append(f.rows, row{first + i, 1, -l})
			}
		}
	}, backends.BoxCone)
	f.cones.Zero = len(f.rows)
	each(cones, f.plain, backends.NonnegativeCone)
	for _, b := range f.boxes {
		if b.lower == b.upper || b.close() {
			continue
		}
		if !math.IsInf(b.lower, -1) { // s = l + s1
			f.rows = append(f.rows, row{b.ours, 1, -b.lower})
		}
		if !math.IsInf(b.upper, 1) { // s = u - s2
			f.rows = append(f.rows, row{b.ours, -1, b.upper})
		}
	}
	f.cones.Nonnegative = len(f.rows) - f.cones.Zero
}

// boxCone adds the rows of SCS's box cone.
func (f *form) boxCone() {
	for _, b := range f.boxes {
		if !b.close() {
			continue
		}
		if f.cones.Box == nil {
			f.rows = append(f.rows, row{ofScale, 0, 1})
			f.cones.Box = &cscs.Box{}
		}
		f.rows = append(f.rows, row{b.ours, 1, 0})
		f.cones.Box.Lower, f.cones.Box.Upper = append(f.cones.Box.Lower, b.lower), append(f.cones.Box.Upper, b.upper)
	}
}

// curved adds the rows of the other cones.
func (f *form) curved(cones []backends.Cone) {
	k := &f.cones
	add := func(note func(c backends.Cone), kinds ...backends.ConeKind) {
		each(cones, func(c backends.Cone, first int) {
			f.plain(c, first)
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
	f.rows = append(f.rows, row{first, 1, 0})
	for j := range short {
		for i := range long {
			f.rows = append(f.rows, row{first + 1 + i*alongLong + j*alongShort, 1, 0})
		}
	}
	f.cones.Nuclear = append(f.cones.Nuclear, cscs.Size{Rows: long, Cols: short})
}

// height is the number of rows that SCS sees.
func (f *form) height() int { return max(1, len(f.rows)) }

// problem returns what SCS is given.
func (f *form) problem(p *backends.Problem) *cscs.Data {
	n, _ := p.Dims()
	out := &cscs.Data{A: f.matrix(p.A, n), B: f.vector(p.B), C: p.Q}
	if p.P != nil && p.P.NNZ() > 0 {
		raw := p.P.RawMatrix()
		out.P = &mirror.Matrix{Rows: n, Cols: n, Ptr: raw.Indptr, Ind: raw.Ind, Val: raw.Data}
	}
	return out
}

// matrix returns A' with increasing row indices in each column.
func (f *form) matrix(a *sparse.CSC, n int) *mirror.Matrix {
	out := &mirror.Matrix{Rows: f.height(), Cols: n}
	if f.dummy || a == nil {
		out.Ptr = make([]int, n+1)
		return out
	}
	raw := a.RawMatrix()
	if f.asGiven {
		out.Ptr, out.Ind, out.Val = raw.Indptr, raw.Ind, raw.Data
		return out
	}
	out.Ptr = make([]int, n+1)
	// By rows first: entries of row i are at [start[i], start[i+1]).
	start := make([]int, f.m+1)
	for _, i := range raw.Ind {
		start[i+1]++
	}
	for i := range f.m {
		start[i+1] += start[i]
	}
	next := append([]int{}, start[:f.m]...)
	col, val := make([]int, len(raw.Ind)), make([]float64, len(raw.Ind))
	for j := range n {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			at := next[raw.Ind[k]]
			next[raw.Ind[k]]++
			col[at], val[at] = j, raw.Data[k]
		}
	}
	for _, r := range f.rows {
		if r.ours == ofScale {
			continue
		}
		for at := start[r.ours]; at < start[r.ours+1]; at++ {
			out.Ptr[col[at]+1]++
		}
	}
	for j := range n {
		out.Ptr[j+1] += out.Ptr[j]
	}
	out.Ind, out.Val = make([]int, out.Ptr[n]), make([]float64, out.Ptr[n])
	fill := append([]int{}, out.Ptr[:n]...)
	for i, r := range f.rows {
		if r.ours == ofScale {
			continue
		}
		for at := start[r.ours]; at < start[r.ours+1]; at++ {
			k := fill[col[at]]
			fill[col[at]]++
			out.Ind[k], out.Val[k] = i, r.sign*val[at]
		}
	}
	return out
}

// vector writes b' = sign b + shift.
func (f *form) vector(b []float64) []float64 {
	out := make([]float64, f.height())
	for i, r := range f.rows {
		out[i] = r.shift
		if r.ours != ofScale {
			out[i] += r.sign * b[r.ours]
		}
	}
	return out
}

// slacks and multipliers write a point of ours as one of SCS.
func (f *form) slacks(s []float64) []float64 { return f.vector(s) }

func (f *form) multipliers(z []float64) []float64 {
	out := make([]float64, f.height())
	scale := 0
	for i, r := range f.rows {
		if r.ours == ofScale {
			scale = i
			continue
		}
		out[i] = r.sign * z[r.ours]
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

// dual returns our z.
func (f *form) dual(y []float64) []float64 {
	z := make([]float64, f.m)
	for i, r := range f.rows {
		if r.ours != ofScale {
			z[r.ours] += r.sign * y[i]
		}
	}
	return z
}

// slack returns our s, taking b - Ax into the box where s came from no row of
// SCS or from two.
func (f *form) slack(s []float64, p *backends.Problem, x []float64) []float64 {
	out := make([]float64, f.m)
	for i, r := range f.rows {
		if r.ours != ofScale {
			out[r.ours] = r.sign * (s[i] - r.shift)
		}
	}
	if len(f.boxes) > 0 {
		residual := p.Slack(x)
		for _, b := range f.boxes {
			out[b.ours] = min(max(residual[b.ours], b.lower), b.upper)
		}
	}
	return out
}
