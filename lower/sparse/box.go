package sparse

import "math"

// box bounds the coordinates of a quadratic problem; the zero value bounds none. Zero is between the bounds.
type box struct{ lower, upper []float64 }

// room are the bounds of a coordinate.
func (x box) room(i int) (lo, hi float64) {
	if x.lower == nil {
		return math.Inf(-1), math.Inf(1)
	}
	return x.lower[i], x.upper[i]
}

// clip brings a value between the bounds.
func (x box) clip(i int, v float64) float64 {
	if x.lower == nil {
		return v
	}
	return math.Max(x.lower[i], math.Min(x.upper[i], v))
}

// free says that a coordinate at v, whose absolute value has the weight w, may move both ways without a kink.
func (x box) free(i int, v, w float64) bool {
	if v == 0 && w > 0 {
		return false
	}
	lo, hi := x.room(i)
	return lo < v && v < hi
}

// piece is as far as a coordinate that is free at v can move without a kink.
func (x box) piece(i int, v, w float64) (lo, hi float64) {
	lo, hi = x.room(i)
	switch {
	case w > 0 && v > 0:
		lo = 0
	case w > 0 && v < 0:
		hi = 0
	}
	return lo, hi
}

// reach is the share of a step from v, less than 1, with which a coordinate that is free comes to the end of its piece, and that end; 1 where it does not.
func (x box) reach(i int, v, step, w float64) (share, end float64) {
	lo, hi := x.piece(i, v, w)
	switch {
	case v+step <= lo:
		end = lo
	case v+step >= hi:
		end = hi
	default:
		return 1, 0
	}
	return math.Min(1, (end-v)/step), end
}

// over is by how much the slope g, minus the derivative of what is smooth, would move a coordinate at v that is not free; not positive where it would not.
func (x box) over(i int, v, w, g float64) float64 {
	lo, hi := x.room(i)
	switch {
	case v > 0:
		return w - g
	case v < 0:
		return w + g
	case g > 0 && hi > 0:
		return g - w
	case g < 0 && lo < 0:
		return -g - w
	}
	return 0
}
