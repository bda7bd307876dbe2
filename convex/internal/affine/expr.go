// Package affine has vectors of affine expressions of variables and parameters as plain data: sums of terms, each a
// matrix or a selection of entries times a variable. What is wrong with lengths and numbers has been found above it.
package affine

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Expr is a vector of affine expressions of variables, with parameters in the constant terms or as factors of
// variables. It is immutable. Its operations take lengths and numbers that fit, or a length of 1 to be broadcast.
type Expr struct {
	N    int
	Vars []Term
	Pars []Term
	C    []float64 // nil: zero
}

// Constant returns fixed numbers, which are not copied.
func Constant(x ...float64) Expr { return Expr{N: len(x), C: x} }

// String names the expression in messages by its length and what it depends on.
func (a Expr) String() string {
	if len(a.Vars)+len(a.Pars) == 0 {
		return fmt.Sprintf("a constant of length %d", a.N)
	}
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, t := range a.Vars {
		add(t.V.Name)
		if t.W != nil {
			add(t.W.Name)
		}
	}
	for _, t := range a.Pars {
		add(t.P.Name)
	}
	return fmt.Sprintf("an expression of length %d in %s", a.N, strings.Join(names, ", "))
}

// broadcast repeats an expression of length 1.
func (a Expr) broadcast(n int) Expr {
	if a.N == n {
		return a
	}
	return a.Pick(make([]int, n))
}

func (a Expr) Plus(b Expr) Expr { return Total(a, b) }

func (a Expr) Minus(b Expr) Expr { return Total(a, b.Neg()) }

func (a Expr) Neg() Expr { return a.Times(-1) }

// Times returns f a.
func (a Expr) Times(c float64) Expr {
	if c == 1 {
		return a
	}
	out := Expr{N: a.N}
	if c == 0 {
		return out
	}
	out.Vars, out.Pars, out.C = slices.Clone(a.Vars), slices.Clone(a.Pars), slices.Clone(a.C)
	for i := range out.Vars {
		out.Vars[i].Scale *= c
	}
	for i := range out.Pars {
		out.Pars[i].Scale *= c
	}
	floats.Scale(c, out.C)
	return out
}

// MulMat returns M a; see wrap for what is not copied. A mat.Diagonal leaves entries of a variable what they are.
func (a Expr) MulMat(m mat.Matrix) Expr {
	rows, _ := m.Dims()
	w := wrap(m)
	out := Expr{N: rows}
	if d, ok := m.(mat.Diagonal); ok {
		out.Vars, out.Pars = diagonalTimes(d, w, a.Vars), diagonalTimes(d, w, a.Pars)
	} else {
		for _, t := range a.Vars {
			out.Vars = t.mapped(out.Vars, w)
		}
		for _, t := range a.Pars {
			out.Pars = t.mapped(out.Pars, w)
		}
	}
	if a.C != nil {
		out.C = make([]float64, rows)
		w.addMul(out.C, 1, a.C)
	}
	return out
}

// diagonalTimes multiplies terms by a diagonal matrix, w in compressed form; a selection of entries stays one.
func diagonalTimes(d mat.Diagonal, w *Matrix, terms []Term) []Term {
	var out []Term
	for _, t := range terms {
		if t.Mat != nil || t.Sum {
			out = t.mapped(out, w)
			continue
		}
		coef := make([]float64, t.Rows)
		for r := range coef {
			i := t.Row(r)
			coef[r] = d.At(i, i)
			if t.Coef != nil {
				coef[r] *= t.Coef[r]
			}
		}
		t.Coef = coef
		out = append(out, t)
	}
	return out
}

// Entries returns each entry by itself.
func (a Expr) Entries() []Expr {
	x, out, row := a.Index(), make([]Expr, a.N), []int{0}
	for i := range out {
		row[0] = i
		out[i] = x.Pick(row)
	}
	return out
}

// At returns entry i.
func (a Expr) At(i int) Expr { return a.Slice(i, i+1) }

// Slice returns entries i to j-1.
func (a Expr) Slice(i, j int) Expr {
	idx := Consecutive(i, j-i)
	return a.Pick(idx)
}

// Pick returns the entries idx[0], idx[1], .., which may repeat.
func (a Expr) Pick(idx []int) Expr {
	return a.Index().Pick(idx)
}

// Sum returns the sum of the entries.
func (a Expr) Sum() Expr {
	ones := slices.Repeat([]float64{1}, a.N)
	return a.Dot(ones)
}

// Dot returns the sum of c[i] a[i].
func (a Expr) Dot(c []float64) Expr {
	out := Expr{N: 1}
	for _, t := range a.Vars {
		out.Vars = append(out.Vars, t.dotted(c))
	}
	for _, t := range a.Pars {
		out.Pars = append(out.Pars, t.dotted(c))
	}
	if a.C != nil {
		out.C = []float64{floats.Dot(c, a.C)}
	}
	return out
}

// Stack returns the entries of all expressions, one after the other.
func Stack(as ...Expr) Expr {
	var out Expr
	for _, a := range as {
		out.N += a.N
	}
	off := 0
	for _, a := range as {
		for _, t := range a.Vars {
			t.Off += off
			out.Vars = append(out.Vars, t)
		}
		for _, t := range a.Pars {
			t.Off += off
			out.Pars = append(out.Pars, t)
		}
		if a.C != nil {
			if out.C == nil {
				out.C = make([]float64, out.N)
			}
			copy(out.C[off:], a.C)
		}
		off += a.N
	}
	return out
}

// Constant returns the constant term.
func (a Expr) Constant(at Values) []float64 { return a.ConstantTo(make([]float64, a.N), at) }

// ConstantTo is Constant in the memory of out.
func (a Expr) ConstantTo(out []float64, at Values) []float64 {
	clear(out)
	if a.C != nil {
		floats.Add(out, a.C)
	}
	for i := range a.Pars {
		a.Pars[i].forward(out, at.Of(a.Pars[i].P), at)
	}
	return out
}

// Eval returns the value at the point that of gives, nil for a variable that is zero.
func (a Expr) Eval(at Values, of func(*Variable) []float64) []float64 {
	out := a.Constant(at)
	for i := range a.Vars {
		v := a.Vars[i].V
		var x []float64
		if v.Bounds != nil {
			x = v.Bounds.Eval(at, of)
		} else {
			x = of(v)
		}
		if x != nil {
			a.Vars[i].forward(out, x, at)
		}
	}
	return out
}

// Fixed says that the expression has no parameter in its constant term.
func (a Expr) Fixed() bool { return len(a.Pars) == 0 }

// Bounding says that the expression has variables that no model has.
func (a Expr) Bounding() bool {
	return slices.ContainsFunc(a.Vars, func(t Term) bool { return t.V.Bounds != nil })
}

// Weighted says that a parameter is a factor of a variable.
func (a Expr) Weighted() bool {
	return slices.ContainsFunc(a.Vars, func(t Term) bool { return t.W != nil })
}

// Whole says that the expression is a multiple of a whole variable plus a constant or parameters.
func (a Expr) Whole() bool {
	return len(a.Vars) == 1 && a.Vars[0].Identity() && a.Vars[0].Off == 0 && a.N == a.Vars[0].Rows
}

// Selection says that every entry is one entry of a variable times a number
// plus a constant or a parameter, or lacks the variable.
func (a Expr) Selection() bool {
	covered := make([]bool, a.N)
	for _, t := range a.Vars {
		if t.Mat != nil || t.W != nil || t.Sum {
			return false
		}
		for r := range t.Rows {
			row := t.Row(r)
			if covered[row] {
				return false
			}
			covered[row] = true
		}
	}
	return true
}

// Range says whether no entry is below zero, and whether none is above, as far as the signs of variables and numbers
// tell. Parameters may have any.
func (a Expr) Range() (low, high bool) {
	low, high = len(a.Pars) == 0, len(a.Pars) == 0
	for _, v := range a.C {
		low, high = low && v >= 0, high && v <= 0
	}
	for _, t := range a.Vars {
		if t.V.Sign == 0 || t.W != nil || !low && !high {
			return false, false
		}
		t.EachEntry(func(_, _ int, v float64) {
			v *= float64(t.V.Sign)
			low, high = low && v >= 0, high && v <= 0
		})
	}
	return low, high
}
