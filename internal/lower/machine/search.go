package machine

import "github.com/conetune/conetune/internal/lower/numerics"

// flatEnough is the share of its slope at the begin of a step at which a search along it ends.
const flatEnough = 0.02

// flatten returns how far along a step, up to t, a convex function falls: where its derivative, the slope below 0 at
// the begin, is near 0 or else still negative at the end.
func flatten(t, slope float64, derivative func(t float64) float64) (at float64) {
	numerics.Search(-slope, flatEnough, 30, func(step float64) (float64, bool, bool) {
		at = step * t
		return -derivative(at), true, false
	})
	return at
}
