package compile

import (
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
	type place struct { // of the first term, which opposed expressions share
		v                   *affine.Variable
		height, first, rows int
	}
	known := map[place][]*Group{}
	for _, g := range p.Groups {
		if g.Kind != backends.NonnegativeCone || len(g.Expr.Vars) == 0 {
			continue
		}
		t := &g.Expr.Vars[0]
		at := place{t.V, g.Expr.N, t.First, t.Rows}
		for _, other := range known[at] {
			if opposed(g.Expr, other.Expr) {
				p.Boxes = append(p.Boxes, [2]*Group{other, g})
				break
			}
		}
		known[at] = append(known[at], g)
	}
}

// opposed says that the variables' parts of two expressions are the negatives of each other.
func opposed(a, b affine.Expr) bool {
	return a.N == b.N && slices.EqualFunc(a.Vars, b.Vars, func(s, t affine.Term) bool {
		return s.V == t.V && s.Scale == -t.Scale && s.Off == t.Off && s.Rows == t.Rows && s.First == t.First &&
			s.Mat == t.Mat &&
			s.Sum == t.Sum && s.W == nil && t.W == nil && slices.Equal(s.Idx, t.Idx) && slices.Equal(s.Into, t.Into) && slices.Equal(s.Coef, t.Coef)
	})
}
