//go:build clarabel && cgo

package clarabel

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
	cclarabel "github.com/conetune/conetune/internal/cgo/clarabel"
	"github.com/conetune/conetune/internal/mirror"
)

// row is a row of Clarabel's problem in terms of rows of ours: its s is
// by s_of + byAlso s_also + shift.
type row struct {
	of, also   int // also is -1 where it is one row
	by, byAlso float64
	shift      float64
}

// form is the order in which Clarabel sees the rows of a problem.
type form struct {
	m     int // our rows
	rows  []row
	cones []cclarabel.Cone
	// boxes are our rows of boxes, whose s is taken from b - Ax.
	boxes []boxRow
	// asGiven says that the rows are ours in their order.
	asGiven bool
	// back undoes T for the other rows of ours.
	back []row
	// entries say where the values of A' come from.
	entries []entry
}

// boxRow is our row of a box.
type boxRow struct {
	ours         int
	lower, upper float64
}

// entry is by A_at + byAlso A_also, by places in the values of A; also is -1 where it is one.
type entry struct {
	at, also   int
	by, byAlso float64
}

func newForm(p *backends.Problem) *form {
	_, m := p.Dims()
	f := &form{m: m, rows: make([]row, 0, m), back: make([]row, m)}
	first := 0
	for _, c := range p.Cones {
		if c.Dim > 0 {
			f.add(c, first)
		}
		first += c.Dim
	}
	f.asGiven = len(f.rows) == m
	for i, r := range f.rows {
		f.asGiven = f.asGiven && r == row{of: i, also: -1, by: 1}
	}
	return f
}

// add appends the rows of a cone.
func (f *form) add(c backends.Cone, first int) {
	switch c.Kind {
	case backends.ZeroCone:
		f.plain(cclarabel.Cone{Kind: cclarabel.Zero, Dim: c.Dim}, first, c.Dim, 1)
	case backends.NonnegativeCone:
		f.plain(cclarabel.Cone{Kind: cclarabel.Nonnegative, Dim: c.Dim}, first, c.Dim, 1)
	case backends.BoxCone:
		f.box(c, first)
	case backends.SecondOrderCone:
		f.plain(cclarabel.Cone{Kind: cclarabel.SecondOrder, Dim: c.Dim}, first, c.Dim, 1)
	case backends.PSDCone:
		f.psd(c, first)
	case backends.ExponentialCone:
		f.plain(cclarabel.Cone{Kind: cclarabel.Exponential}, first, c.Dim, 1)
	case backends.DualExponentialCone:
		f.dualExponential(first)
	case backends.PowerCone:
		f.plain(cclarabel.Cone{Kind: cclarabel.Power, Weights: []float64{c.Alpha}}, first, c.Dim, 1)
	case backends.DualPowerCone:
		f.plain(cclarabel.Cone{Kind: cclarabel.Power, Weights: []float64{c.Alpha}}, first, c.Dim, 1/c.Alpha, 1/(1-c.Alpha))
	case backends.GeneralizedPowerCone:
		f.generalizedPower(c, first, func(float64) float64 { return 1 })
	case backends.DualGeneralizedPowerCone:
		f.generalizedPower(c, first, func(w float64) float64 { return 1 / w })
	}
}

// plain appends a cone with our rows in their order, the first of them multiplied by the factors.
func (f *form) plain(c cclarabel.Cone, first, dim int, factors ...float64) {
	for i := range dim {
		by := 1.0
		if i < len(factors) {
			by = factors[i]
		}
		f.one(first+i, by)
	}
	f.cones = append(f.cones, c)
}

// one appends a row that is a multiple of ours.
func (f *form) one(ours int, by float64) {
	f.back[ours] = row{of: len(f.rows), also: -1, by: 1 / by}
	f.rows = append(f.rows, row{of: ours, also: -1, by: by})
}

// box appends equations, then lower, then upper bounds.
func (f *form) box(c backends.Cone, first int) {
	part := func(kind cclarabel.Kind, by float64, bound func(l, u float64) (float64, bool)) {
		count := 0
		for i, l := range c.Lower {
			if at, ok := bound(l, c.Upper[i]); ok {
				f.rows = append(f.rows, row{of: first + i, also: -1, by: by, shift: -by * at})
				count++
			}
		}
		if count > 0 {
			f.cones = append(f.cones, cclarabel.Cone{Kind: kind, Dim: count})
		}
	}
	part(cclarabel.Zero, 1, func(l, u float64) (float64, bool) { return l, l == u })
	part(cclarabel.Nonnegative, 1, func(l, u float64) (float64, bool) { return l, l != u && !math.IsInf(l, -1) })
	part(cclarabel.Nonnegative, -1, func(l, u float64) (float64, bool) { return u, l != u && !math.IsInf(u, 1) })
	for i, l := range c.Lower {
		f.boxes = append(f.boxes, boxRow{first + i, l, c.Upper[i]})
	}
}

// psd appends the upper triangle by columns, (1,1), (1,2), (2,2), (1,3), .., from the lower one
// by columns, (1,1), (2,1), .., (n,1), (2,2), ..
func (f *form) psd(c backends.Cone, first int) {
	n := backends.PSDOrder(c.Dim)
	for j := range n {
		for i := range j + 1 { // entry (j, i) of the lower triangle
			f.one(first+i*n-i*(i-1)/2+j-i, 1)
		}
	}
	f.cones = append(f.cones, cclarabel.Cone{Kind: cclarabel.PSD, Dim: n})
}

// dualExponential appends (u - v, -u, w).
func (f *form) dualExponential(first int) {
	at, u, v, w := len(f.rows), first, first+1, first+2
	f.rows = append(f.rows, row{of: u, also: v, by: 1, byAlso: -1}, row{of: u, also: -1, by: -1}, row{of: w, also: -1, by: 1})
	f.back[u] = row{of: at + 1, also: -1, by: -1}
	f.back[v] = row{of: at, also: at + 1, by: -1, byAlso: -1}
	f.back[w] = row{of: at + 2, also: -1, by: 1}
	f.cones = append(f.cones, cclarabel.Cone{Kind: cclarabel.Exponential})
}

// generalizedPower appends (by(w_i) x_i, z). Without z that is the orthant, and with one weight a
// second-order cone, neither of which Clarabel takes as a cone of that name.
func (f *form) generalizedPower(c backends.Cone, first int, by func(w float64) float64) {
	extra := c.Dim - len(c.Weights)
	cone := cclarabel.Cone{Kind: cclarabel.GeneralizedPower, Dim: len(c.Weights), Extra: extra, Weights: unitSum(c.Weights)}
	switch {
	case extra == 0:
		cone = cclarabel.Cone{Kind: cclarabel.Nonnegative, Dim: c.Dim}
	case len(c.Weights) == 1:
		cone = cclarabel.Cone{Kind: cclarabel.SecondOrder, Dim: c.Dim}
	}
	factors := make([]float64, len(c.Weights))
	for i, w := range c.Weights {
		factors[i] = by(w)
	}
	f.plain(cone, first, c.Dim, factors...)
}

// unitSum returns weights whose sum is one to the last bit, which Clarabel insists on, by a change
// of the largest of them.
func unitSum(w []float64) []float64 {
	out := slices.Clone(w)
	largest := 0
	for i, v := range out {
		if v > out[largest] {
			largest = i
		}
	}
	for range 4 {
		sum := 0.0
		for _, v := range out {
			sum += v
		}
		if sum == 1 {
			break
		}
		out[largest] += 1 - sum
	}
	return out
}

// problem returns what Clarabel is given.
func (f *form) problem(p *backends.Problem) *cclarabel.Data {
	n, m := p.Dims()
	return &cclarabel.Data{P: adapter.MatrixOf(p.P, n, n), Q: p.Q, A: f.matrix(adapter.MatrixOf(p.A, m, n)), B: f.vector(p.B), Cones: f.cones}
}

// matrix returns A' = T A, and keeps where its values come from.
func (f *form) matrix(a *mirror.Matrix) *mirror.Matrix {
	if f.asGiven {
		return a
	}
	// The rows that row i of ours goes to are targets[start[i]:start[i+1]].
	type target struct {
		row int
		by  float64
	}
	start := make([]int, f.m+1)
	each := func(visit func(ours, row int, by float64)) {
		for i, r := range f.rows {
			visit(r.of, i, r.by)
			if r.also >= 0 {
				visit(r.also, i, r.byAlso)
			}
		}
	}
	each(func(ours, _ int, _ float64) { start[ours+1]++ })
	for i := range f.m {
		start[i+1] += start[i]
	}
	targets, next := make([]target, start[f.m]), slices.Clone(start[:f.m])
	each(func(ours, row int, by float64) {
		targets[next[ours]] = target{row, by}
		next[ours]++
	})
	type item struct {
		row int
		entry
	}
	out := &mirror.Matrix{Rows: len(f.rows), Cols: a.Cols, Ptr: make([]int, a.Cols+1)}
	f.entries = f.entries[:0]
	var column []item
	for j := range a.Cols {
		column = column[:0]
		for k := a.Ptr[j]; k < a.Ptr[j+1]; k++ {
			for _, t := range targets[start[a.Ind[k]]:start[a.Ind[k]+1]] {
				column = append(column, item{t.row, entry{at: k, also: -1, by: t.by}})
			}
		}
		slices.SortFunc(column, func(a, b item) int {
			if a.row != b.row {
				return a.row - b.row
			}
			return a.at - b.at
		})
		for i, c := range column {
			if i > 0 && column[i-1].row == c.row {
				last := &f.entries[len(f.entries)-1]
				last.also, last.byAlso = c.at, c.by
				continue
			}
			out.Ind, f.entries = append(out.Ind, c.row), append(f.entries, c.entry)
		}
		out.Ptr[j+1] = len(out.Ind)
	}
	out.Val = f.values(a.Val)
	return out
}

// values returns the values of A' from those of A.
func (f *form) values(a []float64) []float64 {
	if f.asGiven {
		return a
	}
	out := make([]float64, len(f.entries))
	for i, e := range f.entries {
		out[i] = e.by * a[e.at]
		if e.also >= 0 {
			out[i] += e.byAlso * a[e.also]
		}
	}
	return out
}

// vector returns T b + t.
func (f *form) vector(b []float64) []float64 {
	out := make([]float64, len(f.rows))
	for i, r := range f.rows {
		out[i] = r.by*b[r.of] + r.shift
		if r.also >= 0 {
			out[i] += r.byAlso * b[r.also]
		}
	}
	return out
}

// dual returns our z = T'z'.
func (f *form) dual(y []float64) []float64 {
	z := make([]float64, f.m)
	for i, r := range f.rows {
		z[r.of] += r.by * y[i]
		if r.also >= 0 {
			z[r.also] += r.byAlso * y[i]
		}
	}
	return z
}

// slack returns our s, where rows are in boxes b - Ax taken into them.
func (f *form) slack(s []float64, p *backends.Problem, x []float64) []float64 {
	out := make([]float64, f.m)
	for i, r := range f.back {
		if r.by == 0 {
			continue
		}
		out[i] = r.by * s[r.of]
		if r.also >= 0 {
			out[i] += r.byAlso * s[r.also]
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
