package convex

import (
	"fmt"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex/internal/affine"
)

// Affine is a vector of affine expressions of the variables of a model, with
// parameters in the constant terms or as factors of variables. It is immutable.
// An error made in building it stays with everything built from it and is
// reported by [Model.Compile]; see [Affine.Err].
type Affine struct {
	e   affine.Expr
	m   *Model // nil for pure constants
	err error
}

// Const returns a vector of fixed numbers.
func Const(x ...float64) Affine {
	for i, v := range x {
		if affine.NotFinite(v) {
			return Affine{e: affine.Expr{N: len(x)}, err: fmt.Errorf("convex: Const: entry %d is %v, expected a finite number",
				i, v)}
		}
	}
	return Affine{e: affine.Constant(slices.Clone(x)...)}
}

// Len returns the number of entries.
func (a Affine) Len() int { return a.e.N }

// Err returns the first error made in building the expression, or nil.
func (a Affine) Err() error { return a.err }

// String names the expression in messages by its length and what it depends on.
func (a Affine) String() string { return a.e.String() }

// fail returns an expression of length n that carries the error.
func (a Affine) fail(n int, format string, args ...any) Affine {
	return Affine{e: affine.Expr{N: n}, m: a.m, err: fmt.Errorf("convex: "+format, args...)}
}

// as returns the expression with what of makes of it, of length n if there is an error.
func (a Affine) as(n int, of func() affine.Expr) Affine {
	if a.err != nil {
		a.e.N = n
	} else {
		a.e = of()
	}
	return a
}

// common returns the model of two expressions, an error if they differ, or the
// error that one of them has already.
func common(op string, a, b Affine) (*Model, error) {
	switch {
	case a.err != nil:
		return a.m, a.err
	case b.err != nil:
		return b.m, b.err
	case a.m != nil && b.m != nil && a.m != b.m:
		return a.m, fmt.Errorf("convex: %s of %v and %v, which belong to different models", op, a, b)
	case a.m != nil:
		return a.m, nil
	}
	return b.m, nil
}

// unlike says that lengths are different and neither is 1.
func unlike(a, b int) bool { return a != b && a != 1 && b != 1 }

// Plus returns a + b. An operand of length 1 is added to every entry of the other.
func (a Affine) Plus(b Affine) Affine { return a.add("sum", b, 1) }

// Minus returns a - b. An operand of length 1 is broadcast.
func (a Affine) Minus(b Affine) Affine { return a.add("difference", b, -1) }

func (a Affine) add(op string, b Affine, sign float64) Affine {
	m, err := common(op, a, b)
	if err == nil && unlike(a.e.N, b.e.N) {
		err = fmt.Errorf("convex: %s of %v and %v: the lengths differ", op, a, b)
	}
	if err != nil {
		return Affine{e: affine.Expr{N: max(a.e.N, b.e.N)}, m: m, err: err}
	}
	return Affine{e: a.e.Add(b.e, sign), m: m}
}

// Neg returns -a.
func (a Affine) Neg() Affine { return a.Scale(-1) }

// Scale returns c times a.
func (a Affine) Scale(c float64) Affine {
	if a.err == nil && affine.NotFinite(c) {
		return a.fail(a.e.N, "Scale of %v by %v, expected a finite number", a, c)
	}
	return a.as(a.e.N, func() affine.Expr { return a.e.Times(c) })
}

// MulMat returns M a, where M has as many columns as a has entries. M is not
// copied when it is a *mat.Dense or a *sparse.CSC, and must not change. A
// mat.Diagonal scales the entries, and leaves entries of a variable what they are. It panics if M is nil.
func (a Affine) MulMat(m mat.Matrix) Affine {
	mustMatrix("MulMat", m)
	rows, cols := m.Dims()
	if a.err == nil && cols != a.e.N {
		return a.fail(rows, "MulMat: a matrix of %d x %d times %v", rows, cols, a)
	}
	return a.as(rows, func() affine.Expr { return a.e.MulMat(m) })
}

// mustMatrix panics if a matrix is nil.
func mustMatrix(op string, m mat.Matrix) {
	if v := reflect.ValueOf(m); m == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		panic("convex: " + op + ": the matrix is nil")
	}
}

// At returns entry i.
func (a Affine) At(i int) Affine { return a.Slice(i, i+1) }

// Slice returns entries i to j-1.
func (a Affine) Slice(i, j int) Affine {
	if a.err == nil && (i < 0 || j < i || j > a.e.N) {
		return a.fail(max(0, j-i), "entries %d to %d of %v", i, j-1, a)
	}
	return a.as(max(0, j-i), func() affine.Expr { return a.e.Slice(i, j) })
}

// Pick returns the entries idx[0], idx[1], .., which may repeat.
func (a Affine) Pick(idx []int) Affine {
	for _, i := range idx {
		if a.err == nil && (i < 0 || i >= a.e.N) {
			return a.fail(len(idx), "entry %d of %v", i, a)
		}
	}
	return a.as(len(idx), func() affine.Expr { return a.e.Pick(idx) })
}

// Sum returns the sum of the entries.
func (a Affine) Sum() Affine { return a.as(1, a.e.Sum) }

// Dot returns the sum of c[i] a[i].
func (a Affine) Dot(c []float64) Affine {
	if a.err == nil && len(c) != a.e.N {
		return a.fail(1, "Dot of %d numbers and %v", len(c), a)
	}
	for i, v := range c {
		if a.err == nil && affine.NotFinite(v) {
			return a.fail(1, "Dot: number %d is %v, expected a finite number", i, v)
		}
	}
	return a.as(1, func() affine.Expr { return a.e.Dot(c) })
}

// Stack returns the entries of all expressions, one after the other.
func Stack(as ...Affine) Affine {
	var out Affine
	parts := make([]affine.Expr, len(as))
	for k, a := range as {
		out.e.N += a.e.N
		parts[k] = a.e
	}
	for _, a := range as {
		if out.m, out.err = common("Stack", out, a); out.err != nil {
			out.e = affine.Expr{N: out.e.N}
			return out
		}
		out.e.Vars = append(out.e.Vars, a.e.Vars...) // for messages
	}
	out.e = affine.Stack(parts...)
	return out
}

// Point gives values to variables. A variable that is missing counts as zero.
type Point map[*Variable][]float64

// of finds the values of a model's variables.
func (pt Point) of(m *Model) func(*affine.Variable) []float64 {
	return func(x *affine.Variable) []float64 {
		values, ok := pt[m.vars[x.ID]]
		if ok && len(values) != x.N {
			panic(fmt.Sprintf("convex: Eval: %d values for variable %s of length %d", len(values), x.Name, x.N))
		}
		return values
	}
}

// Eval returns the value at a point, with the parameters' current values. It
// returns nil if the expression has an error, and panics if the point gives a
// variable a vector of another length.
func (a Affine) Eval(pt Point) []float64 {
	if a.err != nil {
		return nil
	}
	return a.e.Eval(pt.of(a.m))
}
