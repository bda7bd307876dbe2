package numerics

// Soft brings a number nearer to zero, to zero where it is nearer than that: the proximal step of the absolute value.
func Soft(v, by float64) float64 {
	if v > by {
		return v - by
	}
	if v < -by {
		return v + by
	}
	return 0
}
