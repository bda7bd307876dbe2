package sparse

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// inner solves the problem over a working set of groups to a gap of at most tol.
func (s *groupSolve) inner(groups []int, tol float64) {
	const check = 10 // epochs between looks at the gap
	var cols []int
	work := 0.0
	for _, k := range groups {
		for _, j := range s.Groups.Members[k] {
			if s.Norm2[j] > 0 {
				cols = append(cols, j)
				work += 2 * float64(s.X.Len(j))
			}
		}
	}
	if s.newton(groups, firstNewton, tol) && s.settled(groups, tol) {
		return
	}
	e, spent := newExtrapolation(&s.Point, cols, func() float64 { return s.Penalty(groups) }), 0.0
	for epoch := 1; s.epochs < s.o.MaxEpochs; epoch++ {
		moved := s.Epoch(groups)
		if s.Stop.Look() {
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
	s.Fold()
	if s.Correlate(groups); s.Stop.Look() {
		return false
	}
	bound, _ := s.Dual(groups)
	return s.Loss(s.R, s.Off)+s.Penalty(groups)-bound <= tol
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
		for _, j := range s.Groups.Members[g] {
			if s.B[j] != 0 {
				k++
				entries += s.X.Len(j)
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
	s.local.End = &s.Stop
	for range steps {
		if s.Stop.Look() {
			return changed
		}
		var set []int
		for _, k := range groups {
			for _, j := range s.Groups.Members[k] {
				if s.B[j] != 0 {
					set = append(set, j)
				}
			}
		}
		if len(set) == 0 || len(set) > newtonMost {
			return changed
		}
		s.newtons++
		s.Fold()
		q := s.slope(set)
		if !s.factor(set) {
			return changed
		}
		d := append([]float64(nil), q...)
		s.local.Solve(d)
		full, moved, decrease := s.line(groups, set, q, d)
		changed = changed || moved
		if !moved || full && (decrease <= lastShare*tol || floats.Norm(s.slope(set), math.Inf(1)) <= rounding*math.Sqrt(2*s.Scale)) {
			return changed
		}
	}
	return changed
}

// factor factors the matrix of [Groups.Hessian], with a ridge on its diagonal; the members of a group stand
// together in S. It says whether that went well.
func (s *groupSolve) factor(set []int) bool {
	q, b, norm := s.Groups, s.B, s.Norm
	k := len(set)
	// w_g (I / |b_g| - b_g b_g' / |b_g|^3) is diagonal I - outer b_g b_g', with the last member of the group at last.
	last, diagonal, outer := make([]int, k), make([]float64, k), make([]float64, k)
	trace, size := 0.0, 0.0
	for i := k - 1; i >= 0; i-- {
		j := set[i]
		g := q.Of[j]
		if i == k-1 || q.Of[set[i+1]] != g {
			last[i], size = i, q.Size(g, b)
		} else {
			last[i] = last[i+1]
		}
		diagonal[i], outer[i] = norm[g]/size, norm[g]/(size*size*size)
		trace += q.Norm2[j]/float64(q.X.Rows()) + diagonal[i] - outer[i]*b[j]*b[j]
	}
	ridge := newtonRidge * trace / float64(k)
	var h *mat.SymDense
	if !q.Prepared() {
		if h = q.Hessian(set, nil, &s.Stop); h == nil {
			return false
		}
	}
	return s.local.Factor(k, func(j int, column []float64) {
		if h != nil {
			raw := h.RawSymmetric()
			copy(column[j:], raw.Data[j*raw.Stride+j:j*raw.Stride+k])
		} else {
			known := q.GramRow(set[j])
			for i := j; i < k; i++ {
				column[i] = known[set[i]]
			}
		}
		scaled := outer[j] * b[set[j]]
		for i := j; i <= last[j]; i++ {
			column[i] -= scaled * b[set[i]]
		}
		column[j] += diagonal[j] + ridge
	})
}

// slope is q of newton.
func (s *groupSolve) slope(set []int) []float64 {
	q := make([]float64, len(set))
	for i, j := range set {
		if s.B[j] == 0 {
			continue
		}
		k := s.Groups.Of[j]
		q[i] = s.Correlation(j, s.R, s.Off) - math.Copysign(s.L1[j], s.B[j]) - s.Norm[k]*s.B[j]/s.Groups.Size(k, s.B)
	}
	return q
}

// line goes along d: steps are halved until the objective is smaller with the coefficients that change their sign set to zero, but not below the
// first change of sign, up to which the objective is smooth; where nothing before helped, the step ends there, and one coefficient less is
// in use. full says that no coefficient became zero.
func (s *groupSolve) line(groups, set []int, q, d []float64) (full, moved bool, decrease float64) {
	before, steep := s.Loss(s.R, s.Off)+s.Penalty(groups), floats.Norm(q, 2)
	y, first := newRay(&s.Point, set, d), math.Inf(1)
	for i, b := range y.old {
		if b*d[i] < 0 {
			first = math.Min(first, -b/d[i])
		}
	}
	attempt := func(t float64) float64 {
		full = y.to(t)
		return s.Loss(s.R, s.Off) + s.Penalty(groups)
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
	y.back()
	return false, false, 0
}
