// Package outcome says why a computation ended, in the words of the command's JSON.
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
