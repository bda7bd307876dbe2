package numerics

import "github.com/conetune/conetune/outcome"

// Exhausted says that the optimality conditions hold to rounding, and that the gap cannot be brought below the
// tolerance in floating point.
const Exhausted outcome.Stop = "exhausted"

// falls is the share that a gap has to fall to for a round not to be idle.
const falls = 0.9

// Stall watches a gap from round to round. The zero value has seen none.
type Stall struct {
	least float64
	idle  int
	begun bool
}

// Idle is told the gap of a round, and returns how many rounds ago it last fell by a tenth.
func (s *Stall) Idle(gap float64) int {
	if s.idle++; !s.begun || gap < falls*s.least {
		s.Restart()
		s.least, s.begun = gap, true
	}
	return s.idle
}

// Restart counts from this round.
func (s *Stall) Restart() { s.idle = 0 }
