package compile

import "github.com/conetune/conetune/convex/internal/affine"

// Prefix are the sums of each entry with those Step, 2 Step, .. before it.
type Prefix struct {
	Of   affine.Expr
	Step int
}

// Sums puts those of numbers in their place.
func Sums(x []float64, step int) []float64 {
	for i := step; i < len(x); i++ {
		x[i] += x[i-step]
	}
	return x
}

// Eval implements [affine.Bounds].
func (p Prefix) Eval(at affine.Values, of func(*affine.Variable) []float64) []float64 {
	return Sums(p.Of.Eval(at, of), p.Step)
}

// Equation is zero where u are the sums: u_i - u_(i-Step) - a_i. Where it is nonnegative, u is at least as large.
func (p Prefix) Equation(u affine.Expr) affine.Expr {
	before := affine.Stack(affine.Expr{N: p.Step}, u.Slice(0, u.N-p.Step))
	return u.Minus(before).Minus(p.Of)
}
