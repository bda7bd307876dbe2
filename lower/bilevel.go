package lower

import (
	"context"
	"math"
)

// Bilevel is a fit that solves the two programs of an iteration of VF-iDCA without a conic program: the lower level within radii h, and the subproblem.
// Each answer has a gap, a bound of its error in the objective.
type Bilevel interface {
	Valued
	// Within returns a solver of the lower level, for one goroutine at a time.
	Within() WithinSolver
	// Subproblem returns a solver of subproblems of several fits of this kind, the parts, which are the folds of a cross-validation and share the radii;
	// so many at most are solved at once. It is for one goroutine at a time.
	Subproblem(parts []Bilevel, workers int) SubproblemSolver
}

// Scaled is a [Bilevel] that takes less time than conic programs for some sizes alone. The others are left to these.
type Scaled interface {
	Bilevel
	// Quick says whether so many parts like this one do.
	Quick(parts int) bool
}

// Interpolating is a [Bilevel] with a least-squares loss, of whose many solutions with the loss zero it finds the shortest.
type Interpolating interface {
	Bilevel
	// LeastNorm returns the x of least |x|^2 that meets all training rows within radii, which may be zero, of a training loss of at most loss; nil where it
	// finds none.
	LeastNorm(ctx context.Context, radii []float64, loss float64) ([][]float64, error)
}

// Coarse is a fit on data so large that the last digits of a solution cost most of its time and tell nothing of the hyperparameters. Its validation loss is not negative.
type Coarse interface {
	Penalised
	// Coarse is the relative gap that is enough for a search and for the programs of VF-iDCA, 0 for none in particular.
	Coarse() float64
}

// CoarseOf is the gap that is enough for a fit, 0 where it is not [Coarse]; of folds the smallest one.
func CoarseOf(p Penalised) float64 {
	if f, ok := p.(interface{ mean() *Folds }); ok {
		least := math.Inf(1)
		for _, part := range f.mean().parts {
			least = math.Min(least, CoarseOf(part))
		}
		return least
	}
	if c, ok := p.(Coarse); ok {
		return c.Coarse()
	}
	return 0
}

// WithinSolver solves the constrained form at one vector of radii after the other, each from the solve before.
type WithinSolver interface {
	// Begin makes the next solve start from a solution x of the penalised form with weights lambda, all positive.
	Begin(ctx context.Context, lambda []float64, x [][]float64) error
	// Solve solves the constrained form at radii, all positive, to a gap of tol, absolute; where it cannot, the solution says that it is not solved. The
	// error is for input without meaning.
	Solve(ctx context.Context, radii []float64, tol float64) (*Within, error)
}

// SubproblemSolver solves one subproblem after the other, each from the one before.
type SubproblemSolver interface {
	// Solve returns a solution, without X where there is none.
	Solve(ctx context.Context, c *Centre) (*Subsolution, error)
}

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
