package survival

import "math"

// KaplanMeier is the share of rows whose event has not come by a time (JASA 53, 1958): Share[k] from Times[k] on, and 1 before. The last time is that of the last row, with an event or not.
func KaplanMeier(y []float64) (times, share []float64) {
	order := sorted(y)
	s := 1.0
	for at := 0; at < len(order); {
		t, events, risk := math.Abs(y[order[at]]), 0, len(order)-at
		for ; at < len(order) && math.Abs(y[order[at]]) == t; at++ {
			if !math.Signbit(y[order[at]]) {
				events++
			}
		}
		s *= 1 - float64(events)/float64(risk)
		if events > 0 || at == len(order) {
			times, share = append(times, t), append(share, s)
		}
	}
	return times, share
}
