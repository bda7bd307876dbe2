package completion

import (
	"math"

	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/outcome"
)

// stays is the share of the gap of the round before above which it has hardly changed, and aimed that of the gap that
// the next round aims at.
const stays, aimed = 0.5, 0.7

// roundingGap is a gap, relative to the objective at zero, below which rounding may keep it from falling: singular
// values of the residual are known to some 1e-12 of the largest.
const roundingGap = 1e-11

// minimize solves the objective to an absolute gap.
func (f *factored) minimize(gap float64) (objective, reached float64, status outcome.Stop, rounds int) {
	unit := math.Max(f.j.unit, math.SmallestNonzeroFloat64)
	var stall numerics.Stall
	last := math.Inf(1)
	grew := true
	f.refresh()
	tol := gap / unit
	for rounds = 1; ; rounds++ {
		f.descend(tol, grew) // where a look found no missing columns there is no other so soon
		if f.end.Look() {
			return f.objective(), math.Inf(1), outcome.Cancelled, rounds
		}
		objective, reached, grew = f.certify(gap)
		before := last
		last = reached
		idle := stall.Idle(reached)
		// The gap goes with the gradient, what a step promises with its square. While columns are missing they are most of
		// the gap, unless it stays.
		switch {
		case !grew && f.bent == 0:
			tol *= math.Max(0.05, math.Min(0.5, aimed*gap/reached))
		case reached > stays*before:
			tol /= 2
		}
		switch {
		case f.end.Look():
			return objective, reached, outcome.Cancelled, rounds
		case reached <= gap:
			return objective, reached, outcome.Converged, rounds
		case idle >= 5 && !grew && reached <= roundingGap*f.j.unit:
			return objective, reached, numerics.Exhausted, rounds
		case rounds >= jointRounds:
			return objective, reached, outcome.IterationLimit, rounds
		}
	}
}
