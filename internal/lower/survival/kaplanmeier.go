package survival

import "math"

// KaplanMeier is the share of rows, by their weights, nil for ones, whose event has not come by a time (JASA 53, 1958):
// Share[k] from Times[k] on, and 1 before. The last time is that of the last row, with an event or not.
func KaplanMeier(y, weights []float64) (times, share []float64) {
	order, of := sorted(y), Part{Weights: weights}.weight
	risk, s := 0.0, 1.0 // whose time is to come
	for _, i := range order {
		risk += of(i)
	}
	for at := 0; at < len(order); {
		t, some, events, gone := math.Abs(y[order[at]]), false, 0.0, 0.0
		for ; at < len(order) && math.Abs(y[order[at]]) == t; at++ {
			if gone += of(order[at]); !math.Signbit(y[order[at]]) {
				some, events = true, events+of(order[at])
			}
		}
		s *= 1 - math.Min(1, events/risk)
		risk -= gone
		if at == len(order) && some && events == gone { // whatever the rounding
			s = 0
		}
		if some || at == len(order) {
			times, share = append(times, t), append(share, s)
		}
	}
	return times, share
}
