// Package bilevel is the contract of fits that solve the programs of VF-iDCA, between package dca and the rooms that
// solve them: multipliers and separable of few and of many penalties, and package machine.
package bilevel

import (
	"context"

	"github.com/conetune/conetune/lower"
)

// Fit is a fit that solves the two programs of an iteration of VF-iDCA without a conic program: the lower level within
// radii h, and the subproblem. Each answer has a gap, a bound of its error in the objective.
type Fit interface {
	lower.Fit
	// Shape is the number of values of each variable of a point.
	Shape() []int
	// Values are the functions at x, which has the shape.
	Values(x [][]float64) Values
	// Within returns a solver of the lower level, for one goroutine at a time.
	Within() WithinSolver
	// Subproblem returns a solver of subproblems of several fits of this kind, the parts, which are the folds of a
	// cross-validation and share the radii; so many at most are solved at once. It is for one goroutine at a time.
	Subproblem(parts []Fit, workers int) Subproblem
}

// Parts are the parts of a fit that solve these programs, nil where it has none.
func Parts(fit lower.Fit) (parts []Fit) {
	for _, p := range fit.Traits().Parts {
		parts = append(parts, p.(Fit))
	}
	return parts
}

// Values are the functions of a fit at a point: the losses L on validation and l on training rows, and the penalties
// P_i.
type Values struct {
	Validation, Train float64
	Penalties         []float64
}

// WithinSolver solves the constrained form at one vector of radii after the other, each from the solve before.
type WithinSolver interface {
	// Begin makes the next solve start from a solution x of the penalised form with weights lambda, all positive.
	Begin(ctx context.Context, lambda []float64, x [][]float64) error
	// Solve solves the constrained form at radii, all positive, to a gap of tol, absolute; where it cannot, the solution
	// says that it is not solved. The error is for input without meaning.
	Solve(ctx context.Context, radii []float64, tol float64) (*Within, error)
}

// Within is a solution of the constrained form. As v is convex, Loss - Lambda'(r' - r) bounds v(r') from below for all
// radii r', up to the gap.
type Within struct {
	// X are the values of the lower-level variables, one slice for each variable.
	X [][]float64
	// Lambda are the multipliers of the radii, none of them negative: the weights of the penalised form with the same
	// solution. A hyperparameter that is no weight but a bound of the penalised form, too, has the multiplier of the
	// bound.
	Lambda []float64
	// Loss is l(X).
	Loss float64
	// Gap and Solved are those of a [lower.Point].
	Gap    float64
	Solved bool
}

// Subproblem solves one subproblem after the other, each from the one before. The solution is without X where there is
// none.
type Subproblem func(ctx context.Context, c *Centre) (*Subsolution, error)

// Centre is what a subproblem is made of, with x = (x^1, .., x^T) of the parts and losses that are means over them:
//
//	minimize   L(x) + Rho/2 |x - X|^2 + Rho/2 |r - R|^2 + Alpha t
//	subject to l(x) - Value + Gamma'(r - R) - Epsilon <= t,  P_j(x^t) - r_j <= t,  t >= 0,  Low <= r <= High.
type Centre struct {
	X          [][][]float64 // of each part
	R          []float64
	Value      float64
	Gamma      []float64
	Epsilon    float64
	Alpha, Rho float64 // positive
	Low, High  []float64
	Tol        float64 // bounds the gap, absolute
}

// Subsolution is the solution of a subproblem.
type Subsolution struct {
	X [][][]float64
	R []float64
	// M0 is the multiplier of the first constraint, M those of the penalties of each part.
	M0 float64
	M  [][]float64
	// Objective is the objective, and Gap bounds its distance from the optimum.
	Objective, Gap float64
	Solved         bool
	// Fits counts the fits of the parts.
	Fits int
}
