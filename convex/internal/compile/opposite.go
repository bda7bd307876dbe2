package compile

import (
	"hash/maphash"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
)

// Opposite rows are the two sides of |a| <= h, or of any box lo <= a <= hi, with constant or parametric ends:
//
//	s+ = hi - a >= 0,   s- = a - lo >= 0,   s+ + s- = hi - lo.
//
// Stationarity holds with the difference z+ - z- of their multipliers. Where the ends are close, as close
// as the solver's accuracy, nothing else does: the multipliers of an interior-point solution do not
// separate, although only one side can be active, and their sum, the derivative in hi - lo, is too large. With the
// smaller of the two taken off both, stationarity and signs stay what they are, and the dual objective rises
// by (hi - lo) times that. So the sum is right to the accuracy of the difference.

// opposite finds the pairs of groups that are the two sides of a box.
func (p *Program) opposite() {
	seed := maphash.MakeSeed()
	known := map[uint64][]*Group{} // by what opposed expressions share, the first of those that are the same
	for _, g := range p.Groups {
		if g.Kind != backends.NonnegativeCone || len(g.Expr.Vars) == 0 || g.Expr.Weighted() {
			continue
		}
		at, again := fingerprint(seed, g.Expr), false
		for _, other := range known[at] {
			if multiple(g.Expr, other.Expr, -1) {
				p.Boxes = append(p.Boxes, [2]*Group{other, g})
			}
			again = again || multiple(g.Expr, other.Expr, 1)
		}
		if !again {
			known[at] = append(known[at], g)
		}
	}
}

// multiple says that the variables' part of an expression is that of another, both without weights, times a number.
func multiple(a, b affine.Expr, by float64) bool {
	return a.N == b.N && slices.EqualFunc(a.Vars, b.Vars, func(s, t affine.Term) bool {
		return s.V == t.V && s.Scale == by*t.Scale && s.Off == t.Off && s.Rows == t.Rows && s.First == t.First &&
			s.Mat == t.Mat &&
			s.Sum == t.Sum && slices.Equal(s.Idx, t.Idx) && slices.Equal(s.Into, t.Into) && slices.Equal(s.Coef, t.Coef)
	})
}

// fingerprint is the same for the multiples of an expression by 1 and -1, and hardly ever for others.
func fingerprint(seed maphash.Seed, a affine.Expr) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, t := range a.Vars {
		maphash.WriteComparable(&h, [2]any{t.V, t.Mat})
		maphash.WriteComparable(&h, [3]int{t.Off, t.Rows, t.First})
		maphash.WriteComparable(&h, math.Abs(t.Scale))
		for _, i := range t.Idx {
			maphash.WriteComparable(&h, i)
		}
		for _, c := range t.Coef {
			maphash.WriteComparable(&h, c)
		}
	}
	return h.Sum64()
}
