package sparse

import (
	"fmt"
	"math"
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

// check says what is wrong with the terms of p features, and returns copies of full length.
func (t Terms) check(p int) (Terms, error) {
	out := Terms{Factors: make([]float64, p), Lower: make([]float64, p), Upper: make([]float64, p)}
	for _, of := range []struct {
		name     string
		from, to []float64
		standard float64
		good     func(v float64) bool
	}{
		{"factor", t.Factors, out.Factors, 1, func(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }},
		{"lower bound", t.Lower, out.Lower, math.Inf(-1), func(v float64) bool { return v <= 0 }},
		{"upper bound", t.Upper, out.Upper, math.Inf(1), func(v float64) bool { return v >= 0 }},
	} {
		if of.from != nil && len(of.from) != p {
			return out, fmt.Errorf("sparse: %d %ss for %d features", len(of.from), of.name, p)
		}
		for j := range p {
			of.to[j] = of.standard
			if of.from == nil {
				continue
			}
			if of.to[j] = of.from[j]; !of.good(of.from[j]) {
				return out, fmt.Errorf("sparse: %s of feature %d is %g", of.name, j, of.from[j])
			}
		}
	}
	return out, nil
}

// terms are checked, nil slices where there are none. Feature p, after the others, is an intercept.
type terms struct {
	p            int
	factor       []float64
	lower, upper []float64
}

// weight is the factor of a feature.
func (t terms) weight(j int) float64 {
	switch {
	case j == t.p:
		return 0
	case t.factor == nil:
		return 1
	}
	return t.factor[j]
}

// room are the bounds of a feature.
func (t terms) room(j int) (lo, hi float64) {
	if t.lower == nil || j == t.p {
		return math.Inf(-1), math.Inf(1)
	}
	return t.lower[j], t.upper[j]
}

// always says that a feature is not penalised, so that it is in use.
func (t terms) always(j int) bool {
	lo, hi := t.room(j)
	return t.weight(j) == 0 && lo < hi
}

// of are the bounds of entries of k classes; nil for none.
func (t terms) of(entries []int, k int) (lower, upper []float64) {
	if t.lower == nil {
		return nil, nil
	}
	for _, e := range entries {
		lo, hi := t.room(e / k)
		lower, upper = append(lower, lo), append(upper, hi)
	}
	return lower, upper
}

// off is by how much a coefficient at v of a feature misses the conditions of optimality, where its absolute value has
// the weight w and g is minus the derivative of what is smooth.
func (t terms) off(j int, v, w, g float64) float64 {
	switch lo, hi := t.room(j); {
	case lo < v && v < hi && v != 0:
		return math.Abs(g - w*sign(v))
	case v != 0:
		return math.Max(0, w-g*sign(v))
	case g > 0 && hi > 0 || g < 0 && lo < 0:
		return math.Max(0, math.Abs(g)-w)
	}
	return 0
}
