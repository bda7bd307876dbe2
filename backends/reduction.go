package backends

import (
	"math"
	"slices"

	"github.com/james-bowman/sparse"
)

// reduction is a problem without what needs no solver, found by the pattern of its matrices so that it stays the same over most
// updates:
//
//   - rows without entries, and rows of a box without bounds, whose z is zero;
//   - variables without entries, which are zero as q is;
//   - variables that an equation of one entry fixes, a x_j = b, with that equation, whose z is what makes the column j of
//     Px + q + A'z zero. Those in rows of a cone that is no product of intervals stay: a row of such a cone without entries is
//     harder on first-order methods than the variable.
//
// Everything is undone in expand. Trivial has looked for contradictions before.
type reduction struct {
	rows, cols []int32 // what stays
	fixed      []fixing
	cones      []Cone
	a, p       subset
}

// fixing says that a row fixes a variable.
type fixing struct{ row, col, entry int32 }

// subset is a part of a matrix: its pattern, and where its entries come from.
type subset struct {
	ptr, ind, from []int
}

// newReduction returns nil where nothing can be left out.
func newReduction(p *Problem) *reduction {
	n, m := p.Dims()
	low, high := intervals(p)
	count, column, entry := make([]int32, m), make([]int32, m), make([]int32, m)
	used, conic := make([]bool, n), make([]bool, n)
	if p.P != nil {
		raw := p.P.RawMatrix()
		for j := range n {
			for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
				used[j], used[raw.Ind[k]] = true, true
			}
		}
	}
	if p.A != nil {
		raw := p.A.RawMatrix()
		for j := range n {
			for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
				i := raw.Ind[k]
				count[i]++
				column[i], entry[i] = int32(j), int32(k)
				used[j] = true
				conic[j] = conic[j] || math.IsNaN(low[i])
			}
		}
	}
	r := &reduction{}
	dropRow, dropCol := make([]bool, m), make([]bool, n)
	isFixed := make([]bool, n)
	some := false
	for i := range m {
		switch {
		case math.IsNaN(low[i]):
		case count[i] == 0 && p.B[i] >= low[i] && p.B[i] <= high[i], math.IsInf(low[i], -1) && math.IsInf(high[i], 1):
			dropRow[i], some = true, true
		case count[i] == 1 && low[i] == high[i] && !isFixed[column[i]] && !conic[column[i]]:
			if x := r.value(p, fixing{int32(i), column[i], entry[i]}); !math.IsInf(x, 0) && !math.IsNaN(x) {
				isFixed[column[i]], dropCol[column[i]], dropRow[i], some = true, true, true, true
				r.fixed = append(r.fixed, fixing{int32(i), column[i], entry[i]})
			}
		}
	}
	for j := range n {
		if !used[j] && p.Q[j] == 0 {
			dropCol[j], some = true, true
		}
	}
	if !some {
		return nil
	}
	for i := range int32(m) {
		if !dropRow[i] {
			r.rows = append(r.rows, i)
		}
	}
	for j := range int32(n) {
		if !dropCol[j] {
			r.cols = append(r.cols, j)
		}
	}
	row := 0
	for _, c := range p.Cones {
		kept := c
		kept.Dim = 0
		kept.Lower, kept.Upper = nil, nil
		for i := range c.Dim {
			if !dropRow[row+i] {
				kept.Dim++
				if c.Kind == BoxCone {
					kept.Lower, kept.Upper = append(kept.Lower, c.Lower[i]), append(kept.Upper, c.Upper[i])
				}
			}
		}
		r.cones = append(r.cones, kept)
		row += c.Dim
	}
	r.a = newSubset(p.A, r.rows, r.cols, m)
	r.p = newSubset(p.P, r.cols, r.cols, n)
	if len(r.fixed) > 0 {
		if left := r.problem(p); !allFinite(left.Q) || !allFinite(left.B) {
			return nil
		}
	}
	return r
}

// newSubset keeps the given rows and columns of a, which has that many rows and may be nil.
func newSubset(a *sparse.CSC, rows, cols []int32, height int) subset {
	if a == nil {
		return subset{}
	}
	to := make([]int32, height)
	for i := range to {
		to[i] = -1
	}
	for at, i := range rows {
		to[i] = int32(at)
	}
	raw := a.RawMatrix()
	s := subset{ptr: make([]int, 1, len(cols)+1)}
	for _, j := range cols {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			if i := to[raw.Ind[k]]; i >= 0 {
				s.ind, s.from = append(s.ind, int(i)), append(s.from, k)
			}
		}
		s.ptr = append(s.ptr, len(s.ind))
	}
	return s
}

// values returns the part of a, nil for nil.
func (s *subset) values(a *sparse.CSC, rows, cols int) *sparse.CSC {
	if a == nil {
		return nil
	}
	data := make([]float64, len(s.from))
	raw := a.RawMatrix()
	for k, from := range s.from {
		data[k] = raw.Data[from]
	}
	return sparse.NewCSC(rows, cols, s.ptr, s.ind, data)
}

// same says whether two reductions, which may be nil, leave the same rows, columns and fixings.
func (r *reduction) same(o *reduction) bool {
	if r == nil || o == nil {
		return r == o
	}
	return slices.Equal(r.rows, o.rows) && slices.Equal(r.cols, o.cols) && slices.Equal(r.fixed, o.fixed)
}

// value returns x_j of a fixing.
func (r *reduction) value(p *Problem, f fixing) float64 {
	low, _ := intervalOf(p, int(f.row))
	return (p.B[f.row] - low) / p.A.RawMatrix().Data[f.entry]
}

// intervalOf returns the interval of s in one row of a cone that is a product of intervals.
func intervalOf(p *Problem, row int) (low, high float64) {
	for _, c := range p.Cones {
		if row < c.Dim {
			switch c.Kind {
			case ZeroCone:
				return 0, 0
			case BoxCone:
				return c.Lower[row], c.Upper[row]
			}
			return 0, math.Inf(1)
		}
		row -= c.Dim
	}
	return math.NaN(), math.NaN()
}

// problem returns what is left of p.
func (r *reduction) problem(p *Problem) *Problem {
	x := make([]float64, len(p.Q))
	for _, f := range r.fixed {
		x[f.col] = r.value(p, f)
	}
	out := &Problem{Q: make([]float64, len(r.cols)), B: make([]float64, len(r.rows)), Cones: r.cones}
	px, ax := times(p, x)
	for at, j := range r.cols {
		out.Q[at] = p.Q[j]
		if px[j].size != 0 {
			px[j].add(p.Q[j])
			out.Q[at] = px[j].value()
		}
	}
	for at, i := range r.rows {
		out.B[at] = p.B[i]
		if ax[i].size != 0 {
			ax[i].add(-p.B[i])
			out.B[at] = -ax[i].value()
		}
	}
	out.A = r.a.values(p.A, len(r.rows), len(r.cols))
	out.P = r.p.values(p.P, len(r.cols), len(r.cols))
	return out
}

// times returns Px and Ax.
func times(p *Problem, x []float64) (px, ax []exactSum) {
	n, m := p.Dims()
	px, ax = make([]exactSum, n), make([]exactSum, m)
	if p.P != nil {
		raw := p.P.RawMatrix()
		for j, xj := range x {
			for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
				i, v := raw.Ind[k], raw.Data[k]
				px[i].addProduct(v, xj)
				if i != j {
					px[j].addProduct(v, x[i])
				}
			}
		}
	}
	if p.A != nil {
		raw := p.A.RawMatrix()
		for j, xj := range x {
			if xj == 0 {
				continue
			}
			for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
				ax[raw.Ind[k]].addProduct(raw.Data[k], xj)
			}
		}
	}
	return px, ax
}

// update returns what an update of p, which has its numbers already, changes in the rest.
func (r *reduction) update(p *Problem, u Update) Update {
	left := r.problem(p)
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
	pick := func(v []float64, which []int32) []float64 {
		if v == nil {
			return nil
		}
		out := make([]float64, len(which))
		for at, i := range which {
			out[at] = v[i]
		}
		return out
	}
	return Point{X: pick(pt.X, r.cols), S: pick(pt.S, r.rows), Z: pick(pt.Z, r.rows)}
}

// expand makes a solution of the rest one of p, in place. Parts of another length are left alone.
func (r *reduction) expand(p *Problem, out *Solution) {
	n, m := p.Dims()
	spread := func(v []float64, which []int32, length int) []float64 {
		if len(v) != len(which) || v == nil && length > 0 && len(which) > 0 {
			return v
		}
		full := make([]float64, length)
		for at, i := range which {
			full[i] = v[at]
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
		out.X[f.col] = r.value(p, f)
	}
	if len(out.S) == len(r.rows) {
		kept := out.S
		out.S = make([]float64, m)
		_, ax := times(p, out.X)
		low, high := intervals(p)
		for i := range out.S { // those left out, and the others for the moment
			ax[i].add(-p.B[i])
			out.S[i] = -ax[i].value()
			if !math.IsNaN(low[i]) {
				out.S[i] = min(max(out.S[i], low[i]), high[i])
			}
		}
		for at, i := range r.rows {
			out.S[i] = kept[at]
		}
	}
	r.multipliers(p, out.X, out.Z)
}

// multipliers fills in z of the rows that fix a variable: those of Px + q + A'z = 0, or, for nil x, of A'z = 0.
func (r *reduction) multipliers(p *Problem, x, z []float64) {
	if len(r.fixed) == 0 {
		return
	}
	var px []exactSum
	if x != nil {
		px, _ = times(p, x)
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
