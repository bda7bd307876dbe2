package compile

import "github.com/conetune/conetune/convex/internal/affine"

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
