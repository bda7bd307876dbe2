package convex

import (
	"slices"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// Add returns the entrywise sum of expressions of one shape or scalars, none convex where another is concave.
func Add(a, b Operand, more ...Operand) Expr {
	sum := add("Add", operand("Add", a), operand("Add", b))
	for _, c := range more {
		sum = add("Add", sum, operand("Add", c))
	}
	return sum
}

// Sub returns a - b, see [Add].
func Sub(a, b Operand) Expr { return add("Sub", operand("Sub", a), operand("Sub", b).negative()) }

// Neg returns -a.
func Neg(a Operand) Expr { return operand("Neg", a).negative() }

// negative is minus an expression.
func (e *expression) negative() *expression {
	out := *e
	if e.affine() {
		out.fn = sum(part{e.fn.of(), -1})
	} else {
		out.concave = !e.concave
	}
	return &out
}

// under is the function that an expression is a sign times of, concave or not as asked.
func (e *expression) under(concave bool) *function {
	if e.concave != concave {
		return sum(part{e.fn.of(), -1}) // affine
	}
	return e.fn.of()
}

func add(op string, a, b *expression) *expression {
	shape := a
	if a.Len() == 1 {
		shape = b
	}
	m, err := common(op, a, b)
	switch {
	case err != nil:
		return broken(shape.rows, shape.cols, m, err)
	case a.Len() != 1 && b.Len() != 1 && (a.rows != b.rows || a.cols != b.cols):
		return failed(shape.rows, shape.cols, m, "%s: %v is %d x %d, and %v %d x %d: the shapes differ", op, a, a.rows,
			a.cols, b, b.rows, b.cols)
	case !a.affine() && !b.affine() && a.concave != b.concave:
		return failed(shape.rows, shape.cols, m, "%s of %v, which is %v, and %v, which is %v: neither by the rules", op, a,
			a.Curvature(), b, b.Curvature())
	}
	concave := a.concave || b.concave
	out := shape.like(shape)
	out.fn, out.concave, out.m = sum(part{a.under(concave), 1}, part{b.under(concave), 1}), concave, m
	if m == nil { // numbers, which several goroutines may go on from
		out.f()
	}
	return out
}

// Scale returns the entrywise product of two expressions of one shape or scalars, one of which is free of variables.
// That may have parameters if the other has none: parameters that are factors of what is convex or concave must be set,
// and not negative, when the model is solved; those with a weight of zero keep their epigraphs, which may be unbounded.
func Scale(c, a Operand) Expr { return product("Scale", operand("Scale", c), operand("Scale", a)) }

// Dot returns the scalar sum of the products of entries, see [Scale].
func Dot(c, a Operand) Expr {
	k, e := factors(operand("Dot", c), operand("Dot", a))
	values, fixed := k.numbers()
	switch {
	case k.err == nil && e.err == nil && k.Len() != e.Len():
		return failed(1, 1, e.m, "Dot of %v and %v: the lengths differ", k, e)
	case fixed && k.err == nil && (e.affine() || sameSign(values)):
		return weighed(e.vector(1, func() compile.Function { return e.f().Dot(magnitudes(values, e.affine())) }), values)
	case fixed || e.affine() || k.Len() == 1:
		return Sum(product("Dot", k.like(e), e))
	}
	return weights("Dot", k, e)
}

// factors puts what is free of variables first.
func factors(a, b *expression) (c, e *expression) {
	if a.Curvature() != Constant && b.Curvature() == Constant {
		return b, a
	}
	return a, b
}

// sameSign says that numbers are all nonnegative or all nonpositive.
func sameSign(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v < 0 }) ||
		!slices.ContainsFunc(values, func(v float64) bool { return v > 0 })
}

// magnitudes are factors of what is convex, those of affine expressions as they are.
func magnitudes(values []float64, affine bool) []float64 {
	if affine {
		return values
	}
	out := slices.Clone(values)
	for i, v := range out {
		out[i] = max(v, -v)
	}
	return out
}

// weighed gives an expression that was multiplied by magnitudes the sign of the factors.
func weighed(e *expression, values []float64) *expression {
	if !e.affine() && slices.ContainsFunc(values, func(v float64) bool { return v < 0 }) {
		return e.negative()
	}
	return e
}

// product is Scale.
func product(op string, a, b *expression) *expression {
	c, e := factors(a, b)
	shape := e
	if e.Len() == 1 {
		shape = c
	}
	m, err := common(op, c, e)
	values, fixed := c.numbers()
	switch {
	case err != nil:
		return broken(shape.rows, shape.cols, m, err)
	case c.Len() != 1 && e.Len() != 1 && (c.rows != e.rows || c.cols != e.cols):
		return failed(shape.rows, shape.cols, m, "%s of %v and %v: the shapes differ", op, c, e)
	case c.Curvature() != Constant:
		return failed(shape.rows, shape.cols, m, "%s of %v and %v: both have variables", op, c, e)
	case fixed && c.Len() == 1:
		out := e.like(e)
		out.fn = sum(part{e.fn.of(), magnitudes(values, e.affine())[0]})
		return weighed(out, values)
	case fixed && e.affine() && e.Len() != 1: // entries of a variable stay what they are
		return newAffine(e.f().Aff.MulMat(mat.NewDiagDense(len(values), values)), m).like(shape)
	case fixed:
		from := make([]int, len(values))
		if e.Len() != 1 {
			from = affine.Consecutive(0, len(values))
		}
		return linear(e, shape.rows, shape.cols, affine.Consecutive(0, len(values)), from, values)
	case !e.affine():
		if c.Len() != 1 {
			return failed(shape.rows, shape.cols, m, "%s of %v and %v, which is %v: for a sum of such products there is Dot", op,
				c, e, e.Curvature())
		}
		return weights(op, c, e)
	case !e.f().Aff.Fixed() || e.f().Aff.Weighted():
		return failed(shape.rows, shape.cols, m, "%s: a product of parameters: %v times %v", op, c, e)
	}
	p, ok := affine.Product(c.f().Aff, e.f().Aff)
	if !ok {
		return failed(shape.rows, shape.cols, m, "%s: %v, which is a factor, is not entries of parameters times numbers",
			op, c)
	}
	return newAffine(p, m).like(shape)
}

// weights is the product of a scalar, or the sum of products of a vector, of parameters and what is convex or concave.
func weights(op string, c, e *expression) *expression {
	m, err := common(op, c, e)
	rows, cols := e.rows, e.cols
	each := c.Len() != 1
	if each {
		rows, cols = 1, 1
	}
	if err != nil {
		return broken(rows, cols, m, err)
	}
	if w := e.f().Weighted(); w != nil || !e.f().Aff.Fixed() || e.f().Aff.Weighted() {
		return failed(rows, cols, m, "%s: a product of parameters: %v times %v", op, c, e)
	}
	aff := product(op, c, newAffine(e.f().Aff, e.m).like(e))
	if each {
		aff = Sum(aff).of()
	}
	a := c.f().Aff
	if len(a.Pars) != 1 || a.C != nil || !a.Pars[0].Identity() || a.Pars[0].P.N != c.Len() {
		return failed(rows, cols, m, "%s of %v, which is no whole parameter times a number, and %v", op, c, e)
	}
	p, scale := a.Pars[0].P, a.Pars[0].Scale
	out := aff.like(aff)
	if aff.err != nil {
		return aff
	}
	f := aff.under(scale < 0).f()
	for _, t := range e.f().Atoms {
		if each && !t.Entries() {
			return failed(1, 1, m, "%s: %v has one value, expected one for each entry", op, t.Atom)
		}
		f.Atoms = append(f.Atoms, t.Weighted(p, max(scale, -scale)))
	}
	out.fn, out.m, out.concave = newFunction(f), m, e.concave != (scale < 0)
	return out
}

// Sum returns the sum of the entries.
func Sum(a Operand) Expr {
	e := operand("Sum", a)
	return e.vector(1, func() compile.Function { return e.f().Sum() })
}

// Mul returns the product of two matrices, one of which is free of variables; see [Scale] for parameters. The rows of a
// matrix times what is convex or concave must not have both signs. Where the other factor is a vector, a *mat.Dense and
// a *sparse.CSC are not copied, and must not change. It panics if a matrix is nil.
func Mul(a, b Operand) Expr {
	left, err := matrix("Mul", a)
	if err != nil {
		return broken(1, 1, nil, err)
	}
	if left != nil {
		return times(left, operand("Mul", b))
	}
	x := operand("Mul", a)
	if m, err := matrix("Mul", b); err == nil && m != nil { // X B = (B'X')'
		if rows, cols := m.Dims(); x.err == nil && x.cols != rows {
			return failed(x.rows, cols, x.m, "Mul: %v of %d x %d times a matrix of %d x %d", x, x.rows, x.cols, rows, cols)
		}
		turned := m.T()
		if _, ok := turned.(mat.NonZeroDoer); !ok {
			turned = mat.DenseCopyOf(turned)
		}
		return Transpose(times(turned, Transpose(x).of()))
	}
	right := operand("Mul", b)
	if x.err == nil && right.err == nil && x.cols != right.rows {
		return failed(x.rows, right.cols, x.m, "Mul: %v is %d x %d, and %v %d x %d", x, x.rows, x.cols, right, right.rows,
			right.cols)
	}
	// Entry (i, j) is the sum of the products of row i of one and column j of the other.
	n := x.cols
	var of, by, sums []int
	for i := range x.rows {
		for j := range right.cols {
			for k := range n {
				of, by, sums = append(of, i*n+k), append(by, k*right.cols+j), append(sums, i*right.cols+j)
			}
		}
	}
	p := product("Mul", Pick(x, of).of(), Pick(right, by).of())
	return linear(p, x.rows, right.cols, sums, affine.Consecutive(0, len(sums)), nil)
}

// times is a matrix of numbers times an expression.
func times(m mat.Matrix, e *expression) *expression {
	rows, cols := m.Dims()
	switch {
	case e.err != nil:
		return broken(rows, e.cols, e.m, e.err)
	case cols != e.rows:
		return failed(rows, e.cols, e.m, "Mul: a matrix of %d x %d times %v of %d x %d", rows, cols, e, e.rows, e.cols)
	case e.affine() && e.cols == 1:
		return newAffine(e.f().Aff.MulMat(m), e.m)
	}
	var to, from []int
	var values []float64
	affine.Nonzeros(m, func(i, k int, v float64) {
		for j := range e.cols {
			to, from, values = append(to, i*e.cols+j), append(from, k*e.cols+j), append(values, v)
		}
	})
	return linear(e, rows, e.cols, to, from, values)
}

// linear adds values[k], or 1, times entry from[k] to entry to[k] of a matrix.
func linear(e *expression, rows, cols int, to, from []int, values []float64) *expression {
	if values == nil {
		values = slices.Repeat([]float64{1}, len(to))
	}
	switch {
	case e.err != nil:
		return broken(rows, cols, e.m, e.err)
	case e.affine():
		m := sparse.NewCOO(rows*cols, e.Len(), to, from, values).ToCSC()
		return newAffine(e.f().Aff.MulMat(m), e.m).shaped(rows, cols)
	}
	weights, of := make([][]float64, rows*cols), make([][]int, rows*cols)
	for k, i := range to {
		weights[i], of[i] = append(weights[i], values[k]), append(of[i], from[k])
	}
	entries := make([]Operand, rows*cols)
	for i, w := range weights {
		entries[i] = Dot(w, Pick(e, of[i]))
	}
	return Stack(entries...).of().shaped(rows, cols)
}

// At returns entry i, of a matrix in the order of its rows, or with a column the entry in row i.
func At(a Operand, i int, column ...int) Expr {
	e := operand("At", a)
	if len(column) > 0 {
		if e.err == nil && (i < 0 || i >= e.rows || column[0] < 0 || column[0] >= e.cols) {
			return failed(1, 1, e.m, "entry (%d, %d) of %v, which is %d x %d", i, column[0], e, e.rows, e.cols)
		}
		i = i*e.cols + column[0]
	}
	return Pick(e, []int{i})
}

// Slice returns rows i to j-1.
func Slice(a Operand, i, j int) Expr {
	e := operand("Slice", a)
	if e.err == nil && (i < 0 || j < i || j > e.rows) {
		return failed(j-i, e.cols, e.m, "rows %d to %d of %v, which has %d", i, j-1, e, e.rows)
	}
	return Pick(e, affine.Consecutive(i*e.cols, max(0, j-i)*e.cols)).of().shaped(max(0, j-i), e.cols)
}

// Cols returns columns i to j-1.
func Cols(a Operand, i, j int) Expr { return Transpose(Slice(Transpose(a), i, j)) }

// Pick returns the vector of the entries idx[0], idx[1], .., which may repeat.
func Pick(a Operand, idx []int) Expr {
	e := operand("Pick", a)
	for _, i := range idx {
		if e.err == nil && (i < 0 || i >= e.Len()) {
			return failed(len(idx), 1, e.m, "entry %d of %v", i, e)
		}
	}
	return e.vector(len(idx), func() compile.Function { return e.fn.of().pick(idx) })
}

// Stack returns matrices with the same number of columns below each other, vectors for example.
func Stack(as ...Operand) Expr {
	es, parts := make([]*expression, len(as)), make([]compile.Function, len(as))
	rows, cols, convex, concave := 0, 1, false, false
	for i, a := range as {
		es[i] = operand("Stack", a)
		if rows += es[i].rows; es[i].Len() > 0 {
			cols = es[i].cols
		}
		convex, concave = convex || es[i].Curvature() == Convex, concave || es[i].concave
	}
	m, err := common("Stack", es...)
	if err != nil {
		return broken(rows, cols, m, err)
	}
	for i, e := range es {
		if e.cols != cols && e.Len() > 0 {
			return failed(rows, cols, m, "Stack: %v has %d columns, expected %d", e, e.cols, cols)
		}
		if convex && concave {
			return failed(rows, cols, m, "Stack: %v is %v, and others are not", e, e.Curvature())
		}
		parts[i] = e.under(concave).f()
	}
	out := newExpr(compile.Stack(parts...), m).shaped(rows, cols)
	out.concave = concave
	return out
}

// Beside returns matrices with the same number of rows beside each other.
func Beside(as ...Operand) Expr {
	turned := make([]Operand, len(as))
	for i, a := range as {
		turned[i] = Transpose(a)
	}
	return Transpose(Stack(turned...))
}

// Reshape returns the entries, in the order of rows, as a matrix of another shape.
func Reshape(a Operand, rows, cols int) Expr {
	e := operand("Reshape", a)
	if e.err == nil && (rows < 0 || cols < 0 || rows*cols != e.Len()) {
		return failed(rows, cols, e.m, "Reshape: %v is not a matrix of %d x %d", e, rows, cols)
	}
	return e.shaped(max(0, rows), max(0, cols))
}

// Transpose returns the transpose.
func Transpose(a Operand) Expr {
	e := operand("Transpose", a)
	if e.err != nil || e.rows == 1 || e.cols == 1 {
		return e.shaped(e.cols, e.rows)
	}
	var index []int
	for j := range e.cols {
		for i := range e.rows {
			index = append(index, i*e.cols+j)
		}
	}
	return Pick(e, index).of().shaped(e.cols, e.rows)
}

// Diag returns the diagonal of a square matrix, or of a vector the matrix with that diagonal.
func Diag(a Operand) Expr {
	e := operand("Diag", a)
	switch n := e.rows; {
	case e.err != nil:
		return e
	case n == e.cols:
		return Pick(e, diagonal(n))
	case e.cols == 1:
		return linear(e, n, n, diagonal(n), affine.Consecutive(0, n), nil)
	}
	return failed(1, 1, e.m, "Diag of %v, which is %d x %d", e, e.rows, e.cols)
}

// Trace returns the sum of the diagonal of a square matrix.
func Trace(a Operand) Expr {
	e := square("Trace", operand("Trace", a))
	if e.err != nil {
		return broken(1, 1, e.m, e.err)
	}
	return Sum(Pick(e, diagonal(e.rows)))
}

// SumRows returns the vector of the sums of rows.
func SumRows(a Operand) Expr {
	e := operand("SumRows", a)
	return Mul(e, slices.Repeat([]float64{1}, e.cols))
}

// CumSum returns the sums of each entry with those above it, in each column: of what is no number a variable u of the
// program with u[i] - u[i-1] = a[i], so that its rows stay short, which is affine even of parameters alone.
func CumSum(a Operand) Expr {
	e := operand("CumSum", a)
	values, fixed := e.numbers()
	switch {
	case e.err != nil || e.Len() == 0:
		return e
	case e.concave:
		return Neg(CumSum(Neg(e)))
	case fixed:
		return constant("CumSum", compile.Sums(slices.Clone(values), e.cols), e.rows, e.cols)
	case e.affine():
		return newAffine(bounding(e.f(), compile.Prefix{Of: e.f().Aff, Step: e.cols}).Expr(), e.m).like(e)
	}
	return graph(argument("CumSum", e, increasing), e.Len(), compile.Graph{
		Name:  "CumSum",
		Value: func(x []float64) []float64 { return compile.Sums(x, e.cols) },
		Below: func(b compile.Rows, a, u affine.Expr) { b.Nonnegative(compile.Prefix{Of: a, Step: e.cols}.Equation(u)) },
	}).like(e)
}

// Diff returns the differences of each row to the one above it, of vectors those of entries.
func Diff(a Operand) Expr {
	e := operand("Diff", a)
	return Sub(Slice(e, min(1, e.rows), e.rows), Slice(e, 0, max(0, e.rows-1)))
}

// Kron returns the Kronecker product of a matrix of numbers and an expression.
func Kron(c, a Operand) Expr {
	e := operand("Kron", a)
	m, err := matrix("Kron", c)
	if err != nil || m == nil {
		return failed(1, 1, e.m, "Kron of %T, expected a matrix of numbers (%v)", c, err)
	}
	rows, cols := m.Dims()
	var to, from []int
	var values []float64
	affine.Nonzeros(m, func(i, j int, v float64) {
		for k := range e.Len() {
			row, col := i*e.rows+k/e.cols, j*e.cols+k%e.cols
			to, from, values = append(to, row*cols*e.cols+col), append(from, k), append(values, v)
		}
	})
	return linear(e, rows*e.rows, cols*e.cols, to, from, values)
}

// Conv returns the convolution of a vector of numbers and a vector, with entries sum_k c[k] a[i-k] for all i that have
// any.
func Conv(c []float64, a Operand) Expr {
	e := operand("Conv", a)
	if len(c) == 0 || e.Len() == 0 {
		return failed(0, 1, e.m, "Conv of no entries")
	}
	var to, from []int
	var values []float64
	for k, v := range c {
		for i := range e.Len() {
			to, from, values = append(to, i+k), append(from, i), append(values, v)
		}
	}
	return linear(e, len(c)+e.Len()-1, 1, to, from, values)
}
