package sparse

import (
	"math"
	"slices"
)

// screen discards the features that are zero in every solution (Gap Safe). The dual
// optimum u* lies within sqrt(2 n gap) of the feasible point t u, so that
// |x_j'u*| / n <= t |c_j| + |x_j| sqrt(2 gap / n), and less than w1_j means b_j = 0.
func (s *solve) screen(t, gap float64) {
	radius := math.Sqrt(2 * math.Max(0, gap) / s.N)
	keep := s.alive[:0]
	for _, j := range s.alive {
		if t*math.Abs(s.c[j])+math.Sqrt(s.Norm2[j])*radius < s.w1[j] {
			if v := s.B[j]; v != 0 {
				s.B[j] = 0
				s.Move(j, v)
			}
			continue
		}
		keep = append(keep, j)
	}
	s.alive = keep
}

// ranked is a feature and its distance from where it may become nonzero.
type ranked struct {
	distance float64
	j        int
}

func before(a, b ranked) bool {
	return a.distance < b.distance || a.distance == b.distance && a.j < b.j
}

// workingSet returns size features, in rising order: all whose coefficient is not zero, and those
// nearest to their bound, by (w1_j - t |c_j|) / |x_j|.
func (s *solve) workingSet(t float64, size int) []int {
	if size >= len(s.alive) {
		return slices.Clone(s.alive)
	}
	list := make([]ranked, len(s.alive))
	for k, j := range s.alive {
		d := math.Inf(-1)
		if s.B[j] == 0 && (s.w1[j] > 0 || s.w2[j] > 0) {
			d = (s.w1[j] - t*math.Abs(s.c[j])) / math.Sqrt(s.Norm2[j])
		}
		list[k] = ranked{d, j}
	}
	nearest(list, size)
	set := make([]int, size)
	for k := range set {
		set[k] = list[k].j
	}
	slices.Sort(set)
	return set
}

// nearest moves the k first of list, in the order of before, to its front; k < len(list).
func nearest(list []ranked, k int) {
	lo, hi := 0, len(list)-1
	for lo < hi {
		// The median of three as pivot, and Hoare's partition.
		a, b, c := list[lo], list[(lo+hi)/2], list[hi]
		if before(b, a) {
			a, b = b, a
		}
		if before(c, b) {
			b = c
			if before(b, a) {
				b = a
			}
		}
		i, j := lo, hi
		for i <= j {
			for before(list[i], b) {
				i++
			}
			for before(b, list[j]) {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return
		}
	}
}
