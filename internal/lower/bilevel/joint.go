package bilevel

import "context"

// Joint is a fit that can be solved with its validation rows in it, as the subproblems of VF-iDCA need it:
//
//	F(w) = min over x of  w.Validation L(x) + w.Train l(x) + w.Rho/2 |x - w.Centre|^2 + sum_i w.Penalties[i] P_i(x).
//
// F is concave in the weights, and its derivatives are L, l and the P_i at the minimiser: weights that are multipliers
// of constraints on these give a lower bound, and Newton's method finds the best one. See package multipliers.
type Joint interface {
	Fit
	// Joint returns a solver that begins at zero. Several may work at the same time.
	Joint() JointSolver
}

// JointWeights are those of [Joint], none of them negative. Centre has the shape of a point; it may be nil where Rho is
// 0, and then all penalties need positive weights.
type JointWeights struct {
	Validation, Train, Rho float64
	Centre                 [][]float64
	Penalties              []float64
	// Tol is an error of the objective that is of no interest, and Gap one of its bound, 0 for that of rounding. Fits for
	// which the last digits are cheap take no notice.
	Tol, Gap float64
}

// JointSolver solves a [Joint] fit whose losses are replaced by quadratic models around a point, each solve from the
// one before. Where the losses are quadratic, the models are the losses. It is for one goroutine at a time.
type JointSolver interface {
	// Model moves to x, nil for where it is, and models the losses there.
	Model(ctx context.Context, x [][]float64) error
	// Solve solves with the models over the variables that it works with at present, all others at zero, as exactly as
	// rounding lets it; Values and Objective are those of the models. The point is nil where the context ended or no
	// solution was found.
	Solve(ctx context.Context, w *JointWeights) (*JointPoint, error)
	// Curvature is -F'' in (w.Train, w.Penalties) at the last solution, by rows, for the weights that led to it: positive
	// semidefinite, and exact where F is smooth. It is nil where the context ended.
	Curvature(ctx context.Context, w *JointWeights) [][]float64
	// X is the last solution; the slices belong to the caller.
	X() [][]float64
	// Check looks at the losses themselves, and at all variables, at the last solution, for the weights that led to it:
	// the objective there, less gap, bounds F(w) from below. Variables that are missing are taken in; grew says that there
	// were some. The gap is infinite where the context ended.
	Check(ctx context.Context, w *JointWeights) (c JointPoint, err error)
	// Quadratic says that the models are the losses.
	Quadratic() bool
	// Work counts the multiplications, since the solver was made, of solves that may be long where many variables are in
	// use, so that programs made of many of them are given up at some work. That of others, which their number bounds,
	// is 0.
	Work() float64
}

// JointPoint is a solution of a [JointSolver].
type JointPoint struct {
	Values
	Objective float64
	// Gap and Grew are those of [JointSolver.Check].
	Gap  float64
	Grew bool
}
