package convex

import (
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// Expr is a matrix of expressions of the variables of a model: constant, affine, convex or concave, with parameters in
// constant terms or as factors. A vector has one column, a scalar one entry; the entries of matrices are in the order
// of their rows, as mat.NewDense takes them. An Expr is immutable. An error made in building it stays with everything
// built from it, and is reported by [Model.Compile]. A [Variable] and a [Parameter] are expressions.
type Expr interface {
	// Dims returns the number of rows and that of columns.
	Dims() (rows, cols int)
	// Len returns the number of entries.
	Len() int
	// Curvature and Sign are what is known of all entries by the rules of disciplined convex programming.
	Curvature() Curvature
	Sign() Sign
	// Eval returns the exact values at a point. It returns nil if the expression has an error, and panics if the point
	// gives a variable or a parameter a vector of another length.
	Eval(Point) []float64
	// Err returns the first error made in building the expression, or nil.
	Err() error
	// String names the expression in messages by its length and what it depends on.
	String() string

	of() *expression
}

// Operand is what functions take: an [Expr], or a constant, which is a number, a vector as a []float64, or a matrix as
// a mat.Matrix, dense, sparse or diagonal, or as rows [][]float64. A scalar goes with every entry of a matrix.
type Operand = any

// Curvature says how an expression depends on the variables.
type Curvature int

// The curvatures. A constant expression may depend on parameters.
const (
	Constant Curvature = iota
	Affine
	Convex
	Concave
)

// String names the curvature.
func (c Curvature) String() string {
	return [...]string{"constant", "affine", "convex", "concave"}[c]
}

// Sign says which values an expression has.
type Sign int

// The signs, of which Zero is both others.
const (
	Unknown     Sign = 0
	Nonnegative Sign = 1
	Nonpositive Sign = 2
	Zero             = Nonnegative | Nonpositive
)

// expression is a convex function or, concave, the negative of one.
type expression struct {
	fn         *function
	concave    bool
	rows, cols int
	m          *Model // nil for constants
	err        error
}

func (e *expression) of() *expression        { return e }
func (e *expression) Dims() (rows, cols int) { return e.rows, e.cols }
func (e *expression) Len() int               { return e.fn.of().n }
func (e *expression) Err() error             { return e.err }

// Curvature implements [Expr].
func (e *expression) Curvature() Curvature {
	if e.concave {
		return Concave
	}
	return e.fn.of().kind
}

// Sign implements [Expr].
func (e *expression) Sign() Sign {
	low, high := e.f().Range()
	if e.concave {
		low, high = high, low
	}
	sign := Unknown
	if low {
		sign |= Nonnegative
	}
	if high {
		sign |= Nonpositive
	}
	return sign
}

// String implements [Expr].
func (e *expression) String() string {
	if e.concave {
		return "minus " + e.f().String()
	}
	return e.f().String()
}

// Eval implements [Expr].
func (e *expression) Eval(pt Point) []float64 {
	if e.err != nil {
		return nil
	}
	return e.at(pt.parameters(e.m), pt.of(e.m))
}

// at is the value where of gives variables theirs.
func (e *expression) at(values affine.Values, of func(*affine.Variable) []float64) []float64 {
	out := e.f().Eval(values, of)
	if e.concave {
		for i := range out {
			out[i] = 0 - out[i] // not -0
		}
	}
	return out
}

// Point gives values to variables and parameters, a vector of all entries to each. A variable that is missing counts as
// zero, and a parameter has the values that it begins with.
type Point map[Expr][]float64

// parameters are the values of a model's parameters.
func (pt Point) parameters(m *Model) affine.Values {
	if m == nil {
		return nil
	}
	out := make(affine.Values, len(m.params))
	for i, p := range m.params {
		values, ok := pt[p]
		if ok && len(values) != p.p.N {
			panic(fmt.Sprintf("convex: Eval: %d values for parameter %s of length %d", len(values), p.p.Name, p.p.N))
		}
		out[i] = values
	}
	return out
}

// of finds the values of a model's variables.
func (pt Point) of(m *Model) func(*affine.Variable) []float64 {
	return func(x *affine.Variable) []float64 {
		v := m.vars[x.ID]
		values, ok := pt[v]
		if ok && len(values) != v.Len() {
			panic(fmt.Sprintf("convex: Eval: %d values for variable %s of length %d", len(values), x.Name, v.Len()))
		}
		if !ok || v.free == nil {
			return values
		}
		out := make([]float64, x.N)
		for i, k := range v.free {
			out[i] = values[k]
		}
		return out
	}
}

// function is that of an expression. A sum of multiples of others is made when it is first asked for, from all that its
// parts are sums of in the end, so that those made in a loop take no longer than the last.
type function struct {
	n     int
	kind  Curvature // constant, affine or convex, as far as the parts tell
	parts []part    // nil unless it is a sum
	made  atomic.Pointer[compile.Function]
	index atomic.Pointer[compile.Index]
}

// part is a multiple of a function, not negative where that is convex.
type part struct {
	of *function
	by float64
}

func newFunction(f compile.Function) *function {
	s := &function{n: f.N}
	switch {
	case len(f.Atoms) > 0:
		s.kind = Convex
	case len(f.Aff.Vars) > 0:
		s.kind = Affine
	}
	s.made.Store(&f)
	return s
}

// sum is that of parts, those of length 1 being broadcast.
func sum(parts ...part) *function {
	s := &function{n: 1, parts: parts}
	for _, p := range parts {
		if s.n == 1 {
			s.n = p.of.n
		}
		if p.by != 0 {
			s.kind = max(s.kind, p.of.kind)
		}
	}
	return s
}

// f is the function itself.
func (s *function) f() compile.Function {
	if f := s.made.Load(); f != nil {
		return *f
	}
	// The sums that are not made yet, each after its parts, and their factors in s.
	var order []*function
	place := map[*function]int{} // in order, -1 before that
	for open := []*function{s}; len(open) > 0; {
		at := open[len(open)-1]
		if k, seen := place[at]; seen {
			if open = open[:len(open)-1]; k < 0 {
				place[at], order = len(order), append(order, at)
			}
			continue
		}
		place[at] = -1
		for _, p := range slices.Backward(at.parts) {
			if p.of.made.Load() == nil {
				open = append(open, p.of)
			}
		}
	}
	var parts []compile.Function
	factors := make([]float64, len(order))
	factors[len(order)-1] = 1
	for k, at := range slices.Backward(order) {
		for _, p := range slices.Backward(at.parts) {
			if to, is := place[p.of]; is {
				factors[to] += factors[k] * p.by
			} else {
				parts = append(parts, p.of.f().Times(factors[k]*p.by))
			}
		}
	}
	slices.Reverse(parts)
	f := compile.Total(parts...)
	s.made.Store(&f)
	return f
}

// pick has the entries idx.
func (s *function) pick(idx []int) compile.Function {
	x := s.index.Load()
	if x == nil {
		x = s.f().Index()
		s.index.Store(x)
	}
	return x.Pick(idx)
}

// of is the function of an expression, an empty one of a variable that no model has.
func (s *function) of() *function {
	if s == nil {
		return newFunction(compile.Function{})
	}
	return s
}

func (e *expression) f() compile.Function { return e.fn.of().f() }

// newExpr is an expression of a function, a vector unless it has the shape of another.
func newExpr(f compile.Function, m *Model) *expression {
	return &expression{fn: newFunction(f), rows: f.N, cols: 1, m: m}
}

// newAffine is an affine expression, a vector.
func newAffine(a affine.Expr, m *Model) *expression {
	return newExpr(compile.Function{N: a.N, Aff: a}, m)
}

// shaped gives an expression another shape.
func (e *expression) shaped(rows, cols int) *expression {
	out := *e
	out.rows, out.cols = rows, cols
	return &out
}

// like gives an expression the shape of another.
func (e *expression) like(o *expression) *expression { return e.shaped(o.rows, o.cols) }

// broken is an expression with an error.
func broken(rows, cols int, m *Model, err error) *expression {
	n := max(0, rows) * max(0, cols)
	e := newAffine(affine.Expr{N: n}, m).shaped(max(0, rows), max(0, cols))
	e.err = err
	return e
}

// failed is an expression with an error that is new.
func failed(rows, cols int, m *Model, format string, args ...any) *expression {
	return broken(rows, cols, m, fmt.Errorf("convex: "+format, args...))
}

// vector is the entries of an expression, whose model and error it takes.
func (e *expression) vector(n int, of func() compile.Function) *expression {
	if e.err != nil {
		return broken(n, 1, e.m, e.err)
	}
	out := newExpr(of(), e.m)
	out.concave = e.concave
	return out
}

// affine says that an expression is neither convex nor concave alone.
func (e *expression) affine() bool { return e.fn.of().kind < Convex }

// numbers are the entries of a constant without parameters; ok says that it is one.
func (e *expression) numbers() (values []float64, ok bool) {
	if e.fn.of().kind > Constant {
		return nil, false
	}
	a := e.f().Aff
	if len(a.Pars) > 0 {
		return nil, false
	}
	if a.C == nil {
		return make([]float64, a.N), true
	}
	return a.C, true
}

// Const returns a constant as an expression. What it is made from is copied. It panics if a matrix is nil.
func Const(c Operand) Expr { return operand("Const", c) }

// operand is what an argument stands for.
func operand(op string, x Operand) *expression {
	switch x := x.(type) {
	case Expr:
		return x.of()
	case int:
		return constant(op, []float64{float64(x)}, 1, 1)
	case float64:
		return constant(op, []float64{x}, 1, 1)
	case []float64:
		return constant(op, slices.Clone(x), len(x), 1)
	case [][]float64, mat.Matrix:
		m, err := matrix(op, x)
		if err != nil {
			return broken(1, 1, nil, err)
		}
		rows, cols := m.Dims()
		values := make([]float64, rows*cols)
		affine.Nonzeros(m, func(i, j int, v float64) { values[i*cols+j] = v })
		return constant(op, values, rows, cols)
	}
	return failed(1, 1, nil, "%s: an operand is %T, expected an Expr, a number, a []float64 or a matrix", op, x)
}

// constant is a matrix of numbers, which are not copied.
func constant(op string, values []float64, rows, cols int) *expression {
	for i, v := range values {
		if affine.NotFinite(v) {
			return failed(rows, cols, nil, "%s: entry %d is %v, expected a finite number", op, i, v)
		}
	}
	return newAffine(affine.Constant(values...), nil).shaped(rows, cols)
}

// matrix is a matrix of numbers; nil without an error for what is none. It panics if one is nil.
func matrix(op string, x Operand) (mat.Matrix, error) {
	switch x := x.(type) {
	case mat.Matrix:
		if v := reflect.ValueOf(x); v.Kind() == reflect.Pointer && v.IsNil() {
			panic("convex: " + op + ": the matrix is nil")
		}
		return x, nil
	case []float64:
		if len(x) > 0 {
			return mat.NewVecDense(len(x), x), nil
		}
	case [][]float64:
		if len(x) == 0 || len(x[0]) == 0 {
			return nil, fmt.Errorf("convex: %s: a matrix without entries", op)
		}
		m := mat.NewDense(len(x), len(x[0]), nil)
		for i, row := range x {
			if len(row) != len(x[0]) {
				return nil, fmt.Errorf("convex: %s: row %d of a matrix has %d entries, the first %d", op, i, len(row), len(x[0]))
			}
			m.SetRow(i, row)
		}
		return m, nil
	case Expr:
		if e := operand(op, x); e.err == nil && e.Len() > 0 {
			if values, ok := e.numbers(); ok {
				return mat.NewDense(e.rows, e.cols, values), nil
			}
		}
	}
	return nil, nil
}

// common returns the model of expressions, an error if they differ, or the error that one of them has already.
func common(op string, es ...*expression) (m *Model, err error) {
	var first *expression
	for _, e := range es {
		switch {
		case e.err != nil && err == nil:
			err = e.err
		case e.m == nil:
		case m == nil:
			m, first = e.m, e
		case e.m != m && err == nil:
			err = fmt.Errorf("convex: %s of %v and %v, which belong to different models", op, first, e)
		}
	}
	return m, err
}

// monotone says how a function grows with its argument.
type monotone int

const (
	neither     monotone = iota
	increasing           // nowhere falling
	decreasing           // nowhere growing
	byMagnitude          // growing with nonnegative entries, falling with others
)

// argument is an operand as that of an atom: what is not affine becomes a bound, by the rule of compositions.
func argument(op string, x Operand, grows monotone) *expression {
	e := operand(op, x)
	if e.err != nil || e.affine() {
		return e
	}
	if grows == byMagnitude {
		switch sign := e.Sign(); {
		case e.concave && sign&Nonpositive != 0:
			grows = decreasing
		case !e.concave && sign&Nonnegative != 0:
			grows = increasing
		}
	}
	if e.concave && grows != decreasing || !e.concave && grows != increasing {
		return failed(e.rows, e.cols, e.m, "%s of %v, which is %v, is not convex by the rules", op, e, e.Curvature())
	}
	bound := bounding(e.f(), e.f()).Expr()
	if e.concave {
		bound = bound.Neg()
	}
	return newAffine(bound, e.m).like(e)
}

// bounding is what stands for a function, or for what has its signs.
func bounding(f compile.Function, by affine.Bounds) *affine.Variable {
	u := &affine.Variable{Name: f.String(), N: f.N, Bounds: by}
	if low, high := f.Range(); low {
		u.Sign = 1
	} else if high {
		u.Sign = -1
	}
	return u
}
