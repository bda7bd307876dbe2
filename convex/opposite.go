package convex

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
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
	byVariable := map[*Variable][]*group{}
	for _, g := range p.groups {
		if g.kind != backends.NonnegativeCone || len(g.expr.vars) == 0 {
			continue
		}
		v := g.expr.vars[0].v
		for _, other := range byVariable[v] {
			if opposed(g.expr, other.expr) {
				p.boxes = append(p.boxes, [2]*group{other, g})
				break
			}
		}
		byVariable[v] = append(byVariable[v], g)
	}
}

// opposed says that the variables' parts of two expressions are the negatives of each other.
func opposed(a, b Affine) bool {
	return a.n == b.n && slices.EqualFunc(a.vars, b.vars, func(s, t term) bool {
		return s.v == t.v && s.scale == -t.scale && s.off == t.off && s.rows == t.rows && s.first == t.first && s.mat == t.mat &&
			s.sum == t.sum && s.w == nil && t.w == nil && slices.Equal(s.idx, t.idx) && slices.Equal(s.coef, t.coef)
	})
}

// separate cleans the multipliers of opposite rows up.
func (r *Result) separate(p *Program, b []float64) {
	gain := 0.0
	own := false
	for _, pair := range p.boxes {
		for k := range pair[0].size() {
			i, j := r.as.fullRow(pair[0].index, k), r.as.fullRow(pair[1].index, k)
			if i < 0 || j < 0 {
				continue
			}
			both := math.Min(r.z[i], r.z[j])
			if !(both > 0) || !(b[i]+b[j] >= 0) {
				continue
			}
			if !own {
				r.z, own = slices.Clone(r.z), true
			}
			r.z[i] -= both
			r.z[j] -= both
			gain += both * (b[i] + b[j])
		}
	}
	if gain == 0 {
		return
	}
	r.DualObjective += gain
	r.Residuals.Gap = backends.RelativeGap(r.Objective-r.offset, r.DualObjective-r.offset)
}
