package affine

import (
	"slices"

	"gonum.org/v1/gonum/lapack/lapack64"
)

// tall is how many times more rows than columns a sum of squares must have to be compressed. The factorisation costs
// about as much as two iterations of a solver on the uncompressed rows, and saves that in each iteration.
const tall = 2

// Compress returns an expression with the same sum of squares as a at every point and no more rows than [M c] has
// columns, where a = M x + c is dense, fixed, and has many more rows than columns; it returns other expressions as they
// are. With the factorisation [M c] = Q R, Q'Q = I,
//
//	|M x + c|^2 = |R (x, 1)|^2
//
// R is computed block of rows by block of rows, so that no copy of M is made.
func Compress(a Expr) Expr {
	if len(a.Pars) > 0 || len(a.Vars) == 0 {
		return a
	}
	cols := 1
	for _, t := range a.Vars {
		// A term of one column (an intercept) is as good as dense.
		dense := t.Mat != nil && t.Mat.Dense != nil || t.Mat == nil && t.Idx != nil && t.source() == 1
		if !dense || t.W != nil || !t.straight() {
			return a
		}
		cols += t.width()
	}
	if a.N < tall*cols {
		return a
	}
	step := 4 * cols
	block := make([]float64, (cols+step)*cols)
	tau, work := make([]float64, cols), []float64{0}
	have := 0 // rows of R in the block
	for from := 0; from < a.N; from += step {
		rows := min(step, a.N-from)
		part := &Matrix{Rows: have + rows, Cols: cols, Dense: block[:(have+rows)*cols], Stride: cols}
		clear(part.Dense[have*cols:])
		a.rowsInto(part, have, from, rows)
		lapack64.Geqrf(part.general(), tau[:min(part.Rows, cols)], work, -1)
		if size := int(work[0]); size > len(work) {
			work = make([]float64, size)
		}
		lapack64.Geqrf(part.general(), tau[:min(part.Rows, cols)], work, len(work))
		have = min(part.Rows, cols)
		for i := range have { // below the diagonal are the reflectors
			clear(part.Row(i)[:i])
		}
	}
	r := &Matrix{Rows: have, Cols: cols, Dense: slices.Clone(block[:have*cols]), Stride: cols}
	out := Expr{N: have, C: make([]float64, have)}
	col := 0
	for _, t := range a.Vars {
		first := t.First
		if t.Mat == nil {
			first = 0
		}
		out.Vars = append(out.Vars, Term{V: t.V, Rows: have, First: first, Scale: 1, Mat: r.colRange(col, col+t.width())})
		col += t.width()
	}
	for i := range have {
		out.C[i] = r.Row(i)[col]
	}
	return out
}

// rowsInto writes rows of the expression, dense and with its constant in the last column, from row have of a matrix on.
func (a *Expr) rowsInto(part *Matrix, have, from, rows int) {
	col := 0
	for _, t := range a.Vars {
		for r := max(from, t.Off); r < min(from+rows, t.Off+t.Rows); r++ {
			to, f := part.Row(have + r - from)[col:col+t.width()], t.Fixed(r-t.Off)
			if t.Mat == nil {
				to[0] += f
				continue
			}
			for j, v := range t.Mat.Row(r - t.Off) {
				to[j] += f * v
			}
		}
		col += t.width()
	}
	if a.C != nil {
		for r := range rows {
			part.Row(have + r)[col] = a.C[from+r]
		}
	}
}

// width is the number of source entries that the rows of the term read.
func (t *Term) width() int {
	if t.Mat != nil {
		return t.Mat.Cols
	}
	return t.source()
}
