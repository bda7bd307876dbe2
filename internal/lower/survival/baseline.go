package survival

import (
	"math"
	"slices"
)

// Baseline is the cumulative hazard of a row of a value: Hazard[k] from Times[k] on, and 0 before the first. That of a
// row of value f is exp(f - Value) times as large, and the probability that its event comes after time t is
// exp(-exp(f - Value) hazard(t)).
type Baseline struct {
	Times  []float64 `json:"times"`
	Hazard []float64 `json:"hazard"`
	// Value is 0, but where the hazard of a row of value 0 is too large or too small for a number.
	Value float64 `json:"value,omitempty"`
}

// mostExponent bounds exponents whose exponentials, and sums of them, are numbers.
const mostExponent = 650

// Baseline is Breslow's estimate at the point, whose steps are the sums of m_k over the sums of risks of the terms of a
// time.
func (p *Point) Baseline() Baseline {
	var b Baseline
	if first, last := p.logs[0], p.logs[len(p.logs)-1]; max(math.Abs(first), math.Abs(last)) > mostExponent {
		b.Value = last // the least, so that no step is larger than its m
	}
	sum := 0.0
	for _, g := range p.l.groups {
		for _, v := range p.logs[g.term : g.term+g.terms] {
			sum += g.m * math.Exp(b.Value-v)
		}
		b.Times, b.Hazard = append(b.Times, g.time), append(b.Hazard, sum)
	}
	return b
}

// Survival is the probability that the event of a row of value f comes after time t.
func (b Baseline) Survival(f, t float64) float64 {
	k, _ := slices.BinarySearchFunc(b.Times, t, func(a, b float64) int {
		if a <= b {
			return -1
		}
		return 1
	})
	if k == 0 {
		return 1
	}
	return math.Exp(-math.Exp(f - b.Value + math.Log(b.Hazard[k-1])))
}
