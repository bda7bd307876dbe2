package descent

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// inner solves the problem over a working set of groups to a gap of at most tol.
func (s *groupSolve) inner(groups []int, tol float64) {
	const check = 10 // epochs between looks at the gap
	var cols []int
	work := 0.0
	for _, k := range groups {
		for _, j := range s.q.members[k] {
			if s.norm2[j] > 0 {
				cols = append(cols, j)
				work += 2 * float64(s.x.count(j))
			}
		}
	}
	if s.newton(groups, firstNewton, tol) && s.settled(groups, tol) {
		return
	}
	e, spent := newExtrapolation(&s.iterate, cols, func() float64 { return s.penalty(groups) }), 0.0
	for epoch := 1; s.epochs < s.o.MaxEpochs; epoch++ {
		moved := s.epoch(groups)
		if s.stop.Look() {
			return
		}
		s.epochs++
		spent += work
		e.record()
		if epoch%check != 0 && moved {
			continue
		}
		if s.settled(groups, tol) || !moved {
			return
		}
		if one := s.newtonWork(groups); spent >= one {
			steps := 1 + int(newtonShare*spent/one)
			spent = 0
			if s.newton(groups, min(steps, mostGroupSteps), tol) {
				e.reset()
				if s.settled(groups, tol) {
					return
				}
			}
		}
	}
}

// settled says whether the gap of the problem over the groups is at most tol.
func (s *groupSolve) settled(groups []int, tol float64) bool {
	s.fold()
	if s.correlate(groups); s.stop.Look() {
		return false
	}
	bound, _ := s.dual(groups)
	return s.loss(s.r, s.off)+s.penalty(groups)-bound <= tol
}

// epoch is one round of block coordinate descent: with L_g the largest eigenvalue of X_g'X_g / n and
// v = L_g b_g + X_g'r / n, a proximal gradient step on each group,
//
//	b_g = z max(0, 1 - w_g / |z|) / L_g,   z = soft(v, w1).
//
// It says whether any coefficient moved.
func (s *groupSolve) epoch(groups []int) (moved bool) {
	var z []float64
	for _, k := range groups {
		group, l := s.q.members[k], s.q.lipschitz[k]
		z = z[:0]
		for _, j := range group {
			if s.stop.Reached(s.x.count(j)) {
				return moved
			}
			z = append(z, soft(l*s.b[j]+s.correlation(j, s.r, s.off), s.l1[j]))
		}
		factor := 0.0
		if norm := floats.Norm(z, 2); norm > s.norm[k] {
			factor = (1 - s.norm[k]/norm) / l
		}
		for i, j := range group {
			if b := factor * z[i]; b != s.b[j] && s.norm2[j] > 0 {
				s.move(j, s.b[j]-b)
				s.b[j] = b
				moved = true
			}
		}
	}
	return moved
}

const (
	// mostGroupSteps bounds the Newton steps that follow each other.
	mostGroupSteps = 20
	// lastShare of the tolerance is what a whole Newton step gains at the end.
	lastShare = 0.1
)

// newtonWork estimates the multiplications of a Newton step.
func (s *groupSolve) newtonWork(groups []int) float64 {
	k, entries := 0, 0
	for _, g := range groups {
		for _, j := range s.q.members[g] {
			if s.b[j] != 0 {
				k++
				entries += s.x.count(j)
			}
		}
	}
	if k > newtonMost {
		return math.Inf(1)
	}
	return float64(k)*float64(entries)/4 + float64(k*k*k)/6
}

// newton takes up to some steps of Newton's method on the coefficients of the groups that are not zero: with
// their signs fixed the objective is smooth, with the gradient
//
//	-q = -(X_S'r / n - w1 sign(b) - w_g b / |b_g|)
//
// and the matrix of [Groups.Hessian]. Coefficients whose signs change on a step become zero. A step is
// halved until the objective, or at the limit of rounding the gradient, is smaller. Whole steps, whose decreases fall
// quadratically, end with one of a small share of tol. It says whether the iterate changed.
func (s *groupSolve) newton(groups []int, steps int, tol float64) (changed bool) {
	s.local.end = &s.stop
	for range steps {
		if s.stop.Look() {
			return changed
		}
		var set []int
		for _, k := range groups {
			for _, j := range s.q.members[k] {
				if s.b[j] != 0 {
					set = append(set, j)
				}
			}
		}
		if len(set) == 0 || len(set) > newtonMost {
			return changed
		}
		s.newtons++
		s.fold()
		q := s.slope(set)
		if !s.q.factor(&s.local, set, s.b, s.norm, newtonRidge, &s.stop) {
			return changed
		}
		d := append([]float64(nil), q...)
		s.local.solve(d)
		full, moved, decrease := s.line(groups, set, q, d)
		changed = changed || moved
		if !moved || full && (decrease <= lastShare*tol || floats.Norm(s.slope(set), math.Inf(1)) <= rounding*math.Sqrt(2*s.scale)) {
			return changed
		}
	}
	return changed
}

// slope is q of newton.
func (s *groupSolve) slope(set []int) []float64 {
	q := make([]float64, len(set))
	for i, j := range set {
		if s.b[j] == 0 {
			continue
		}
		k := s.q.of[j]
		q[i] = s.correlation(j, s.r, s.off) - math.Copysign(s.l1[j], s.b[j]) - s.norm[k]*s.b[j]/s.q.size(k, s.b)
	}
	return q
}

// line goes along d: steps are halved until the objective is smaller with the coefficients that change their sign set to zero, but not below the
// first change of sign, up to which the objective is smooth; where nothing before helped, the step ends there, and one coefficient less is
// in use. full says that no coefficient became zero.
func (s *groupSolve) line(groups, set []int, q, d []float64) (full, moved bool, decrease float64) {
	before, steep := s.loss(s.r, s.off)+s.penalty(groups), floats.Norm(q, 2)
	old, oldR, oldOff := make([]float64, len(set)), append([]float64(nil), s.r...), s.off
	image, off := make([]float64, len(s.r)), 0.0 // the residual is r - t image + off - t off along d
	first := math.Inf(1)
	for i, j := range set {
		old[i] = s.b[j]
		s.x.axpy(d[i], j, image)
		off -= d[i] * s.shift(j)
		if old[i]*d[i] < 0 {
			first = math.Min(first, -old[i]/d[i])
		}
	}
	attempt := func(t float64) float64 {
		floats.AddScaledTo(s.r, oldR, -t, image)
		s.off = oldOff - t*off
		full = true
		for i, j := range set {
			b := old[i] + t*d[i]
			if b*old[i] <= 0 || math.Abs(b) <= 1e-15*math.Abs(old[i]) {
				s.move(j, b)
				b, full = 0, false
			}
			s.b[j] = b
		}
		return s.loss(s.r, s.off) + s.penalty(groups)
	}
	for t := 1.0; t > 1e-4*math.Min(1, first); t /= 2 {
		last := t > first && t/2 < first
		value := attempt(t)
		if value < before && before-value > 1e-14*before || value <= before*(1+1e-15) && full && floats.Norm(s.slope(set), 2) < steep/2 {
			return full, true, before - value
		}
		if !last {
			continue
		}
		if value = attempt(first); value <= before*(1+1e-15) {
			return full, true, before - value
		}
	}
	copy(s.r, oldR)
	s.off = oldOff
	for i, j := range set {
		s.b[j] = old[i]
	}
	return false, false, 0
}
