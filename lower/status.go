package lower

import "github.com/conetune/conetune/outcome"

// Status says how a solve ended. What it shares with other computations are the reasons of package outcome.
type Status = outcome.Stop

// The ways in which a solve ends.
const (
	// Optimal: the gap is below the tolerance.
	Optimal = outcome.Converged
	// Exhausted: the optimality conditions hold to rounding, and the gap cannot be
	// brought below the tolerance in floating point.
	Exhausted Status = "exhausted"
	// EpochLimit: the most epochs of coordinate descent, or the most work, that was allowed was done.
	EpochLimit = outcome.IterationLimit
	// Stalled: the gap no longer falls, because of rounding in data of very different sizes.
	Stalled = outcome.Stalled
	// Failed: the path of a support vector machine did not come to its end.
	Failed = outcome.NumericalError
	// Cancelled: the context ended.
	Cancelled = outcome.Cancelled
)
