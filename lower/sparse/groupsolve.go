package sparse

import (
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/internal/leastsquares"
)

// groupSolve is one run of [Groups.Solve].
type groupSolve struct {
	leastsquares.GroupPoint
	o Options

	alive []int           // groups that are not proven to be zero
	local factor.Definite // of the Newton steps

	objective, bound, gap  float64
	outer, epochs, newtons int
	progress               progress
}

// run is the outer loop.
func (s *groupSolve) run(ctx context.Context) lower.Status {
	s.Begin(ctx)
	s.gap = math.Inf(1)
	size := 0
	for {
		if s.Stop.Look() {
			return lower.Cancelled
		}
		s.Residual()
		if s.Correlate(s.alive); s.Stop.Look() {
			return lower.Cancelled
		}
		s.objective = s.Loss(s.R, s.Off) + s.Penalty(s.alive)
		bound, scale := s.Dual(s.alive)
		s.bound = math.Max(s.bound, bound)
		s.gap = math.Max(0, s.objective-s.bound)
		switch {
		case s.gap <= s.o.Tol*s.Scale:
			return lower.Optimal
		case s.exhausted():
			return lower.Exhausted
		case s.epochs >= s.o.MaxEpochs:
			return lower.EpochLimit
		case s.progress.stalled(s.gap):
			return lower.Stalled
		}
		s.screen(scale, s.objective-bound)
		size = max(size, firstGroups, 2*len(s.used(s.alive)))
		s.outer++
		s.inner(s.workingSet(scale, size), math.Max(innerShare*s.gap, s.o.Tol*s.Scale/10))
	}
}

// firstGroups is the number of groups in the first working set.
const firstGroups = 20

// used are the groups with coefficients that are not zero.
func (s *groupSolve) used(groups []int) []int {
	var list []int
	for _, k := range groups {
		if slices.ContainsFunc(s.Groups.Members[k], func(j int) bool { return s.B[j] != 0 }) {
			list = append(list, k)
		}
	}
	return list
}

// exhausted says that no group violates its condition by more than rounding explains: for the coefficients in use
// c_j = w1_j sign(b_j) + w_g b_j / |b_g|, for the others |soft(c, w1)| <= w_g, or 0 in a group in use.
func (s *groupSolve) exhausted() bool {
	unit := 4 * rounding * math.Sqrt(s.Scale*2*s.N)
	for _, k := range s.alive {
		group, size := s.Groups.Members[k], s.Groups.Size(k, s.B)
		if size == 0 {
			if leastsquares.SoftNorm(group, s.C, 1, s.Weight)-s.Norm[k] > unit*math.Sqrt(s.Groups.Lipschitz[k]/s.N) {
				return false
			}
			continue
		}
		for _, j := range group {
			v := math.Abs(s.C[j]) - s.L1[j]
			if s.B[j] != 0 {
				v = math.Abs(s.C[j] - math.Copysign(s.L1[j], s.B[j]) - s.Norm[k]*s.B[j]/size)
			}
			if v*s.N > unit*math.Sqrt(s.Norm2[j]) {
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
		if leastsquares.SoftNorm(s.Groups.Members[k], s.C, t, s.Weight)+math.Sqrt(2*s.Groups.Lipschitz[k]*math.Max(0, gap)) < s.Norm[k] {
			for _, j := range s.Groups.Members[k] {
				if v := s.B[j]; v != 0 {
					s.B[j] = 0
					s.Move(j, v)
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
	norm := leastsquares.SoftNorm(s.Groups.Members[k], s.C, t, s.Weight)
	if norm > 0 {
		return s.Norm[k] - norm
	}
	spare := math.Inf(1)
	for _, j := range s.Groups.Members[k] {
		spare = math.Min(spare, s.L1[j]-t*math.Abs(s.C[j]))
	}
	return s.Norm[k] + spare
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
		if s.Groups.Size(k, s.B) == 0 {
			d = s.distance(k, t) / math.Sqrt(s.Groups.Lipschitz[k])
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
