package dca

// grow is rule 4: the next penalty after one with violation t and relative step delta.
// With max{alpha, 1/t} < c / step multiplied by t and step, t = 0 and step = 0 are in order.
func (s *Settings) grow(alpha, t, step float64) float64 {
	if max(alpha*t, 1)*step < s.CAlpha*t {
		return alpha + s.Delta
	}
	return alpha
}
