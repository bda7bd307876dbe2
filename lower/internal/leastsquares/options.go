package leastsquares

import (
	"fmt"
	"math"
)

// Limits are the options of a solve that all solvers have; 0 stands for the default.
type Limits struct {
	Tol                float64 // of the gap, relative to [Data.Scale]
	MaxEpochs, Threads int
}

// WithDefaults checks the limits and fills in the defaults, 1e-8, 100000 and 1.
func (l Limits) WithDefaults() (Limits, error) {
	if !(l.Tol >= 0) || math.IsInf(l.Tol, 1) {
		return l, fmt.Errorf("tolerance %g, expected a finite number that is not negative", l.Tol)
	}
	if l.MaxEpochs < 0 || l.Threads < 0 {
		return l, fmt.Errorf("%d epochs and %d threads at most, expected numbers that are not negative", l.MaxEpochs, l.Threads)
	}
	if l.Tol == 0 {
		l.Tol = 1e-8
	}
	if l.MaxEpochs == 0 {
		l.MaxEpochs = 100000
	}
	l.Threads = max(1, l.Threads)
	return l, nil
}

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
