package machine

// box are the terms lambda w_j^2 / 2 of the coefficients within |w_j| <= bound_j.
type box struct {
	lambda float64
	bound  []float64
}

// within is w, cut to the box, which rounding may leave.
func (t *box) within(j int, w float64) float64 {
	return max(-t.bound[j], min(t.bound[j], w))
}

// conjugate is the largest v w - lambda w^2 / 2 in the box.
func (t *box) conjugate(j int, v float64) float64 {
	w := t.within(j, v/t.lambda)
	return w * (v - t.lambda*w/2)
}

// dual is the sum of conjugate over the features.
func (t *box) dual(v []float64) (sum float64) {
	for j, x := range v {
		sum += t.conjugate(j, x)
	}
	return sum
}

// cut sets out to w, cut to the box.
func (t *box) cut(out, w []float64) {
	for j, x := range w {
		out[j] = t.within(j, x)
	}
}
