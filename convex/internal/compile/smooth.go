package compile

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

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
	a, us := t.argument().Entries(), h.Times(1/t.Scale).Entries()
	y, z := c.auxiliary("a share", len(a)).Expr(), c.auxiliary("a share", len(a)).Expr()
	c.nonnegative(affine.Constant(1).Minus(y.Plus(z)), sink{})
	one, ys, zs := affine.Constant(1), y.Entries(), z.Entries()
	for k, u := range us {
		for _, row := range [][2]affine.Expr{{a[k].Minus(u), ys[k]}, {u.Neg(), zs[k]}} {
			g := c.emit(backends.ExponentialCone, affine.Stack(row[0], one, row[1]))
			c.refer(to.row(k), g, 0, 1, -1/t.Scale)
		}
	}
}

// expandLogSumExp adds scale*log(sum_i exp(a_i)) <= h as
//
//	exp(a_i - h/scale) <= y_i,  sum_i y_i <= 1
//
// in an exponential cone for each i, with the multipliers of [compiler.expandLogistic].
func (c *compiler) expandLogSumExp(a []affine.Expr, h affine.Expr, scale float64, to sink) {
	u, one := h.Times(1/scale), affine.Constant(1)
	y := c.auxiliary("a share", len(a)).Expr()
	c.nonnegative(one.Minus(y.Sum()), sink{})
	for i, y := range y.Entries() {
		g := c.emit(backends.ExponentialCone, affine.Stack(a[i].Minus(u), one, y))
		c.refer(to, g, 0, 1, -1/scale)
	}
}

// expandLogSumExps adds scale*log(sum_(i in g_k) exp(a_i)) <= h_k for the selected groups. One that begins with all of
// a group before, as the rows at risk at one time begin with those at the times after, has a variable u >= that one's
// value in the place of its entries.
func (c *compiler) expandLogSumExps(t AtomTerm, h affine.Expr, to sink) {
	starts := make([]int, t.count()) // the group that each begins with, -1 for none
	long := make([]bool, t.count())  // a longer one begins with it
	var open []int                   // those that the last one begins with, and itself
	for k := range starts {
		g := t.Atom.Groups[t.entry(k)]
		for len(open) > 0 && !begins(g, t.Atom.Groups[t.entry(open[len(open)-1])]) {
			open = open[:len(open)-1]
		}
		starts[k] = -1
		if len(open) > 0 {
			starts[k] = open[len(open)-1]
			long[starts[k]] = true
		}
		open = append(open, k)
	}
	bounds, entries, hs := make([]affine.Expr, t.count()), t.Atom.Arg.Entries(), h.Entries()
	for k, before := range starts {
		g := t.Atom.Groups[t.entry(k)]
		var a []affine.Expr
		if before >= 0 {
			a, g = append(a, bounds[before]), g[len(t.Atom.Groups[t.entry(before)]):]
		}
		for _, i := range g {
			a = append(a, entries[i])
		}
		if !long[k] {
			c.expandLogSumExp(a, hs[k], t.Scale, to.row(k))
			continue
		}
		bounds[k] = c.auxiliary("a bound on the LogSumExp of some entries", 1).Expr()
		c.expandLogSumExp(a, bounds[k], 1, sink{})
		c.nonnegative(hs[k].Minus(bounds[k].Times(t.Scale)), to.row(k))
	}
}

// begins says whether a list is longer than another, of two entries at least, and begins with it.
func begins(list, with []int) bool {
	return len(with) > 1 && len(list) > len(with) && (&list[0] == &with[0] || slices.Equal(list[:len(with)], with))
}

// logSums are the logarithms of the sums of exponentials over groups. A list that is the beginning of a longer one
// later is summed once.
func logSums(x []float64, groups [][]int) []float64 {
	out := make([]float64, len(groups))
	var last []int
	top, sum := 0.0, 0.0 // the last sum is exp(top) sum
	for k, g := range groups {
		if len(last) == 0 || len(g) <= len(last) || &g[0] != &last[0] {
			part := make([]float64, len(g))
			for l, i := range g {
				part[l] = x[i]
			}
			out[k] = floats.LogSumExp(part)
			if len(last) == 0 || k+1 < len(groups) && len(groups[k+1]) > len(g) && &groups[k+1][0] == &g[0] {
				last, top, sum = g, out[k], 1
			}
			continue
		}
		for _, i := range g[len(last):] {
			if x[i] > top {
				top, sum = x[i], sum*math.Exp(top-x[i])+1
			} else {
				sum += math.Exp(x[i] - top)
			}
		}
		last, out[k] = g, top+math.Log(sum)
	}
	return out
}
