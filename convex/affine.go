package convex

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Affine is a vector of affine expressions of the variables of a model, with
// parameters in the constant terms or as factors of variables. It is immutable.
// An error made in building it stays with everything built from it and is
// reported by [Model.Compile]; see [Affine.Err].
type Affine struct {
	n    int
	m    *Model // nil for pure constants
	vars []term
	pars []term
	c    []float64 // nil: zero
	err  error
}

// Const returns a vector of fixed numbers.
func Const(x ...float64) Affine {
	for i, v := range x {
		if notFinite(v) {
			return Affine{n: len(x), err: fmt.Errorf("convex: Const: entry %d is %v, expected a finite number", i, v)}
		}
	}
	return Affine{n: len(x), c: slices.Clone(x)}
}

// Len returns the number of entries.
func (a Affine) Len() int { return a.n }

// Err returns the first error made in building the expression, or nil.
func (a Affine) Err() error { return a.err }

// String names the expression in messages by its length and what it depends on.
func (a Affine) String() string {
	if len(a.vars)+len(a.pars) == 0 {
		return fmt.Sprintf("a constant of length %d", a.n)
	}
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, t := range a.vars {
		add(t.v.name)
		if t.w != nil {
			add(t.w.name)
		}
	}
	for _, t := range a.pars {
		add(t.p.name)
	}
	return fmt.Sprintf("an expression of length %d in %s", a.n, strings.Join(names, ", "))
}

// fail returns an expression of length n that carries the error.
func (a Affine) fail(n int, format string, args ...any) Affine {
	return Affine{n: n, m: a.m, err: fmt.Errorf("convex: "+format, args...)}
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

// match broadcasts an operand of length 1 to the length of the other.
func match(op string, a, b Affine) (Affine, Affine, error) {
	switch {
	case a.n == b.n:
	case a.n == 1:
		a = a.broadcast(b.n)
	case b.n == 1:
		b = b.broadcast(a.n)
	default:
		return a, b, fmt.Errorf("convex: %s of %v and %v: the lengths differ", op, a, b)
	}
	return a, b, nil
}

func (a Affine) broadcast(n int) Affine {
	if a.n == n {
		return a
	}
	return a.Pick(make([]int, n))
}

// Plus returns a + b. An operand of length 1 is added to every entry of the other.
func (a Affine) Plus(b Affine) Affine { return a.add("sum", b, 1) }

// Minus returns a - b. An operand of length 1 is broadcast.
func (a Affine) Minus(b Affine) Affine { return a.add("difference", b, -1) }

func (a Affine) add(op string, b Affine, sign float64) Affine {
	m, err := common(op, a, b)
	n := max(a.n, b.n)
	if err != nil {
		return Affine{n: n, m: m, err: err}
	}
	if a, b, err = match(op, a, b); err != nil {
		return Affine{n: n, m: m, err: err}
	}
	out := Affine{n: a.n, m: m, vars: appendScaled(a.vars, b.vars, sign), pars: appendScaled(a.pars, b.pars, sign), c: a.c}
	if b.c != nil {
		out.c = make([]float64, a.n)
		copy(out.c, a.c)
		floats.AddScaled(out.c, sign, b.c)
	}
	return out
}

// appendScaled returns a copy of a with the scaled terms b, merging plain
// selections of the same entries.
func appendScaled(a, b []term, scale float64) []term {
	out := make([]term, len(a), len(a)+len(b))
	copy(out, a)
next:
	for _, t := range b {
		t.scale *= scale
		for k := range out {
			if o := &out[k]; o.v == t.v && o.p == t.p && o.off == t.off && o.rows == t.rows && o.sum == t.sum && o.first == t.first &&
				o.mat == nil && t.mat == nil && o.idx == nil && t.idx == nil && o.plain() && t.plain() {
				o.scale += t.scale
				if o.scale == 0 {
					out = slices.Delete(out, k, k+1)
				}
				continue next
			}
		}
		out = append(out, t)
	}
	return out
}

// Neg returns -a.
func (a Affine) Neg() Affine { return a.Scale(-1) }

// Scale returns c times a.
func (a Affine) Scale(c float64) Affine {
	if a.err != nil || c == 1 {
		return a
	}
	if notFinite(c) {
		return a.fail(a.n, "Scale of %v by %v, expected a finite number", a, c)
	}
	out := Affine{n: a.n, m: a.m}
	if c == 0 {
		return out
	}
	out.vars, out.pars = appendScaled(nil, a.vars, c), appendScaled(nil, a.pars, c)
	if a.c != nil {
		out.c = slices.Clone(a.c)
		floats.Scale(c, out.c)
	}
	return out
}

// MulMat returns M a, where M has as many columns as a has entries. M is not
// copied when it is a *mat.Dense or a *sparse.CSC, and must not change. A
// mat.Diagonal scales the entries, and leaves entries of a variable what they are.
func (a Affine) MulMat(m mat.Matrix) Affine {
	rows, cols := m.Dims()
	if a.err != nil {
		a.n = rows
		return a
	}
	if cols != a.n {
		return a.fail(rows, "MulMat: a matrix of %d x %d times %v", rows, cols, a)
	}
	w := wrap(m)
	out := Affine{n: rows, m: a.m}
	if d, ok := m.(mat.Diagonal); ok {
		out.vars, out.pars = diagonalTimes(d, w, a.vars), diagonalTimes(d, w, a.pars)
	} else {
		for _, t := range a.vars {
			out.vars = t.mapped(out.vars, w)
		}
		for _, t := range a.pars {
			out.pars = t.mapped(out.pars, w)
		}
	}
	if a.c != nil {
		out.c = make([]float64, rows)
		w.addMul(out.c, 1, a.c)
	}
	return out
}

// diagonalTimes multiplies terms by a diagonal matrix, w in compressed form; a
// selection of entries stays one.
func diagonalTimes(d mat.Diagonal, w *matrix, terms []term) []term {
	var out []term
	for _, t := range terms {
		if t.mat != nil || t.sum {
			out = t.mapped(out, w)
			continue
		}
		coef := make([]float64, t.rows)
		for r := range coef {
			i := t.off + r
			coef[r] = d.At(i, i)
			if t.coef != nil {
				coef[r] *= t.coef[r]
			}
		}
		t.coef = coef
		out = append(out, t)
	}
	return out
}

// At returns entry i.
func (a Affine) At(i int) Affine { return a.Slice(i, i+1) }

// Slice returns entries i to j-1.
func (a Affine) Slice(i, j int) Affine {
	if a.err != nil {
		a.n = max(0, j-i)
		return a
	}
	if i < 0 || j < i || j > a.n {
		return a.fail(max(0, j-i), "entries %d to %d of %v", i, j-1, a)
	}
	idx := make([]int, j-i)
	for k := range idx {
		idx[k] = i + k
	}
	return a.Pick(idx)
}

// Pick returns the entries idx[0], idx[1], .., which may repeat.
func (a Affine) Pick(idx []int) Affine {
	if a.err != nil {
		a.n = len(idx)
		return a
	}
	for _, i := range idx {
		if i < 0 || i >= a.n {
			return a.fail(len(idx), "entry %d of %v", i, a)
		}
	}
	out := Affine{n: len(idx), m: a.m}
	for _, t := range a.vars {
		out.vars = t.picked(out.vars, idx)
	}
	for _, t := range a.pars {
		out.pars = t.picked(out.pars, idx)
	}
	if a.c != nil {
		out.c = make([]float64, len(idx))
		for k, i := range idx {
			out.c[k] = a.c[i]
		}
	}
	return out
}

// Sum returns the sum of the entries.
func (a Affine) Sum() Affine {
	ones := make([]float64, a.n)
	for i := range ones {
		ones[i] = 1
	}
	return a.Dot(ones)
}

// Dot returns the sum of c[i] a[i].
func (a Affine) Dot(c []float64) Affine {
	if a.err != nil {
		a.n = 1
		return a
	}
	if len(c) != a.n {
		return a.fail(1, "Dot of %d numbers and %v", len(c), a)
	}
	for i, v := range c {
		if notFinite(v) {
			return a.fail(1, "Dot: number %d is %v, expected a finite number", i, v)
		}
	}
	out := Affine{n: 1, m: a.m}
	for _, t := range a.vars {
		out.vars = append(out.vars, t.dotted(c))
	}
	for _, t := range a.pars {
		out.pars = append(out.pars, t.dotted(c))
	}
	if a.c != nil {
		out.c = []float64{floats.Dot(c, a.c)}
	}
	return out
}

// Stack returns the entries of all expressions, one after the other.
func Stack(as ...Affine) Affine {
	var out Affine
	for _, a := range as {
		out.n += a.n
	}
	off := 0
	for _, a := range as {
		var err error
		if out.m, err = common("Stack", out, a); err != nil {
			return Affine{n: out.n, m: out.m, err: err}
		}
		for _, t := range a.vars {
			t.off += off
			out.vars = append(out.vars, t)
		}
		for _, t := range a.pars {
			t.off += off
			out.pars = append(out.pars, t)
		}
		if a.c != nil {
			if out.c == nil {
				out.c = make([]float64, out.n)
			}
			copy(out.c[off:], a.c)
		}
		off += a.n
	}
	return out
}
