package dca

import (
	"math"
	"slices"

	"github.com/conetune/conetune/lower"
)

// leastShare of the weight that makes the solution zero is a weight that no conic program tells from a smaller one.
const leastShare = 1e-10

// clipped are the weights for conic programs, which measure what they miss by the largest numbers of a program, so that
// a weight of 1e12 hides those beside it: from leastShare to [lower.MostShare] times the weight that, common to all,
// makes the solution zero, of which the path of the program tells. A norm is zero for certain at the upper end.
func (q *Penalized) clipped(weights []float64) []float64 {
	top := 0.0
	for _, lambda := range q.form.program.Path {
		top = math.Max(top, slices.Max(lambda))
	}
	if !(top > 0) {
		return weights
	}
	out := slices.Clone(weights)
	for j, w := range out {
		out[j] = math.Max(leastShare*top, math.Min(w, lower.MostShare*top))
	}
	return out
}
