// Package outcome says how a computation ended, on two axes as MathOptInterface (Legat, Dowson, Dias Garcia and
// Lubin 2022) has them: why it stopped, and what the point is that it leaves. A time limit may leave a point that is
// optimal, and a method that converged one that is not accurate enough. The words are those of the command's JSON.
package outcome

// Stop says why a computation stopped. Methods with reasons of their own have constants of this type for them.
type Stop string

const (
	// Converged: the method's own test of an end held, for a solution or for a certificate.
	Converged Stop = "converged"
	// IterationLimit: the most iterations that were allowed were made.
	IterationLimit Stop = "iteration_limit"
	// TimeLimit: a time limit, or the deadline of the context, was over.
	TimeLimit Stop = "time_limit"
	// Cancelled: the context was cancelled.
	Cancelled Stop = "cancelled"
	// Stalled: there was no further progress, mostly because of rounding.
	Stalled Stop = "stalled"
	// NumericalError: the method broke down, or what it claims does not hold.
	NumericalError Stop = "numerical_error"
)

// Found says what is known of the point that a computation leaves.
type Found string

const (
	// Optimal: a solution within the tolerances.
	Optimal Found = "optimal"
	// NearOptimal: a point that is not known to be optimal, with residuals of at most the square root of the tolerance.
	NearOptimal Found = "near_optimal"
	// Undecided: a point of which nothing is known but its residuals.
	Undecided Found = "undecided"
	// Infeasibility: a proof that no point satisfies the constraints.
	Infeasibility Found = "infeasibility_certificate"
	// Unboundedness: a direction along which the objective falls without bound wherever the problem is feasible.
	Unboundedness Found = "unboundedness_certificate"
	// None: there is no point.
	None Found = "none"
)
