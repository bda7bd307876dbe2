package leastsquares

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/stop"
)

// GroupPoint is a point of a problem with the penalty sum_g w_g |b^(g)|_2 + sum_j w1_j |b_j|.
type GroupPoint struct {
	Point
	Groups   *Groups
	Norm, L1 []float64 // w_g and w1_j, one for each
	C        []float64 // X'r / n of the last look
	Threads  int       // the most for [GroupPoint.Correlate]
}

// NewGroupPoint has zero coefficients.
func NewGroupPoint(q *Groups, norm, l1 []float64, threads int) GroupPoint {
	return GroupPoint{Point: NewPoint(q.Data), Groups: q, Norm: norm, L1: l1, C: make([]float64, q.X.Columns()), Threads: threads}
}

// Weight is w1 of feature j.
func (s *GroupPoint) Weight(j int) float64 { return s.L1[j] }

// Correlate sets C for the features of the groups.
func (s *GroupPoint) Correlate(groups []int) {
	Parallel(len(groups), s.Threads, func(lo, hi int) {
		var end stop.Stop
		end.Begin(s.Ctx, 0)
		for _, k := range groups[lo:hi] {
			for _, j := range s.Groups.Members[k] {
				if end.Reached(s.X.Len(j)) {
					return
				}
				s.C[j] = s.Correlation(j, s.R, s.Off)
			}
		}
	})
}

// Penalty is that of some groups.
func (s *GroupPoint) Penalty(groups []int) float64 {
	sum := 0.0
	for _, k := range groups {
		for _, j := range s.Groups.Members[k] {
			sum += s.L1[j] * math.Abs(s.B[j])
		}
		sum += s.Norm[k] * s.Groups.Size(k, s.B)
	}
	return sum
}

// Dual returns the largest value of D(t r) over the t >= 0 for which t r is feasible for the
// groups, whose X'r / n is in C, and that t.
func (s *GroupPoint) Dual(groups []int) (value, t float64) {
	rr := 2 * s.Loss(s.R, s.Off)
	yr := floats.Dot(s.Y, s.R) / s.N // y is centred where off is not 0
	if !(rr > 0) || !(yr > 0) {
		return 0, 0
	}
	t = yr / rr
	for _, k := range groups {
		group, w := s.Groups.Members[k], s.Norm[k]
		if w == 0 {
			for _, j := range group {
				if a := math.Abs(s.C[j]); t*a > s.L1[j] {
					t = s.L1[j] / a
				}
			}
			continue
		}
		// |soft(t c, w1)| is convex in t: Newton's method from above its root stays there.
		for range 100 {
			norm := SoftNorm(group, s.C, t, s.Weight)
			if norm <= w*(1+1e-15) {
				break
			}
			slope := 0.0
			for _, j := range group {
				if a := math.Abs(s.C[j]); t*a > s.L1[j] {
					slope += (t*a - s.L1[j]) * a / norm
				}
			}
			t = math.Max(0, t-(norm-w)/slope)
		}
	}
	return t*yr - t*t*rr/2, t
}

// Epoch is one round of block coordinate descent: with L_g the largest eigenvalue of X_g'X_g / n and
// v = L_g b_g + X_g'r / n, a proximal gradient step on each group,
//
//	b_g = z max(0, 1 - w_g / |z|) / L_g,   z = soft(v, w1).
//
// It says whether any coefficient moved.
func (s *GroupPoint) Epoch(groups []int) (moved bool) {
	var z []float64
	for _, k := range groups {
		group, l := s.Groups.Members[k], s.Groups.Lipschitz[k]
		z = z[:0]
		for _, j := range group {
			if s.Stop.Reached(s.X.Len(j)) {
				return moved
			}
			z = append(z, Soft(l*s.B[j]+s.Correlation(j, s.R, s.Off), s.L1[j]))
		}
		factor := 0.0
		if norm := floats.Norm(z, 2); norm > s.Norm[k] {
			factor = (1 - s.Norm[k]/norm) / l
		}
		for i, j := range group {
			if b := factor * z[i]; b != s.B[j] && s.Norm2[j] > 0 {
				s.Move(j, s.B[j]-b)
				s.B[j] = b
				moved = true
			}
		}
	}
	return moved
}
