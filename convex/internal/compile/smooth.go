package compile

import (
	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
)

// splitHuber turns a term, of height 1, into a sum of squares and an affine part, by
//
//	huber(a) = min over v of (a - v)^2/2 + delta |v|
//
// with new variables v and u >= |v|.
func (c *compiler) splitHuber(t AtomTerm) (squares AtomTerm, rest affine.Expr) {
	a := t.argument()
	v := c.auxiliary("a part beyond the threshold", a.N).Expr()
	u := c.auxiliary("a bound on it", a.N).Expr()
	c.nonnegative(u.Minus(v), sink{})
	c.nonnegative(u.Plus(v), sink{})
	squares = AtomTerm{Atom: &Atom{Kind: SquaresAtom, N: 1, Arg: a.Minus(v)}, Scale: t.Scale / 2, W: t.W}
	return squares, u.Sum().Times(t.Scale * t.Atom.Delta)
}

// expandLogistic adds scale*log(1 + exp(a_k)) <= h_k for the selected entries k, as
//
//	exp(a - h/scale) <= y,  exp(-h/scale) <= z,  y + z <= 1
//
// in two exponential cones. The multiplier of the inequality is the derivative of -b'z in h: h has the
// coefficient -1/scale in the first row of both.
func (c *compiler) expandLogistic(t AtomTerm, h affine.Expr, to sink) {
	a := t.argument()
	u := h.Times(1 / t.Scale)
	y, z := c.auxiliary("a share", a.N).Expr(), c.auxiliary("a share", a.N).Expr()
	c.nonnegative(affine.Constant(1).Minus(y.Plus(z)), sink{})
	one := affine.Constant(1)
	for k := range a.N {
		for _, row := range [][2]affine.Expr{{a.At(k).Minus(u.At(k)), y}, {u.At(k).Neg(), z}} {
			g := c.emit(backends.ExponentialCone, affine.Stack(row[0], one, row[1].At(k)))
			c.refer(to.row(k), g, 0, 1, -1/t.Scale)
		}
	}
}

// expandLogSumExp adds scale*log(sum_i exp(a_i)) <= h as
//
//	exp(a_i - h/scale) <= y_i,  sum_i y_i <= 1
//
// in an exponential cone for each i, with the multipliers of [compiler.expandLogistic].
func (c *compiler) expandLogSumExp(a, h affine.Expr, scale float64, to sink) {
	u, one := h.Times(1/scale), affine.Constant(1)
	y := c.auxiliary("a share", a.N).Expr()
	c.nonnegative(one.Minus(y.Sum()), sink{})
	for i := range a.N {
		g := c.emit(backends.ExponentialCone, affine.Stack(a.At(i).Minus(u), one, y.At(i)))
		c.refer(to, g, 0, 1, -1/scale)
	}
}
