package backends

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Status says how a solve ended, in one word: of a point that is no solution, why there is no better one.
type Status int

const (
	// Unsolved is the zero value: no solve has ended.
	Unsolved Status = iota
	// Optimal means that the recomputed residuals and gap meet the tolerances, or miss them by no more than rounding of
	// the numbers of the problem explains.
	Optimal
	// PrimalInfeasible means that Solution.Z proves that no x satisfies the constraints.
	PrimalInfeasible
	// DualInfeasible means that Solution.X is a direction along which the
	// objective falls without bound wherever the problem is feasible.
	DualInfeasible
	// Inaccurate means that the solver stopped with a point that misses the tolerances.
	Inaccurate
	// IterationLimit means that the iterations ran out before the tolerances were met.
	IterationLimit
	// TimeLimit means that the time ran out before the tolerances were met: that
	// of Options.TimeLimit, or until the deadline of the context.
	TimeLimit
	// Cancelled means that the context was cancelled.
	Cancelled
	// NumericalError means that no usable point was found.
	NumericalError
)

var statusNames = [...]string{"unsolved", "optimal", "primal_infeasible", "dual_infeasible", "inaccurate",
	"iteration_limit", "time_limit", "cancelled", "numerical_error"}

// String returns the status in the words of the command line.
func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return fmt.Sprintf("Status(%d)", int(s))
	}
	return statusNames[s]
}

// Decided says whether a status is a verdict.
func (s Status) Decided() bool {
	return s == Optimal || s == PrimalInfeasible || s == DualInfeasible
}

// Residuals measure a point on the caller's own data, without scaling. Norms
// are the largest absolute entry.
//
//	Primal = max(|Ax + s - b|, dist(s, K)) / max(1, |b|, |Ax|, |s|)
//	Dual   = max(|Px + q + A'z|, dist(z, K*)) / max(1, |q|, |Px|, |A'z|)
//	Gap    = |p - d| / max(1, min(|p|, |d|))
//
// with p and d the primal and the dual objective. Those of a [Solution] are added up in twice the working precision
// where the rounding of plain sums could matter, as where solutions are far, so that [Recheck] may find larger ones.
type Residuals struct {
	Primal, Dual, Gap float64
}

// Max returns the largest of the three.
func (r Residuals) Max() float64 { return max(r.Primal, r.Dual, r.Gap) }

// Solution is the outcome of one solve. All slices belong to the caller.
type Solution struct {
	Status Status
	// X, S and Z are the final point, of lengths n, m, m. With PrimalInfeasible, Z
	// is a certificate scaled to b'z - beta(z) = -1, and X and S are nil; with
	// DualInfeasible, X is a certificate scaled to q'x = -1, S = -AX, and Z is nil.
	// All are nil where a limit, a cancellation or an error left no finite point.
	X, S, Z []float64
	// Objective and DualObjective are recomputed from X and Z. Both are +Inf with
	// PrimalInfeasible, -Inf with DualInfeasible, and NaN without a point.
	Objective, DualObjective float64
	// Residuals are recomputed from X, S and Z. With PrimalInfeasible, Dual is the
	// residual of CheckPrimalInfeasible, with DualInfeasible, Primal is that of
	// CheckDualInfeasible, and the others are zero. They are NaN without a point.
	Residuals Residuals
	// Radius says how far a certificate reaches: with PrimalInfeasible, no x with all |x_j| <= Radius is
	// feasible; with DualInfeasible, no u and z with all |u_j|, |z_i| <= Radius are dual
	// feasible, Pu + A'z = -q. It is +Inf for an exact proof, and zero with other statuses.
	Radius float64
	// Distance bounds how far Objective is from the optimal value, as long as a solution has no entries more than
	// twice as large as those of X and Z. Zero with statuses other than Optimal.
	Distance float64
	// Iterations counts the solver's own iterations.
	Iterations int
	// Fresh says that the run which ended so began at the solver's own start, not at a given point or at the end of the
	// last solve.
	Fresh bool
	// SetupTime is the time of the last Setup or Update with the work that it
	// caused, wherever that was done; SolveTime is the time of the rest of this Solve.
	SetupTime, SolveTime time.Duration
	// Message is what the solver has to say beyond the status; often empty.
	Message string
	// History has the iterations of the run that ended so, with Options.History.
	History []Iteration
}

// Iteration is the point that an iteration begins with, in the solver's own form of the problem.
type Iteration struct {
	Objective, DualObjective float64
	Residuals                Residuals
}

// EndedBy returns the status of a Solve that ended because its context did: TimeLimit
// after a deadline, else Cancelled. It panics if the context is nil.
func EndedBy(ctx context.Context) Status {
	if ctx == nil {
		panic("backends: EndedBy: the context is nil")
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return TimeLimit
	}
	return Cancelled
}
