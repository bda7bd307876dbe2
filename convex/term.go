package convex

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// term is a linear map of one vector, a variable or a parameter, that adds to
// some rows of an expression. Row r of the term is
//
//	f_r * source[entry(r)]                      (mat == nil, a selection)
//	f_r * sum_c mat[r, c] source[first+c]       (mat != nil)
//	f_r = scale * coef[r] * w[windex(r)]        (missing factors are 1)
//
// and adds to row off+r of the expression, or to row off when sum is set.
type term struct {
	v *Variable // the source, or
	p *Parameter

	off, rows int
	first     int
	idx       []int // nil: entry(r) = first+r
	coef      []float64
	scale     float64
	mat       *matrix

	w    *Parameter // weights
	woff int
	widx []int // nil: windex(r) = woff+r

	sum bool
}

// height is the number of rows of the expression that the term adds to.
func (t *term) height() int {
	if t.sum {
		return 1
	}
	return t.rows
}

// source is the length of the source.
func (t *term) source() int {
	if t.v != nil {
		return t.v.n
	}
	return t.p.n
}

func (t *term) entry(r int) int {
	if t.idx != nil {
		return t.idx[r]
	}
	return t.first + r
}

func (t *term) windex(r int) int {
	if t.widx != nil {
		return t.widx[r]
	}
	return t.woff + r
}

// fixed is the factor of row r without the weight.
func (t *term) fixed(r int) float64 {
	if t.coef != nil {
		return t.scale * t.coef[r]
	}
	return t.scale
}

// factor is the factor of row r at the weight's current value.
func (t *term) factor(r int) float64 {
	f := t.fixed(r)
	if t.w != nil {
		f *= t.w.values[t.windex(r)]
	}
	return f
}

// plain says that all rows have the factor scale.
func (t *term) plain() bool { return t.coef == nil && t.w == nil }

// identity says that the term is scale times its whole source.
func (t *term) identity() bool {
	return t.mat == nil && t.idx == nil && t.first == 0 && t.rows == t.source() && t.plain() && !t.sum
}

// row is the row of the expression that row r of the term adds to.
func (t *term) row(r int) int {
	if t.sum {
		return t.off
	}
	return t.off + r
}

// forward adds the term's value at the source x to out, the whole expression.
func (t *term) forward(out, x []float64) {
	switch {
	case t.mat == nil && t.idx == nil && t.plain() && !t.sum:
		floats.AddScaled(out[t.off:t.off+t.rows], t.scale, x[t.first:t.first+t.rows])
	case t.mat == nil:
		for r := range t.rows {
			out[t.row(r)] += t.factor(r) * x[t.entry(r)]
		}
	case t.plain() && !t.sum:
		t.mat.addMul(out[t.off:t.off+t.rows], t.scale, x[t.first:t.first+t.mat.cols])
	default:
		y := t.base(x)
		for r, v := range y {
			out[t.row(r)] += t.factor(r) * v
		}
	}
}

// forward adds the terms in variables, whose values of returns, to out.
func (a *Affine) forward(out []float64, of func(*Variable) []float64) {
	for k := range a.vars {
		t := &a.vars[k]
		t.forward(out, of(t.v))
	}
}

// adjoint adds the gradient of alpha z'(expression) to what of returns for each variable, nil for none.
func (a *Affine) adjoint(alpha float64, z []float64, of func(*Variable) []float64) {
	for k := range a.vars {
		t := &a.vars[k]
		if g := of(t.v); g != nil {
			t.adjoint(g, alpha, z)
		}
	}
}

// base returns the rows of the term without factors.
func (t *term) base(x []float64) []float64 {
	y := make([]float64, t.rows)
	if t.mat != nil {
		t.mat.addMul(y, 1, x[t.first:t.first+t.mat.cols])
		return y
	}
	for r := range y {
		y[r] = x[t.entry(r)]
	}
	return y
}

// adjoint adds alpha times the transposed term applied to z to g, the gradient
// of z'(expression) in the source.
func (t *term) adjoint(g []float64, alpha float64, z []float64) {
	switch {
	case t.mat == nil && t.idx == nil && t.plain() && !t.sum:
		floats.AddScaled(g[t.first:t.first+t.rows], alpha*t.scale, z[t.off:t.off+t.rows])
	case t.mat == nil && t.sum:
		v := alpha * z[t.off]
		if v == 0 {
			return
		}
		for r := range t.rows {
			g[t.entry(r)] += t.factor(r) * v
		}
	case t.mat == nil:
		for r := range t.rows {
			g[t.entry(r)] += alpha * t.factor(r) * z[t.off+r]
		}
	case t.plain() && !t.sum:
		t.mat.addMulTrans(g[t.first:t.first+t.mat.cols], alpha*t.scale, z[t.off:t.off+t.rows])
	default:
		y := make([]float64, t.rows)
		for r := range y {
			y[r] = t.factor(r) * z[t.row(r)]
		}
		t.mat.addMulTrans(g[t.first:t.first+t.mat.cols], alpha, y)
	}
}

// weightGradient adds alpha times the gradient of z'(expression) in the weights to g.
func (t *term) weightGradient(g []float64, alpha float64, z, x []float64) {
	for r, v := range t.base(x) {
		g[t.windex(r)] += alpha * t.fixed(r) * z[t.row(r)] * v
	}
}

// weighted returns the term with row i of the expression multiplied by
// p[first+i], or by p[0] when one is set.
func (t term) weighted(p *Parameter, one bool) term {
	t.w = p
	switch {
	case one:
		t.widx = make([]int, t.rows)
	case t.sum:
		t.widx = make([]int, t.rows)
		for r := range t.widx {
			t.widx[r] = t.off
		}
	default:
		t.woff = t.off
	}
	return t
}

// dotted returns the term as the single row c'(expression).
func (t term) dotted(c []float64) term {
	switch {
	case t.sum:
		t.scale *= c[t.off]
	case t.mat != nil && t.plain():
		t.mat = t.mat.combine(c[t.off : t.off+t.rows])
		t.rows = 1
	default:
		t.sum = true
		part := c[t.off : t.off+t.rows]
		if slices.ContainsFunc(part, func(v float64) bool { return v != 1 }) {
			coef := slices.Clone(part)
			if t.coef != nil {
				floats.Mul(coef, t.coef)
			}
			t.coef = coef
		}
	}
	t.off = 0
	return t
}

// picked appends to out the terms whose row k is row rows[k] of the expression.
func (t term) picked(out []term, rows []int) []term {
	if t.sum {
		for k, i := range rows {
			if i == t.off {
				copied := t
				copied.off = k
				out = append(out, copied)
			}
		}
		return out
	}
	// Runs of consecutive picks become one term each: for a selection any rows
	// of the term, for a matrix consecutive rows (a view) or, where that gives
	// many pieces, a copy.
	for k := 0; k < len(rows); {
		if rows[k] < t.off || rows[k] >= t.off+t.rows {
			k++
			continue
		}
		end, steady := k+1, 1
		for end < len(rows) && rows[end] >= t.off && rows[end] < t.off+t.rows {
			if rows[end] == rows[end-1]+1 && steady == end-k {
				steady++
			}
			end++
		}
		if t.mat != nil && steady < end-k && repeated(rows[k:end]) {
			end, steady = k+1, 1 // the same row again and again: one view each
		}
		out = append(out, t.slice(rows[k:end], steady == end-k, k))
		k = end
	}
	return out
}

// repeated says that all entries of rows are the same.
func repeated(rows []int) bool {
	for _, r := range rows {
		if r != rows[0] {
			return false
		}
	}
	return true
}

// slice returns the term with the given rows of the expression, all within it,
// starting at row off; steady says that they are consecutive.
func (t term) slice(rows []int, steady bool, off int) term {
	base := t.off
	from, to := rows[0]-base, rows[0]-base+len(rows)
	t.off = off
	ints := func(v []int) []int {
		if v == nil {
			return nil
		}
		if steady {
			return v[from:to]
		}
		out := make([]int, len(rows))
		for k, i := range rows {
			out[k] = v[i-base]
		}
		return out
	}
	spread := func(start int) []int { // start + row of the term
		out := make([]int, len(rows))
		for k, i := range rows {
			out[k] = start + i - base
		}
		return out
	}
	if t.mat == nil {
		switch {
		case t.idx != nil:
			t.idx = ints(t.idx)
		case steady:
			t.first += from
		default:
			t.idx, t.first = spread(t.first), 0
		}
	} else if steady {
		t.mat = t.mat.rowRange(from, to)
	} else {
		t.mat = t.mat.pick(spread(0))
	}
	if t.coef != nil {
		coef := make([]float64, len(rows))
		for k, i := range rows {
			coef[k] = t.coef[i-base]
		}
		t.coef = coef
	}
	if t.w != nil {
		switch {
		case t.widx != nil:
			t.widx = ints(t.widx)
		case steady:
			t.woff += from
		default:
			t.widx, t.woff = spread(t.woff), 0
		}
	}
	t.rows = len(rows)
	return t
}

// mapped appends to out the term multiplied from the left by the matrix N,
// whose columns belong to the rows of the expression.
func (t term) mapped(out []term, n *matrix) []term {
	if n.rows == 0 {
		return out
	}
	if t.w != nil {
		// The weights stand between N and the term, so each row of N is a sum
		// of weighted rows of its own.
		row, unit := make([]float64, n.cols), make([]float64, n.rows)
		for i := range n.rows {
			clear(row)
			unit[i] = 1
			n.addMulTrans(row, 1, unit)
			unit[i] = 0
			part := t.dotted(row)
			part.off = i
			out = append(out, part)
		}
		return out
	}
	part := n.colRange(t.off, t.off+t.height())
	switch {
	case t.sum:
		// The single row of a sum is dense in the source: make it a matrix.
		row := make([]float64, t.source())
		one := make([]float64, t.off+1)
		one[t.off] = 1
		t.adjoint(row, 1, one)
		t.scale = 1
		t.mat = part.times(&matrix{rows: 1, cols: len(row), dense: row, stride: len(row)})
		t.first, t.sum = 0, false
	case t.mat != nil:
		t.mat = part.times(t.mat)
	case t.idx != nil || t.coef != nil:
		entries := make([]int, t.rows)
		for r := range entries {
			entries[r] = t.entry(r)
		}
		t.mat, t.first = part.gather(t.source(), entries, t.coef), 0
	default:
		t.mat = part
	}
	t.idx, t.coef = nil, nil
	t.off, t.rows = 0, n.rows
	return append(out, t)
}
