package leastsquares

// Soft is the proximal map of w|.|: sign(v) max(0, |v| - w).
func Soft(v, w float64) float64 {
	switch {
	case v > w:
		return v - w
	case v < -w:
		return v + w
	}
	return 0
}
