package separable

import (
	"math"
	"slices"
)

// idle is what the groups that are not looked at have in a part: their coefficients stay as they are.
type idle struct {
	value, l1 float64   // the proximal terms, and |b|_1
	f         []float64 // X b, nil for zero
}

// all looks at all groups.
func (a *ascent) all() {
	a.work, a.members = a.work[:0], make([][]int, a.groups.len())
	for g := range a.groups.len() {
		a.work, a.members[g] = append(a.work, g), a.groups.of(g)
	}
	a.whole = true
	clear(a.idle)
	a.evaluate(a.at)
	a.differentiate()
}

const (
	// near is the share of the multiplier of |b|_1 from which on a correlation counts as close to it, and held the share of the largest multiplier of
	// a group from which on a coefficient counts as staying at its radius.
	near, held = 0.8, 0.1
	// few features are fewer than this share of the squared columns of the last matrix.
	few = 4
)

// narrow leaves out the features that are expected to stay as they are: zero or, in a lower level, single coefficients at their radius. All were looked
// at just before. Where products with all of them cost less than a matrix, they stay: features that come back late cost more steps.
func (a *ascent) narrow() {
	order := 0
	for _, s := range a.newton {
		order = max(order, s.k)
	}
	if few*len(a.centre[0]) <= order*order {
		return
	}
	at, top := a.at, 0.0
	if a.fixed {
		for g, q := range at.of[0].norms {
			top = math.Max(top, q-at.r[g])
		}
	}
	work := a.work[:0]
	for g := range a.groups.len() {
		group := a.groups.of(g)
		var rest []int
		for _, j := range group {
			if !a.stays(g, j, len(group) == 1, top) {
				rest = append(rest, j)
				continue
			}
			a.whole = false
			for t := range a.parts {
				a.leave(t, j)
			}
		}
		if a.members[g] = rest; rest != nil {
			work = append(work, g)
		}
	}
	a.work = work
	for t := range at.of {
		x, y := &at.of[t], &a.try.of[t]
		copy(y.b, x.b)
		copy(y.soft, x.soft)
		copy(y.norms, x.norms)
		copy(y.c, x.c)
	}
}

// leave makes a feature idle.
func (a *ascent) leave(t, j int) {
	s, p, idle := &a.at.of[t], a.parts[t], &a.idle[t]
	d := s.b[j] - a.centre[t][j]
	idle.value += a.rho / 2 * d * d
	if s.b[j] == 0 {
		return
	}
	if idle.f == nil {
		idle.f = make([]float64, p.rows)
	}
	idle.l1 += math.Abs(s.b[j])
	for i := range p.sets {
		set := &p.sets[i]
		set.X.Axpy(s.b[j], j, set.of(idle.f))
	}
}

// stays says whether a feature is expected to stay as it is. top is the largest excess of a norm.
func (a *ascent) stays(g, j int, single bool, top float64) bool {
	if a.fixed && !a.shared && single && a.at.of[0].norms[g]-a.at.r[g] > held*top {
		return true
	}
	for t := range a.at.of {
		s := &a.at.of[t]
		if a.matrix != nil || s.ms == 0 || s.soft[j] != 0 || math.Abs(a.rho*a.centre[t][j]-s.c[j]) > near*s.ms {
			return false
		}
	}
	return true
}

// widen looks at all features again; it says whether what was left out has stayed as it was.
func (a *ascent) widen() bool {
	if a.whole {
		return true
	}
	seen := make([]bool, len(a.centre[0]))
	for _, g := range a.work {
		for _, j := range a.members[g] {
			seen[j] = true
		}
	}
	before := make([][]float64, len(a.parts))
	for t, p := range a.parts {
		s := &a.at.of[t]
		before[t] = slices.Clone(s.b)
		s.c0 = p.mulTrans(s.c, s.u)
	}
	a.all()
	for t := range a.parts {
		for j, b := range a.at.of[t].b {
			if !seen[j] && b != before[t][j] {
				return false
			}
		}
	}
	return true
}
