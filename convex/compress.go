package convex

import (
	"slices"

	"gonum.org/v1/gonum/lapack/lapack64"
)

// tall is how many times more rows than columns a sum of squares must have to
// be compressed. The factorisation costs about as much as two iterations of a
// solver on the uncompressed rows, and saves that in each iteration.
const tall = 2

// compress returns an expression with the same sum of squares as a at every
// point and no more rows than [M c] has columns, where a = M x + c is dense,
// fixed, and has many more rows than columns; it returns other expressions as
// they are. With the factorisation [M c] = Q R, Q'Q = I,
//
//	|M x + c|^2 = |R (x, 1)|^2
//
// R is computed block of rows by block of rows, so that no copy of M is made.
func compress(a Affine) Affine {
	if len(a.pars) > 0 || len(a.vars) == 0 {
		return a
	}
	cols := 1
	for i := range a.vars {
		t := &a.vars[i]
		// A term of one column (an intercept) is as good as dense.
		dense := t.mat != nil && t.mat.dense != nil || t.mat == nil && t.idx != nil && t.source() == 1
		if !dense || t.w != nil || t.sum {
			return a
		}
		cols += t.width()
	}
	if a.n < tall*cols {
		return a
	}
	step := 4 * cols
	block := make([]float64, (cols+step)*cols)
	tau, work := make([]float64, cols), []float64{0}
	have := 0 // rows of R in the block
	for from := 0; from < a.n; from += step {
		rows := min(step, a.n-from)
		part := &matrix{rows: have + rows, cols: cols, dense: block[:(have+rows)*cols], stride: cols}
		clear(part.dense[have*cols:])
		a.rowsInto(part, have, from, rows)
		lapack64.Geqrf(part.general(), tau[:min(part.rows, cols)], work, -1)
		if size := int(work[0]); size > len(work) {
			work = make([]float64, size)
		}
		lapack64.Geqrf(part.general(), tau[:min(part.rows, cols)], work, len(work))
		have = min(part.rows, cols)
		for i := range have { // below the diagonal are the reflectors
			clear(part.row(i)[:i])
		}
	}
	r := &matrix{rows: have, cols: cols, dense: slices.Clone(block[:have*cols]), stride: cols}
	out := Affine{n: have, m: a.m, c: make([]float64, have)}
	col := 0
	for i := range a.vars {
		t := &a.vars[i]
		first := t.first
		if t.mat == nil {
			first = 0
		}
		out.vars = append(out.vars, term{v: t.v, rows: have, first: first, scale: 1, mat: r.colRange(col, col+t.width())})
		col += t.width()
	}
	for i := range have {
		out.c[i] = r.row(i)[col]
	}
	return out
}

// rowsInto writes rows of the expression, dense and with its constant in the last column, from row have of a matrix on.
func (a *Affine) rowsInto(part *matrix, have, from, rows int) {
	col := 0
	for i := range a.vars {
		t := &a.vars[i]
		for r := max(from, t.off); r < min(from+rows, t.off+t.rows); r++ {
			to, f := part.row(have + r - from)[col:col+t.width()], t.fixed(r-t.off)
			if t.mat == nil {
				to[0] += f
				continue
			}
			for j, v := range t.mat.row(r - t.off) {
				to[j] += f * v
			}
		}
		col += t.width()
	}
	if a.c != nil {
		for r := range rows {
			part.row(have + r)[col] = a.c[from+r]
		}
	}
}

// width is the number of source entries that the rows of the term read.
func (t *term) width() int {
	if t.mat != nil {
		return t.mat.cols
	}
	return t.source()
}
