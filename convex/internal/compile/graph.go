package compile

import (
	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
)

// Graph is a convex function by its epigraph: all that a program needs to know of one that nothing special is done for.
type Graph struct {
	Name string
	Sign int // 1 where no value is negative
	// Value has the entries at an argument, +Inf where there is none.
	Value func(x []float64) []float64
	// Below adds what holds if and only if the function of a is at most u, entry by entry.
	Below func(b Rows, a, u affine.Expr)
}

// Rows takes rows and variables into a program.
type Rows struct{ c *compiler }

// In adds s = expr in a cone.
func (r Rows) In(cone backends.Cone, parts ...affine.Expr) {
	r.c.emit(cone, affine.Stack(parts...))
}

// Nonnegative adds expr >= 0.
func (r Rows) Nonnegative(expr affine.Expr) { r.c.nonnegative(expr, sink{}) }

// New is a free variable.
func (r Rows) New(n int) affine.Expr { return r.c.auxiliary("a part of an epigraph", n).Expr() }

// graph returns u >= f for the selected entries, of variables that all terms of the atom share.
func (c *compiler) graph(t AtomTerm) affine.Expr {
	u := c.shared[t.Atom]
	if u == nil {
		u = c.auxiliary("a bound on "+t.Atom.String(), t.Atom.N)
		c.shared[t.Atom] = u
		t.Atom.Graph.Below(Rows{c}, t.Atom.Arg, u.Expr())
	}
	if t.sel != nil {
		return u.Expr().Pick(t.sel)
	}
	return u.Expr()
}
