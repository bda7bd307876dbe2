// Package gp builds geometric programs from positive variables, monomials and posynomials, and solves them as convex
// programs in the logarithms of the variables (S. Boyd, S.-J. Kim, L. Vandenberghe, A. Hassibi, A tutorial on geometric
// programming, 2007; with maxima and powers of posynomials, A. Agrawal, S. Diamond, S. Boyd, Disciplined geometric
// programming, 2019).
//
// A monomial is c x_1^a_1 .. x_n^a_n with c > 0 and real exponents, a posynomial a sum of monomials. In y = log x the
// logarithm of a monomial is affine and that of a posynomial convex, and products, quotients by monomials, positive
// powers, sums and maxima keep it so:
//
//	m := gp.NewModel()
//	h, w, d := m.Vector("h", 1), m.Vector("w", 1), m.Vector("d", 1)
//	m.Le("walls", gp.Scale(2, gp.Add(gp.Mul(h, w), gp.Mul(h, d))), 200)
//	m.Le("floor", gp.Mul(w, d), 50)
//	m.Le("shape", gp.Div(h, w), 2)
//	m.Maximize(gp.Mul(h, w, d))
//	r, err := m.Solve(ctx)
//
// Operands are expressions, positive numbers and slices of these; vectors go entry by entry, and a scalar with every
// entry. Errors made in building an expression, and what is not of this form, are reported by Solve.
package gp

import (
	"context"
	"fmt"
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// Operand is what functions take: an [Expr], a positive number, or a []float64 of them.
type Operand = any

// Expr is a vector of positive expressions.
type Expr struct{ log convex.Expr }

// Log returns the logarithm of an expression, as an expression of the convex program.
func (e Expr) Log() convex.Expr { return e.log }

// log is the logarithm of an operand. What is none is an expression with an error.
func log(a Operand) convex.Expr {
	var values []float64
	switch a := a.(type) {
	case Expr:
		if a.log == nil {
			return convex.Const("gp: an Expr that is zero")
		}
		return a.log
	case int:
		values = []float64{float64(a)}
	case float64:
		values = []float64{a}
	case []float64:
		values = append(values, a...)
	default:
		return convex.Const(a)
	}
	for i, v := range values {
		values[i] = math.Log(v) // not finite where v is not positive, which is an error of the constant
	}
	return convex.Const(values)
}

// Model collects variables, an objective and constraints. It is for one goroutine at a time.
type Model struct{ c *convex.Model }

// NewModel returns a model without variables.
func NewModel() *Model { return &Model{c: convex.NewModel()} }

// Convex returns the convex program in the logarithms of the variables, for other backends, options and parameters.
func (m *Model) Convex() *convex.Model { return m.c }

// Vector adds n positive variables. The name appears in messages.
func (m *Model) Vector(name string, n int) Expr { return Expr{m.c.Vector(name, n)} }

// Minimize sets the objective, a posynomial or what the package comment has.
func (m *Model) Minimize(f Operand) { m.c.Minimize(log(f)) }

// Maximize sets the objective, a monomial or one over a posynomial.
func (m *Model) Maximize(f Operand) { m.c.Maximize(log(f)) }

// Le adds the constraint a <= b of a posynomial a and a monomial b, entry by entry. Its multiplier is
// -d log(optimal value) / d log(b) where the model minimises, and the negative of that where it maximises.
func (m *Model) Le(name string, a, b Operand) *convex.Constraint { return m.c.Le(name, log(a), log(b)) }

// Ge adds the constraint a >= b, see [Model.Le].
func (m *Model) Ge(name string, a, b Operand) *convex.Constraint { return m.Le(name, b, a) }

// Eq adds the constraint a = b of monomials, entry by entry.
func (m *Model) Eq(name string, a, b Operand) *convex.Constraint { return m.c.Eq(name, log(a), log(b)) }

// Result is the outcome of a solve.
type Result struct {
	Status backends.Status
	// Objective is the value of the model: 0 or +Inf where it has no bound or no point, NaN where no point was found.
	Objective float64
	// Convex is the result in the logarithms, with multipliers and residuals.
	Convex *convex.Result
}

// Solve solves by the native backend. What it found is in the status; the error is for a model that is no geometric
// program.
func (m *Model) Solve(ctx context.Context) (*Result, error) {
	r, err := m.c.Solve(ctx)
	if err != nil {
		return nil, fmt.Errorf("gp: in the logarithms of the variables: %w", err)
	}
	return &Result{Status: r.Status, Objective: math.Exp(r.Objective), Convex: r}, nil
}

// Value returns the values of an expression, or nil where the solve ended without a point.
func (r *Result) Value(e Expr) []float64 {
	values := r.Convex.Value(e.log)
	for i, v := range values {
		values[i] = math.Exp(v)
	}
	return values
}

// Mul is a product, entry by entry.
func Mul(a, b Operand, more ...Operand) Expr {
	out := convex.Add(log(a), log(b))
	for _, x := range more {
		out = convex.Add(out, log(x))
	}
	return Expr{out}
}

// Scale is c a.
func Scale(c float64, a Operand) Expr { return Mul(c, a) }

// Div is a quotient of a posynomial a and a monomial b, entry by entry.
func Div(a, b Operand) Expr { return Expr{convex.Sub(log(a), log(b))} }

// Pow is a power, entry by entry; of a posynomial a positive one.
func Pow(a Operand, power float64) Expr { return Expr{convex.Scale(power, log(a))} }

// Prod is the product of all entries.
func Prod(a Operand) Expr { return Expr{convex.Sum(log(a))} }

// At is entry i.
func At(a Operand, i int) Expr { return Expr{convex.At(log(a), i)} }

// Sum is the sum of all entries.
func Sum(a Operand) Expr {
	if e := log(a); e.Len() != 1 {
		return Expr{convex.LogSumExp(e)}
	}
	return Expr{log(a)}
}

// Add is a sum, entry by entry.
func Add(a, b Operand, more ...Operand) Expr {
	parts, n := []Operand{log(a), log(b)}, 1
	for _, x := range more {
		parts = append(parts, log(x))
	}
	for _, x := range parts {
		n = max(n, x.(convex.Expr).Len())
	}
	groups := make([][]int, n)
	for k, x := range parts {
		if e := x.(convex.Expr); e.Len() == 1 {
			parts[k] = convex.Pick(e, make([]int, n))
		} else if e.Len() != n {
			return Expr{convex.Add(parts[0], parts[k])} // an error
		}
		for i := range groups {
			groups[i] = append(groups[i], k*n+i)
		}
	}
	return Expr{convex.LogSumExp(convex.Stack(parts...), groups...)}
}

// Maximum is the largest, entry by entry.
func Maximum(a, b Operand, more ...Operand) Expr {
	logs := make([]Operand, len(more))
	for i, x := range more {
		logs[i] = log(x)
	}
	return Expr{convex.Maximum(log(a), log(b), logs...)}
}
