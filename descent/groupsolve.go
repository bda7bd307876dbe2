package descent

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/stop"
)

// groupSolve is one run of [Groups.Solve].
type groupSolve struct {
	iterate
	q        *Groups
	norm, l1 []float64
	o        Options

	alive []int     // groups that are not proven to be zero
	c     []float64 // X'r / n of the last look
	local definite  // of the Newton steps

	objective, bound, gap  float64
	outer, epochs, newtons int
	progress               progress
}

func (s *groupSolve) weight(j int) float64 { return s.l1[j] }

// run is the outer loop.
func (s *groupSolve) run(ctx context.Context) Status {
	s.begin(ctx)
	s.gap = math.Inf(1)
	size := 0
	for {
		if s.stop.Look() {
			return Cancelled
		}
		s.residual()
		if s.correlate(s.alive); s.stop.Look() {
			return Cancelled
		}
		s.objective = s.loss(s.r, s.off) + s.penalty(s.alive)
		bound, scale := s.dual(s.alive)
		s.bound = math.Max(s.bound, bound)
		s.gap = math.Max(0, s.objective-s.bound)
		switch {
		case s.gap <= s.o.Tol*s.scale:
			return Optimal
		case s.exhausted():
			return Exhausted
		case s.epochs >= s.o.MaxEpochs:
			return EpochLimit
		case s.progress.stalled(s.gap):
			return Stalled
		}
		s.screen(scale, s.objective-bound)
		size = max(size, firstGroups, 2*len(s.used(s.alive)))
		s.outer++
		s.inner(s.workingSet(scale, size), math.Max(innerShare*s.gap, s.o.Tol*s.scale/10))
	}
}

// firstGroups is the number of groups in the first working set.
const firstGroups = 20

// correlate sets c for the features of the groups.
func (s *groupSolve) correlate(groups []int) {
	parallel(len(groups), s.o.Threads, func(lo, hi int) {
		var end stop.Stop
		end.Begin(s.ctx, 0)
		for _, k := range groups[lo:hi] {
			for _, j := range s.q.members[k] {
				if end.Reached(s.x.count(j)) {
					return
				}
				s.c[j] = s.correlation(j, s.r, s.off)
			}
		}
	})
}

// used are the groups with coefficients that are not zero.
func (s *groupSolve) used(groups []int) []int {
	var list []int
	for _, k := range groups {
		if slices.ContainsFunc(s.q.members[k], func(j int) bool { return s.b[j] != 0 }) {
			list = append(list, k)
		}
	}
	return list
}

func (s *groupSolve) penalty(groups []int) float64 {
	sum := 0.0
	for _, k := range groups {
		for _, j := range s.q.members[k] {
			sum += s.l1[j] * math.Abs(s.b[j])
		}
		sum += s.norm[k] * s.q.size(k, s.b)
	}
	return sum
}

// dual returns the largest value of D(t r) over the t >= 0 for which t r is feasible for the
// groups, whose X'r / n is in c, and that t.
func (s *groupSolve) dual(groups []int) (value, t float64) {
	rr := 2 * s.loss(s.r, s.off)
	yr := floats.Dot(s.y, s.r) / s.n // y is centred where off is not 0
	if !(rr > 0) || !(yr > 0) {
		return 0, 0
	}
	t = yr / rr
	for _, k := range groups {
		group, w := s.q.members[k], s.norm[k]
		if w == 0 {
			for _, j := range group {
				if a := math.Abs(s.c[j]); t*a > s.l1[j] {
					t = s.l1[j] / a
				}
			}
			continue
		}
		// |soft(t c, w1)| is convex in t: Newton's method from above its root stays there.
		for range 100 {
			norm := softNorm(group, s.c, t, s.weight)
			if norm <= w*(1+1e-15) {
				break
			}
			slope := 0.0
			for _, j := range group {
				if a := math.Abs(s.c[j]); t*a > s.l1[j] {
					slope += (t*a - s.l1[j]) * a / norm
				}
			}
			t = math.Max(0, t-(norm-w)/slope)
		}
	}
	return t*yr - t*t*rr/2, t
}

// exhausted says that no group violates its condition by more than rounding explains: for the coefficients in use
// c_j = w1_j sign(b_j) + w_g b_j / |b_g|, for the others |soft(c, w1)| <= w_g, or 0 in a group in use.
func (s *groupSolve) exhausted() bool {
	unit := 4 * rounding * math.Sqrt(s.scale*2*s.n)
	for _, k := range s.alive {
		group, size := s.q.members[k], s.q.size(k, s.b)
		if size == 0 {
			if softNorm(group, s.c, 1, s.weight)-s.norm[k] > unit*math.Sqrt(s.q.lipschitz[k]/s.n) {
				return false
			}
			continue
		}
		for _, j := range group {
			v := math.Abs(s.c[j]) - s.l1[j]
			if s.b[j] != 0 {
				v = math.Abs(s.c[j] - math.Copysign(s.l1[j], s.b[j]) - s.norm[k]*s.b[j]/size)
			}
			if v*s.n > unit*math.Sqrt(s.norm2[j]) {
				return false
			}
		}
	}
	return true
}

// screen discards the groups that are zero in every solution: X_g'u* / n is within sqrt(2 L_g gap) of t c_g, with L_g
// the largest eigenvalue of X_g'X_g / n, and soft thresholding moves no points apart.
func (s *groupSolve) screen(t, gap float64) {
	keep := s.alive[:0]
	for _, k := range s.alive {
		if softNorm(s.q.members[k], s.c, t, s.weight)+math.Sqrt(2*s.q.lipschitz[k]*math.Max(0, gap)) < s.norm[k] {
			for _, j := range s.q.members[k] {
				if v := s.b[j]; v != 0 {
					s.b[j] = 0
					s.move(j, v)
				}
			}
			continue
		}
		keep = append(keep, k)
	}
	s.alive = keep
}

// distance is w_g - |soft(t c_g, w1)|; where the soft threshold leaves nothing, also what it has to spare.
func (s *groupSolve) distance(k int, t float64) float64 {
	norm := softNorm(s.q.members[k], s.c, t, s.weight)
	if norm > 0 {
		return s.norm[k] - norm
	}
	spare := math.Inf(1)
	for _, j := range s.q.members[k] {
		spare = math.Min(spare, s.l1[j]-t*math.Abs(s.c[j]))
	}
	return s.norm[k] + spare
}

// workingSet returns the groups in use and those nearest to their bound, by
// distance / sqrt(L_g), size of them in rising order.
func (s *groupSolve) workingSet(t float64, size int) []int {
	if size >= len(s.alive) {
		return slices.Clone(s.alive)
	}
	list := make([]ranked, len(s.alive))
	for i, k := range s.alive {
		d := math.Inf(-1)
		if s.q.size(k, s.b) == 0 {
			d = s.distance(k, t) / math.Sqrt(s.q.lipschitz[k])
		}
		list[i] = ranked{d, k}
	}
	nearest(list, size)
	set := make([]int, size)
	for i := range set {
		set[i] = list[i].j
	}
	slices.Sort(set)
	return set
}
