package backends

import (
	"fmt"
	"math"
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
	lower, upper := bounds.lower, bounds.upper
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
