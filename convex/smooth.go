package convex

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// Huber returns the vector of Huber functions of a[i] with threshold delta > 0,
//
//	a^2/2 for |a| <= delta,  delta |a| - delta^2/2 elsewhere.
func Huber(a Affine, delta float64) Convex {
	if a.err == nil && (!(delta > 0) || math.IsInf(delta, 1)) {
		return failed(a.n, a.m, "Huber of %v with threshold %v, expected a positive number", a, delta)
	}
	return (&atom{kind: huberAtom, n: a.n, arg: a, delta: delta}).expression()
}

// Logistic returns the vector of log(1 + exp(a[i])). The backend needs exponential cones.
func Logistic(a Affine) Convex { return (&atom{kind: logisticAtom, n: a.n, arg: a}).expression() }

// Exp returns the vector of exp(a[i]). The backend needs exponential cones.
func Exp(a Affine) Convex { return (&atom{kind: expAtom, n: a.n, arg: a}).expression() }

// huber is the function of [Huber].
func huber(v, delta float64) float64 {
	if v = math.Abs(v); v > delta {
		return delta * (v - delta/2)
	}
	return v * v / 2
}

// softplus is log(1 + exp(v)) without overflow.
func softplus(v float64) float64 { return max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))) }

// splitHuber turns a term, of height 1, into a sum of squares and an affine part, by
//
//	huber(a) = min over v of (a - v)^2/2 + delta |v|
//
// with new variables v and u >= |v|.
func (c *compiler) splitHuber(t atomTerm) (squares atomTerm, rest Affine) {
	a := t.atom.arg
	if t.sel != nil {
		a = a.Pick(t.sel)
	}
	v := c.auxiliary("a part beyond the threshold", a.n).Expr()
	u := c.auxiliary("a bound on it", a.n).Expr()
	c.nonnegative(u.Minus(v), sink{})
	c.nonnegative(u.Plus(v), sink{})
	squares = atomTerm{atom: &atom{kind: squaresAtom, n: 1, arg: a.Minus(v)}, scale: t.scale / 2, w: t.w}
	return squares, u.Sum().Scale(t.scale * t.atom.delta)
}

// expandLogistic adds scale*log(1 + exp(a_k)) <= h_k for the selected entries k, as
//
//	exp(a - h/scale) <= y,  exp(-h/scale) <= z,  y + z <= 1
//
// in two exponential cones. The multiplier of the inequality is the derivative of -b'z in h: h has the
// coefficient -1/scale in the first row of both.
func (c *compiler) expandLogistic(t atomTerm, h Affine, to sink) {
	a := t.atom.arg
	if t.sel != nil {
		a = a.Pick(t.sel)
	}
	u := h.Scale(1 / t.scale)
	y, z := c.auxiliary("a share", a.n).Expr(), c.auxiliary("a share", a.n).Expr()
	c.nonnegative(Const(1).Minus(y.Plus(z)), sink{})
	one := Const(1)
	for k := range a.n {
		for _, row := range [][2]Affine{{a.At(k).Minus(u.At(k)), y}, {u.At(k).Neg(), z}} {
			g := c.emit(backends.ExponentialCone, Stack(row[0], one, row[1].At(k)))
			c.refer(to.row(k), g, 0, 1, -1/t.scale)
		}
	}
}
