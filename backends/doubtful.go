package backends

import (
	"fmt"
	"math"
	"slices"
)

const (
	// harmless is how much, relative to the objective, the objective of a problem that may not be convex may fall below
	// that of a point for this still to count as optimal.
	harmless = 1e-3
	// The points among which it is optimal must reach so many times further from it than zero does.
	farther = 10
)

// judgeDoubtful lets an optimal point of a problem whose P + D is convex, with D = shift times the diagonal of P, stand
// as optimal only where that hardly matters: x satisfies the conditions of optimality, so any feasible y has
//
//	f(y) >= f(x) + 1/2 (y-x)'P(y-x) >= f(x) - 1/2 (y-x)'D(y-x).
//
// The last term must be harmless for all y within the bounds of the variables, or these must be finite and it must be
// harmless for all y farther from x than zero is. Data of few digits pass, as VALUES of Maros and Meszaros does.
func (s *checkedSolver) judgeDoubtful(out *Solution) {
	bounds := s.judged.check.known.about(&s.data).single()
	lower, upper := slices.Clone(bounds.lower), slices.Clone(bounds.upper)
	tighten(&s.data, s.low, s.high, lower, upper)
	most, size := 0.0, 0.0 // 1/2 (y-x)'D(y-x) at most, and for y = 0
	entries(s.data.P, func(i, j int, v float64) {
		if x := out.X[j]; i == j {
			d, reach := s.shift*v, max(upper[j]-x, x-lower[j], 0)
			most += d * reach * reach / 2
			size += d * x * x / 2
		}
	})
	what := fmt.Sprintf("P is not quite convex, with an eigenvalue of %.1e of its diagonal", -s.shift)
	allowed := harmless * max(1, math.Abs(out.Objective))
	switch {
	case most <= allowed:
		out.Distance = most
		addMessage(out, fmt.Sprintf("%s; within the bounds of the variables the objective is nowhere lower by more than %.2g",
			what, most))
	case !math.IsInf(most, 1) && farther*farther*size <= allowed:
		out.Distance = allowed
		addMessage(out, fmt.Sprintf(
			"%s; the objective is not lower by more than %.2g at points up to %.0f times as far away as zero", what, allowed,
			math.Sqrt(allowed/size)))
	default:
		out.Status = Inaccurate
		addMessage(out, what+", and the variables are not bounded closely enough to say that the point is optimal")
	}
}

// tighten narrows bounds of the variables by what the rows of cones that are products of intervals, which it is given,
// leave to each, given the bounds of the others.
func tighten(p *Problem, low, high, lower, upper []float64) {
	_, m := p.Dims()
	// The least and the largest value of each row, and how many infinite terms they have.
	least, most := make([]float64, m), make([]float64, m)
	belows, aboves := make([]int32, m), make([]int32, m)
	entries(p.A, func(i, j int, a float64) {
		low, high := term(a, lower[j], upper[j])
		if math.IsInf(low, 0) {
			belows[i]++
		} else {
			least[i] += low
		}
		if math.IsInf(high, 0) {
			aboves[i]++
		} else {
			most[i] += high
		}
	})
	const slack = 1e-9 // for rounding
	entries(p.A, func(i, j int, a float64) {
		if math.IsNaN(low[i]) {
			return
		}
		own, ownHigh := term(a, lower[j], upper[j])
		// a x_j = (b - s) - the others, with b - s in [b - high, b - low]
		othersLeast, othersMost := math.Inf(-1), math.Inf(1)
		switch {
		case belows[i] == 0:
			othersLeast = least[i] - own
		case belows[i] == 1 && math.IsInf(own, 0):
			othersLeast = least[i]
		}
		switch {
		case aboves[i] == 0:
			othersMost = most[i] - ownHigh
		case aboves[i] == 1 && math.IsInf(ownHigh, 0):
			othersMost = most[i]
		}
		from, to := (p.B[i]-high[i]-othersMost)/a, (p.B[i]-low[i]-othersLeast)/a
		if a < 0 {
			from, to = to, from
		}
		if from-slack*(1+math.Abs(from)) > lower[j] {
			lower[j] = from - slack*(1+math.Abs(from))
		}
		if to+slack*(1+math.Abs(to)) < upper[j] {
			upper[j] = to + slack*(1+math.Abs(to))
		}
	})
}

// term is the range of a x_j for x_j between l and u.
func term(a, l, u float64) (low, high float64) {
	if a < 0 {
		l, u = u, l
	}
	return a * l, a * u
}
