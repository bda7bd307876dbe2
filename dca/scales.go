package dca

import (
	"math"
	"slices"

	"github.com/conetune/conetune/lower"
)

// Weights of many scales.
//
// Solvers of conic programs measure what they miss by the largest numbers of a program. A weight of 1e12 beside
// others of 1 hides these from them.

// leastShare of the weight that makes the solution zero is a weight that no conic program tells from a smaller one.
const leastShare = 1e-10

// clipped are the weights for conic programs: those of norms from leastShare to [lower.MostShare] times the weight
// that, common to all, makes the solution zero, of which the path of the program tells. The norm is zero for
// certain at the upper end, and so the solution that of larger weights.
func (q *Penalized) clipped(weights []float64) []float64 {
	top := 0.0
	for _, lambda := range q.program.Path {
		top = math.Max(top, slices.Max(lambda))
	}
	low, high := leastShare*top, lower.MostShare*top
	if !(high > 0) || slices.Min(weights) >= low && slices.Max(weights) <= high {
		return weights
	}
	out := slices.Clone(weights)
	for k, norm := range q.norms() {
		if norm {
			out[k] = math.Max(low, math.Min(out[k], high))
		}
	}
	return out
}

// norms says which kinds of penalties grow in proportion to x, as norms do, which some weight brings to zero, and
// squares do not.
func (q *Penalized) norms() []bool {
	out := make([]bool, q.kinds)
	for k := range out {
		out[k] = true
	}
	for _, b := range q.blocks {
		at := func(factor float64) (rows [][]float64) {
			var x [][]float64
			for _, v := range b.level.X {
				values := make([]float64, v.Len())
				for i := range values {
					values[i] = factor * float64(1+i%7) * float64(1-i%2*2)
				}
				x = append(x, values)
			}
			for _, c := range b.level.Constraints {
				rows = append(rows, c.Eval(point(b.level.X, x)))
			}
			return rows
		}
		once, twice := at(1), at(2)
		for c, rows := range b.rows {
			for i, j := range rows {
				if v := once[c][i]; j >= 0 && !(math.Abs(twice[c][i]-2*v) <= 1e-9*v) {
					out[q.kindOf[j]] = false
				}
			}
		}
	}
	return out
}

// worse says that values of the variables have a larger objective than x = 0, which is feasible where there are no
// constraints.
func (q *Penalized) worse(x [][]float64) bool {
	for _, b := range q.blocks {
		if len(b.level.Set) > 0 || slices.ContainsFunc(b.rows, func(rows []int) bool { return slices.Contains(rows, -1) }) {
			return false
		}
	}
	zero := make([][]float64, len(x))
	for i, v := range x {
		zero[i] = make([]float64, len(v))
	}
	return q.objective(x) > (1+accept)*q.objective(zero)
}

// objective is l + sum of weights times penalties.
func (q *Penalized) objective(x [][]float64) (f float64) {
	for _, b := range q.blocks {
		pt := point(b.level.X, x[:len(b.level.X)])
		x = x[len(b.level.X):]
		f += b.level.Train.Eval(pt)[0]
		for c, rows := range b.rows {
			values := b.level.Constraints[c].Eval(pt)
			for i, j := range rows {
				if j >= 0 {
					f += b.weights[q.kindOf[j]].Values()[0] * q.share[j] * values[i]
				}
			}
		}
	}
	return f
}
