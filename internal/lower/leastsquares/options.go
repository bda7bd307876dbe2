package leastsquares

import (
	"fmt"
	"math"
)

// Spread checks the weights called name, of which there are none, one or p, and returns all p.
func Spread(name string, w []float64, p int) ([]float64, error) {
	if len(w) > 1 && len(w) != p {
		return nil, fmt.Errorf("%d weights %s for %d features, expected none, one or %d", len(w), name, p, p)
	}
	for j, v := range w {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("weight %s[%d] is %g, expected a finite number that is not negative", name, j, v)
		}
	}
	if len(w) == p && p > 0 {
		return w, nil
	}
	out := make([]float64, p)
	if len(w) == 1 {
		for j := range out {
			out[j] = w[0]
		}
	}
	return out, nil
}
