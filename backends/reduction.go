package backends

import (
	"math"
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/internal/dense"
)

// reduction is a problem without what needs no solver, found by the pattern of its matrices so that it stays the same
// over most updates:
//
//   - rows without entries, and rows of a box without bounds, whose z is zero;
//   - variables without entries, which are zero as q is;
//   - variables that an equation of one entry fixes, a x_j = b, with that equation, whose z is what makes the column j
//     of Px + q + A'z zero. Those in rows of a cone that is no product of intervals stay: a row of such a cone without
//     entries is harder on first-order methods than the variable.
//
// Everything is undone in expand. Trivial has looked for contradictions before.
type reduction struct {
	dropRow, dropCol []bool
	rows, cols       []int32 // what stays
	fixed            []fixing
	left             *Problem // what is left of the numbers that it was made for
	lent             bool     // a solver was set up with left, and may refer to its vectors

	part           Point     // of contract
	x              []float64 // work space
	ofRows, ofCols []exactSum
}

// fixing says that a row, whose s is low, fixes a variable.
type fixing struct {
	row, col, entry int32
	low             float64
}

// pattern is what reductions of problems of one pattern have in common.
type pattern struct {
	rows, cols    []int32 // those that may be left out
	column, entry []int32 // the last of each row
	conic         []bool  // variables in rows of a cone that is no product of intervals

	spare, lent matrixPair // of the pattern of what is left: for other numbers, and what a solver was set up with
	to          []int32    // work space
}

type matrixPair struct{ p, a *sparse.CSC }

// adopt makes the matrices before a reduction, which that has others for, the spare ones of the next.
func (t *pattern) adopt(r, before *reduction) {
	switch {
	case t == nil:
	case r == nil || !r.same(before):
		t.spare = matrixPair{}
	default:
		t.spare.renew(before.left, r.left, t.lent)
	}
}

// renew makes the matrices of a problem before, where there are others now, the spare ones, but for those lent.
func (spare *matrixPair) renew(before, now *Problem, lent matrixPair) {
	if before.P != now.P {
		if spare.p = before.P; spare.p == lent.p {
			spare.p = nil
		}
	}
	if before.A != now.A {
		if spare.a = before.A; spare.a == lent.a {
			spare.a = nil
		}
	}
}

// newPattern returns nil where nothing can be left out, whatever the numbers. It is given the intervals of p.
func newPattern(p *Problem, low, high []float64) *pattern {
	n, m := p.Dims()
	count, used := make([]int32, m), make([]bool, n)
	t := &pattern{column: make([]int32, m), entry: make([]int32, m), conic: make([]bool, n)}
	stored(p.P, func(_, i, j int, _ float64) { used[i], used[j] = true, true })
	stored(p.A, func(k, i, j int, _ float64) {
		count[i]++
		t.column[i], t.entry[i], used[j] = int32(j), int32(k), true
		t.conic[j] = t.conic[j] || math.IsNaN(low[i])
	})
	for i, l := range low {
		if !math.IsNaN(l) && (count[i] == 0 || math.IsInf(l, -1) && math.IsInf(high[i], 1) || count[i] == 1 && l == high[i] &&
			!t.conic[t.column[i]]) {
			t.rows = append(t.rows, int32(i))
		}
		if count[i] == 0 {
			t.column[i] = -1
		}
	}
	for j, is := range used {
		if !is {
			t.cols = append(t.cols, int32(j))
		}
	}
	if len(t.rows)+len(t.cols) == 0 {
		return nil
	}
	return t
}

// reduce returns nil where nothing of p can be left out. It is given the intervals of p, which of its matrices are not
// those of the last reduction and, unless they are nil, that and one that is no longer needed, whose memory it takes.
func (t *pattern) reduce(p *Problem, low, high []float64, newP, newA bool, last, room *reduction) *reduction {
	if t == nil {
		return nil
	}
	n, m := p.Dims()
	r := room
	if r == nil || r.lent {
		r = &reduction{left: &Problem{}}
	}
	r.dropRow, r.dropCol, r.fixed = dense.Cleared(r.dropRow, m), dense.Cleared(r.dropCol, n), r.fixed[:0]
	dropRow, dropCol := r.dropRow, r.dropCol
	some := false
	for _, i := range t.rows {
		switch {
		case math.IsInf(low[i], -1) && math.IsInf(high[i], 1), t.column[i] < 0 && p.B[i] >= low[i] && p.B[i] <= high[i]:
			dropRow[i], some = true, true
		case t.column[i] >= 0 && !dropCol[t.column[i]]:
			f := fixing{i, t.column[i], t.entry[i], low[i]}
			if x := f.value(p); !math.IsInf(x, 0) && !math.IsNaN(x) {
				dropCol[f.col], dropRow[i], some = true, true, true
				r.fixed = append(r.fixed, f)
			}
		}
	}
	for _, j := range t.cols {
		if p.Q[j] == 0 {
			dropCol[j], some = true, true
		}
	}
	if !some {
		return nil
	}
	left, spare := r.left, &t.spare
	if last != nil && slices.Equal(dropRow, last.dropRow) && slices.Equal(dropCol, last.dropCol) {
		r.rows, r.cols, left.Cones, left.A, left.P = last.rows, last.cols, last.left.Cones, last.left.A, last.left.P
	} else {
		r.rows, r.cols, left.Cones = notDropped(dropRow), notDropped(dropCol), withoutRows(p.Cones, dropRow)
		newP, newA, spare = p.P != nil, p.A != nil, new(matrixPair)
	}
	if newA {
		spare.a = t.part(spare.a, p.A, r.rows, r.cols, m)
		left.A = spare.a
	}
	if newP {
		spare.p = t.part(spare.p, p.P, r.cols, r.cols, n)
		left.P = spare.p
	}
	left.Q, left.B = dense.Cleared(left.Q, len(r.cols)), dense.Cleared(left.B, len(r.rows))
	if len(r.fixed) > 0 {
		r.substitute(p)
		if !allFinite(left.Q) || !allFinite(left.B) {
			return nil
		}
		return r
	}
	for at, j := range r.cols {
		left.Q[at] = p.Q[j]
	}
	for at, i := range r.rows {
		left.B[at] = p.B[i]
	}
	return r
}

// notDropped lists what is left.
func notDropped(drop []bool) (left []int32) {
	for i, d := range drop {
		if !d {
			left = append(left, int32(i))
		}
	}
	return left
}

// withoutRows returns the cones without the rows to drop.
func withoutRows(cones []Cone, drop []bool) []Cone {
	out, row := make([]Cone, 0, len(cones)), 0
	for _, c := range cones {
		kept := c
		kept.Dim, kept.Lower, kept.Upper = 0, nil, nil
		for i := range c.Dim {
			if !drop[row+i] {
				kept.Dim++
				if c.Kind == BoxCone {
					kept.Lower, kept.Upper = append(kept.Lower, c.Lower[i]), append(kept.Upper, c.Upper[i])
				}
			}
		}
		out, row = append(out, kept), row+c.Dim
	}
	return out
}

// part returns the given rows and columns of a, which has that many rows, in the memory of a matrix of the same pattern
// unless that is nil.
func (t *pattern) part(room, a *sparse.CSC, rows, cols []int32, height int) *sparse.CSC {
	raw := a.RawMatrix()
	if room == nil {
		room = sparse.NewCSC(len(rows), len(cols), make([]int, 0, len(cols)+1), make([]int, 0, len(raw.Ind)),
			make([]float64, 0, len(raw.Ind)))
	}
	t.to = dense.Cleared(t.to, height)
	for at, i := range rows {
		t.to[i] = int32(at) + 1
	}
	out := room.RawMatrix()
	ptr, ind, data := append(out.Indptr[:0], 0), out.Ind[:0], out.Data[:0]
	for _, j := range cols {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			if i := t.to[raw.Ind[k]]; i > 0 {
				ind, data = append(ind, int(i)-1), append(data, raw.Data[k])
			}
		}
		ptr = append(ptr, len(ind))
	}
	out.Indptr, out.Ind, out.Data = ptr, ind, data
	return room
}

// substitute writes q and b of what is left, with the fixed variables in them.
func (r *reduction) substitute(p *Problem) {
	r.x = dense.Cleared(r.x, len(p.Q))
	for _, f := range r.fixed {
		r.x[f.col] = f.value(p)
	}
	r.ofCols, r.ofRows = timesP(r.ofCols, p, r.x), timesA(r.ofRows, p, r.x)
	px, ax := r.ofCols, r.ofRows
	for at, j := range r.cols {
		r.left.Q[at] = p.Q[j]
		if px[j].size != 0 {
			px[j].add(p.Q[j])
			r.left.Q[at] = px[j].value()
		}
	}
	for at, i := range r.rows {
		r.left.B[at] = p.B[i]
		if ax[i].size != 0 {
			ax[i].add(-p.B[i])
			r.left.B[at] = -ax[i].value()
		}
	}
}

// same says whether two reductions, which may be nil, leave the same rows, columns and fixings.
func (r *reduction) same(o *reduction) bool {
	if r == nil || o == nil {
		return r == o
	}
	return slices.Equal(r.rows, o.rows) && slices.Equal(r.cols, o.cols) && slices.Equal(r.fixed, o.fixed)
}

// value returns x_j.
func (f fixing) value(p *Problem) float64 {
	return (p.B[f.row] - f.low) / p.A.RawMatrix().Data[f.entry]
}

// update returns what an update, whose numbers r has already, changes in the rest.
func (r *reduction) update(u Update) Update {
	left := r.left
	out := Update{}
	fixes := len(r.fixed) > 0
	if u.P != nil {
		out.P = left.P
	}
	if u.A != nil {
		out.A = left.A
	}
	if u.Q != nil || fixes && (u.P != nil || u.A != nil || u.B != nil) {
		out.Q = left.Q
	}
	if u.B != nil || fixes && u.A != nil {
		out.B = left.B
	}
	return out
}

// contract returns the part of a point of p that the rest has; nil parts stay nil.
func (r *reduction) contract(pt Point) Point {
	pick := func(room, v []float64, which []int32) []float64 {
		if v == nil {
			return nil
		}
		out := dense.Cleared(room, len(which))
		for at, i := range which {
			out[at] = v[i]
		}
		return out
	}
	r.part = Point{X: pick(r.part.X, pt.X, r.cols), S: pick(r.part.S, pt.S, r.rows), Z: pick(r.part.Z, pt.Z, r.rows)}
	return r.part
}

// expand makes a solution of the rest one of p, in place. Parts of another length are left alone.
func (r *reduction) expand(p *Problem, low, high []float64, out *Solution) {
	n, m := p.Dims()
	spread := func(v []float64, which []int32, length int) []float64 {
		if len(v) != len(which) || v == nil && length > 0 && len(which) > 0 {
			return v
		}
		if v == nil {
			v = []float64{}
		}
		full := slices.Grow(v, length-len(v))[:length]
		at := len(which)
		for i := length - 1; i >= 0; i-- { // at <= i, so that nothing is lost in place
			if at > 0 && which[at-1] == int32(i) {
				at--
				full[i] = full[at]
			} else {
				full[i] = 0
			}
		}
		return full
	}
	ray, farkas := out.Status == DualInfeasible, out.Status == PrimalInfeasible
	if !ray && !farkas && (out.X == nil || out.Z == nil) {
		return // there is no point
	}
	if !farkas {
		out.X = spread(out.X, r.cols, n)
	}
	if !ray {
		out.Z = spread(out.Z, r.rows, m)
	}
	if ray || farkas {
		if farkas && len(out.Z) == m {
			r.multipliers(p, nil, out.Z)
		}
		return
	}
	if len(out.X) != n || len(out.Z) != m {
		return
	}
	for _, f := range r.fixed {
		out.X[f.col] = f.value(p)
	}
	if len(out.S) == len(r.rows) {
		out.S = spread(out.S, r.rows, m)
		r.slacks(p, low, high, out.X, out.S)
	}
	r.multipliers(p, out.X, out.Z)
}

// slacks fills in s = b - Ax in its intervals for the rows that were left out.
func (r *reduction) slacks(p *Problem, low, high, x, s []float64) {
	r.ofRows = dense.Cleared(r.ofRows, len(s))
	moved := r.ofRows
	entries(p.A, func(i, j int, v float64) {
		if r.dropRow[i] {
			moved[i].addProduct(v, x[j])
		}
	})
	for i, b := range p.B {
		if r.dropRow[i] {
			moved[i].add(-b)
			s[i] = min(max(-moved[i].value(), low[i]), high[i])
		}
	}
}

// multipliers fills in z of the rows that fix a variable: those of Px + q + A'z = 0, or, for nil x, of A'z = 0.
func (r *reduction) multipliers(p *Problem, x, z []float64) {
	if len(r.fixed) == 0 {
		return
	}
	r.ofCols = dense.Cleared(r.ofCols, len(p.Q))
	px := r.ofCols
	if x != nil {
		entries(p.P, func(i, j int, v float64) {
			if r.dropCol[i] {
				px[i].addProduct(v, x[j])
			}
			if r.dropCol[j] && i != j {
				px[j].addProduct(v, x[i])
			}
		})
	}
	raw := p.A.RawMatrix()
	for _, f := range r.fixed {
		var sum exactSum
		if x != nil {
			sum = px[f.col]
			sum.add(p.Q[f.col])
		}
		for k := raw.Indptr[f.col]; k < raw.Indptr[f.col+1]; k++ {
			if i := raw.Ind[k]; i != int(f.row) {
				sum.addProduct(raw.Data[k], z[i])
			}
		}
		z[f.row] = -sum.value() / raw.Data[f.entry]
	}
}
