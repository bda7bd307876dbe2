package machine

import "math"

// terms are the penalties of the coefficients,
//
//	term_j(w) = curve_j w^2 / 2 - slope_j w + jump_j (|w| - limit_j)_+ + outer_j (|w| - limit_j)_+^2 / 2,
//
// with curve_j > 0: a ridge about slope_j / curve_j, and a box, jump_j = +Inf, or a soft one, in which the slope jumps at the limit and the
// curvature grows by outer_j beyond it.
type terms struct{ curve, slope, limit, jump, outer []float64 }

// boxed are the terms lambda w_j^2 / 2 within bounds.
func boxed(lambda float64, bound []float64) terms {
	p := len(bound)
	t := terms{limit: bound, curve: make([]float64, p), slope: make([]float64, p), jump: make([]float64, p), outer: make([]float64, p)}
	for j := range p {
		t.curve[j], t.jump[j] = lambda, math.Inf(1)
	}
	return t
}

// within is w, cut to the limit of a box, which rounding may leave.
func (t *terms) within(j int, w float64) float64 {
	if math.IsInf(t.jump[j], 1) {
		return math.Max(-t.limit[j], math.Min(t.limit[j], w))
	}
	return w
}

// value is term_j(w), with |w| cut to the limit of a box.
func (t *terms) value(j int, w float64) float64 {
	sum := w * (t.curve[j]*w/2 - t.slope[j])
	if over := math.Abs(w) - t.limit[j]; over > 0 && !math.IsInf(t.jump[j], 1) {
		sum += over * (t.jump[j] + t.outer[j]*over/2)
	}
	return sum
}

// rate is the derivative of term_j at w, beyond a limit on the side away from 0.
func (t *terms) rate(j int, w float64) float64 {
	sum := t.curve[j]*w - t.slope[j]
	if over := math.Abs(w) - t.limit[j]; over > 0 && !math.IsInf(t.jump[j], 1) {
		sum += math.Copysign(t.jump[j]+t.outer[j]*over, w)
	}
	return sum
}

// best is the minimiser of term_j(w) - v w.
func (t *terms) best(j int, v float64) float64 {
	v += t.slope[j]
	size := math.Abs(v)
	w := size / t.curve[j]
	if w > t.limit[j] {
		w = t.limit[j]
		if !math.IsInf(t.jump[j], 1) {
			w = math.Max(w, (size-t.jump[j]+t.outer[j]*t.limit[j])/(t.curve[j]+t.outer[j]))
		}
	}
	return math.Copysign(w, v)
}

// conjugate is the largest v w - term_j(w).
func (t *terms) conjugate(j int, v float64) float64 {
	w := t.best(j, v)
	return v*w - t.value(j, w)
}
