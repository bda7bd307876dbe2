package affine

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Term is a linear map of one vector, a variable or a parameter, that adds to some rows of an expression. Row r of the
// term is
//
//	f_r * source[entry(r)]                      (mat == nil, a selection)
//	f_r * sum_c mat[r, c] source[first+c]       (mat != nil)
//	f_r = scale * coef[r] * w[windex(r)]        (missing factors are 1)
//
// and adds to row off+r of the expression, to row off+into[r] where there is such a list, or to row off with sum.
type Term struct {
	V *Variable // the source, or
	P *Parameter

	Off, Rows int
	Into      []int // increasing; nil: into[r] = r
	First     int
	Idx       []int // nil: entry(r) = first+r
	Coef      []float64
	Scale     float64
	Mat       *Matrix

	W    *Parameter // weights
	woff int
	widx []int // nil: windex(r) = woff+r

	Sum bool
}

// Height is the number of rows of the expression that the term adds to.
func (t *Term) Height() int {
	if t.Sum {
		return 1
	}
	return t.Rows
}

// source is the length of the source.
func (t *Term) source() int {
	if t.V != nil {
		return t.V.N
	}
	return t.P.N
}

func (t *Term) Entry(r int) int {
	if t.Idx != nil {
		return t.Idx[r]
	}
	return t.First + r
}

func (t *Term) Windex(r int) int {
	if t.widx != nil {
		return t.widx[r]
	}
	return t.woff + r
}

// Fixed is the factor of row r without the weight.
func (t *Term) Fixed(r int) float64 {
	if t.Coef != nil {
		return t.Scale * t.Coef[r]
	}
	return t.Scale
}

// factor is the factor of row r.
func (t *Term) factor(at Values, r int) float64 {
	f := t.Fixed(r)
	if t.W != nil {
		f *= at.Entry(t.W, t.Windex(r))
	}
	return f
}

// Plain says that all rows have the factor scale.
func (t *Term) Plain() bool { return t.Coef == nil && t.W == nil }

// Identity says that the term is scale times its whole source.
func (t *Term) Identity() bool {
	return t.Mat == nil && t.Idx == nil && t.First == 0 && t.Rows == t.source() && t.Plain() && t.straight()
}

// Row is the row of the expression that row r of the term adds to.
func (t *Term) Row(r int) int {
	switch {
	case t.Sum:
		return t.Off
	case t.Into != nil:
		return t.Off + t.Into[r]
	}
	return t.Off + r
}

// End is the row after the last one that the term adds to.
func (t *Term) End() int { return t.Row(t.Rows-1) + 1 }

// straight says that row r of the term adds to row off+r.
func (t *Term) straight() bool { return !t.Sum && t.Into == nil }

// gathered are the factors of the term's rows among those of the rows of an expression.
func (t *Term) gathered(c []float64) []float64 {
	if t.straight() {
		return c[t.Off : t.Off+t.Rows]
	}
	out := make([]float64, t.Rows)
	for r := range out {
		out[r] = c[t.Row(r)]
	}
	return out
}

// forward adds the term's value at the source x to out, the whole expression.
func (t *Term) forward(out, x []float64, at Values) {
	switch {
	case t.Mat == nil && t.Idx == nil && t.Plain() && t.straight():
		floats.AddScaled(out[t.Off:t.Off+t.Rows], t.Scale, x[t.First:t.First+t.Rows])
	case t.Mat == nil:
		for r := range t.Rows {
			out[t.Row(r)] += t.factor(at, r) * x[t.Entry(r)]
		}
	case t.Plain() && t.straight():
		t.Mat.addMul(out[t.Off:t.Off+t.Rows], t.Scale, x[t.First:t.First+t.Mat.Cols])
	default:
		y := t.base(x)
		for r, v := range y {
			out[t.Row(r)] += t.factor(at, r) * v
		}
	}
}

// Forward adds the terms in variables, whose values of returns, to out.
func (a *Expr) Forward(out []float64, at Values, of func(*Variable) []float64) {
	for _, t := range a.Vars {
		t.forward(out, of(t.V), at)
	}
}

// Adjoint adds the gradient of alpha z'(expression) to what of returns for each variable, nil for none.
func (a *Expr) Adjoint(alpha float64, z []float64, at Values, of func(*Variable) []float64) {
	for _, t := range a.Vars {
		if g := of(t.V); g != nil {
			t.Adjoint(g, alpha, z, at)
		}
	}
}

// base returns the rows of the term without factors.
func (t *Term) base(x []float64) []float64 {
	y := make([]float64, t.Rows)
	if t.Mat != nil {
		t.Mat.addMul(y, 1, x[t.First:t.First+t.Mat.Cols])
		return y
	}
	for r := range y {
		y[r] = x[t.Entry(r)]
	}
	return y
}

// Adjoint adds alpha times the transposed term applied to z to g, the gradient of z'(expression) in the source.
func (t *Term) Adjoint(g []float64, alpha float64, z []float64, at Values) {
	switch {
	case t.Mat == nil && t.Idx == nil && t.Plain() && t.straight():
		floats.AddScaled(g[t.First:t.First+t.Rows], alpha*t.Scale, z[t.Off:t.Off+t.Rows])
	case t.Mat == nil && t.Sum:
		v := alpha * z[t.Off]
		if v == 0 {
			return
		}
		for r := range t.Rows {
			g[t.Entry(r)] += t.factor(at, r) * v
		}
	case t.Mat == nil:
		for r := range t.Rows {
			g[t.Entry(r)] += alpha * t.factor(at, r) * z[t.Row(r)]
		}
	case t.Plain() && t.straight():
		t.Mat.addMulTrans(g[t.First:t.First+t.Mat.Cols], alpha*t.Scale, z[t.Off:t.Off+t.Rows])
	default:
		y := make([]float64, t.Rows)
		for r := range y {
			y[r] = t.factor(at, r) * z[t.Row(r)]
		}
		t.Mat.addMulTrans(g[t.First:t.First+t.Mat.Cols], alpha, y)
	}
}

// WeightGradient adds alpha times the gradient of z'(expression) in the weights to g.
func (t *Term) WeightGradient(g []float64, alpha float64, z, x []float64) {
	for r, v := range t.base(x) {
		g[t.Windex(r)] += alpha * t.Fixed(r) * z[t.Row(r)] * v
	}
}

// weighted returns the term with each row of the expression multiplied by that of a selection of parameters, whose row
// r is that of the expression.
func (t Term) weighted(q *Term) Term {
	t.W = q.P
	if q.Plain() && q.Idx == nil && t.straight() {
		t.woff, t.Scale = q.First+t.Off, t.Scale*q.Scale
		return t
	}
	t.widx = make([]int, t.Rows)
	var coef []float64
	for r := range t.widx {
		row := t.Row(r)
		if t.widx[r] = q.Entry(row); q.Coef != nil {
			coef = append(coef, q.Coef[row])
		}
	}
	if t.Scale *= q.Scale; coef != nil {
		if t.Coef != nil {
			floats.Mul(coef, t.Coef)
		}
		t.Coef = coef
	}
	return t
}

// dotted returns the term as the single row c'(expression).
func (t Term) dotted(c []float64) Term {
	switch {
	case t.Sum:
		t.Scale *= c[t.Off]
	case t.Mat != nil && t.Plain():
		t.Mat = t.Mat.combine(t.gathered(c))
		t.Rows = 1
	default:
		part := t.gathered(c)
		if t.Sum = true; slices.ContainsFunc(part, func(v float64) bool { return v != 1 }) {
			coef := slices.Clone(part)
			if t.Coef != nil {
				floats.Mul(coef, t.Coef)
			}
			t.Coef = coef
		}
	}
	t.Off, t.Into = 0, nil
	return t
}

// picked appends to out the term with some of its rows, which become those of another expression that are given.
func (t Term) picked(out []Term, own, into []int) []Term {
	switch {
	case t.Sum:
		for _, k := range into {
			t.Off = k
			out = append(out, t)
		}
		return out
	case t.Mat != nil && len(own) > 1 && !slices.ContainsFunc(own, func(r int) bool { return r != own[0] }):
		// The same row again and again: one view each.
		one := t.slice(own[:1])
		for _, k := range into {
			one.Off = k
			out = append(out, one)
		}
		return out
	}
	t = t.slice(own)
	t.place(into)
	return append(out, t)
}

// place puts the rows of a term, or its single row, into those of another expression, which increase.
func (t *Term) place(rows []int) {
	switch {
	case !t.Sum && t.Rows == 0:
		return
	case t.Sum || t.Into == nil && consecutive(rows[t.Off:t.Off+t.Rows]):
		t.Off = rows[t.Off]
		return
	}
	into := make([]int, t.Rows)
	for r := range into {
		into[r] = rows[t.Row(r)]
	}
	t.Off, t.Into = into[0], into
	for r := range into {
		into[r] -= t.Off
	}
}

// slice returns the term with the given ones of its rows, from row 0 of the expression on. A row of a sparse matrix is
// the sum of its entries. The term is no sum.
func (t Term) slice(own []int) Term {
	steady := consecutive(own)
	if t.Coef != nil {
		coef := make([]float64, len(own))
		for k, r := range own {
			coef[k] = t.Coef[r]
		}
		t.Coef = coef
	}
	if t.W != nil {
		t.woff, t.widx = chosen(t.woff, t.widx, own, steady)
	}
	t.Off, t.Rows, t.Into = 0, len(own), nil
	switch {
	case t.Mat == nil:
		t.First, t.Idx = chosen(t.First, t.Idx, own, steady)
	case t.Mat.Dense == nil && len(own) == 1 && t.Mat.Rows > 1:
		t.sumRow(own[0])
	case steady:
		t.Mat = t.Mat.rowRange(own[0], own[0]+len(own))
	default:
		t.Mat = t.Mat.pick(own)
	}
	return t
}

// sumRow makes a term of a single row the sum of the entries in a row of its sparse matrix.
func (t *Term) sumRow(row int) {
	rows := t.Mat.byRows()
	from, to := rows.Ptr[row], rows.Ptr[row+1]
	ind, coef := rows.Ind[from:to], rows.Val[from:to]
	if t.First != 0 {
		ind = slices.Clone(ind)
		for k := range ind {
			ind[k] += t.First
		}
	}
	if t.Coef != nil {
		coef = slices.Clone(coef)
		floats.Scale(t.Coef[0], coef)
	}
	if t.W != nil {
		t.widx = slices.Repeat([]int{t.Windex(0)}, len(ind))
	}
	t.Rows, t.First, t.Idx, t.Coef, t.Mat, t.Sum = len(ind), 0, ind, coef, nil, true
}

// consecutive says that each of the numbers is one more than the one before.
func consecutive(list []int) bool {
	for k := 1; k < len(list); k++ {
		if list[k] != list[k-1]+1 {
			return false
		}
	}
	return true
}

// chosen are some of the places list[r], or first+r without a list, in the same form; steady says that the rows are
// consecutive.
func chosen(first int, list, rows []int, steady bool) (int, []int) {
	switch {
	case list == nil && steady:
		return first + rows[0], nil
	case steady:
		return first, list[rows[0] : rows[0]+len(rows)]
	}
	out := make([]int, len(rows))
	for k, r := range rows {
		if out[k] = first + r; list != nil {
			out[k] = list[r]
		}
	}
	return 0, out
}

// mapped appends to out the term multiplied from the left by the matrix N, whose columns belong to the rows of the
// expression.
func (t Term) mapped(out []Term, n *Matrix) []Term {
	if n.Rows == 0 {
		return out
	}
	if t.W != nil {
		// The weights stand between N and the term, so each row of N is a sum of weighted rows of its own.
		row, unit := make([]float64, n.Cols), make([]float64, n.Rows)
		for i := range n.Rows {
			clear(row)
			unit[i] = 1
			n.addMulTrans(row, 1, unit)
			unit[i] = 0
			part := t.dotted(row)
			part.Off = i
			out = append(out, part)
		}
		return out
	}
	part := n.colRange(t.Off, t.End())
	if t.Into != nil { // the columns of these rows
		part = part.times(&Matrix{Rows: part.Cols, Cols: t.Rows, Ptr: Consecutive(0, t.Rows+1), Ind: t.Into,
			Val: slices.Repeat([]float64{1}, t.Rows)})
	}
	switch {
	case t.Sum && t.Mat == nil && t.Idx != nil && 4*t.Rows < t.source(): // see wrap
		t.Mat = part.times(fromCompressed(1, t.source(), []int{0, t.Rows}, t.Idx, t.coefs()))
		t.First, t.Sum = 0, false
	case t.Sum:
		// The single row of a sum is dense in the source: make it a matrix.
		row := make([]float64, t.source())
		one := make([]float64, t.Off+1)
		one[t.Off] = 1
		t.Adjoint(row, 1, one, nil) // without weights
		t.Scale = 1
		t.Mat = part.times(&Matrix{Rows: 1, Cols: len(row), Dense: row, Stride: len(row)})
		t.First, t.Sum = 0, false
	case t.Mat != nil:
		t.Mat = part.times(t.Mat)
	case t.Idx != nil || t.Coef != nil:
		entries := make([]int, t.Rows)
		for r := range entries {
			entries[r] = t.Entry(r)
		}
		t.Mat, t.First = part.times(fromCompressed(t.Rows, t.source(), Consecutive(0, t.Rows+1), entries, t.coefs())), 0
	default:
		t.Mat = part
	}
	t.Idx, t.Coef, t.Into = nil, nil, nil
	t.Off, t.Rows = 0, n.Rows
	return append(out, t)
}

// coefs are the factors of the rows without the scale.
func (t *Term) coefs() []float64 {
	if t.Coef != nil {
		return t.Coef
	}
	return slices.Repeat([]float64{1}, t.Rows)
}

// EachEntry calls f for the entries of the unweighted map: row r of the term, which adds to Row(r) of the expression,
// source entry and value.
func (t *Term) EachEntry(f func(r, j int, v float64)) {
	if t.Mat != nil {
		t.Mat.Each(func(r, c int, v float64) { f(r, t.First+c, t.Fixed(r)*v) })
		return
	}
	for r := range t.Rows {
		f(r, t.Entry(r), t.Fixed(r))
	}
}
