package lower

// Status says how a solve ended.
type Status string

// The ways in which a solve ends.
const (
	// Optimal: the gap is below the tolerance.
	Optimal Status = "optimal"
	// Exhausted: the optimality conditions hold to rounding, and the gap cannot be
	// brought below the tolerance in floating point.
	Exhausted Status = "exhausted"
	// EpochLimit: the most epochs of coordinate descent that were allowed were done.
	EpochLimit Status = "epoch limit"
	// Stalled: the gap no longer falls, because of rounding in data of very different sizes.
	Stalled Status = "stalled"
	// Failed: the path of a support vector machine did not come to its end.
	Failed Status = "failed"
	// Cancelled: the context ended.
	Cancelled Status = "cancelled"
)
