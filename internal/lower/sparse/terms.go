package sparse

import (
	"fmt"
	"math"
	"slices"
)

// Terms are what a regression says of each of its p features. The zero value says nothing.
type Terms struct {
	// Factors multiply both penalties of a feature; nil for 1. A feature with the factor 0 is not penalised.
	Factors []float64
	// Lower and Upper bound the coefficients, Lower <= 0 <= Upper; either may be nil for none, and entries may be
	// infinite.
	Lower, Upper []float64
}

// Plain says that there are none.
func (t Terms) Plain() bool { return t.Factors == nil && t.Lower == nil && t.Upper == nil }

// check says what is wrong with the terms of p features, and returns copies of full length, with those of an intercept
// after the features.
func (t Terms) check(p int) (Terms, error) {
	out := Terms{
		Factors: slices.Repeat([]float64{1}, p+1), Lower: slices.Repeat([]float64{math.Inf(-1)}, p+1),
		Upper: slices.Repeat([]float64{math.Inf(1)}, p+1),
	}
	out.Factors[p] = 0
	for _, of := range []struct {
		name     string
		from, to []float64
		good     func(v float64) bool
	}{
		{"factor", t.Factors, out.Factors, func(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }},
		{"lower bound", t.Lower, out.Lower, func(v float64) bool { return v <= 0 }},
		{"upper bound", t.Upper, out.Upper, func(v float64) bool { return v >= 0 }},
	} {
		if of.from != nil && len(of.from) != p {
			return out, fmt.Errorf("sparse: %d %ss for %d features", len(of.from), of.name, p)
		}
		for j, v := range of.from {
			if of.to[j] = v; !of.good(v) {
				return out, fmt.Errorf("sparse: %s of feature %d is %g", of.name, j, v)
			}
		}
	}
	return out, nil
}

// always says that a feature is not penalised, so that it is in use.
func (t Terms) always(j int) bool { return t.Factors[j] == 0 && t.Lower[j] < t.Upper[j] }

// of are the bounds of entries of k classes.
func (t Terms) of(entries []int, k int) (lower, upper []float64) {
	for _, e := range entries {
		lower, upper = append(lower, t.Lower[e/k]), append(upper, t.Upper[e/k])
	}
	return lower, upper
}

// off is by how much a coefficient at v of a feature misses the conditions of optimality, where its absolute value has
// the weight w and g is minus the derivative of what is smooth.
func (t Terms) off(j int, v, w, g float64) float64 {
	switch lo, hi := t.Lower[j], t.Upper[j]; {
	case lo < v && v < hi && v != 0:
		return math.Abs(g - w*sign(v))
	case v != 0:
		return math.Max(0, w-g*sign(v))
	case g > 0 && hi > 0 || g < 0 && lo < 0:
		return math.Max(0, math.Abs(g)-w)
	}
	return 0
}
