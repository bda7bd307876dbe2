package hypergradient

import (
	"context"
	"math"
	"slices"
)

// Model is a penalised problem whose solution can be differentiated. Its methods may be
// called at the same time.
type Model interface {
	// Dim is the number of hyperparameters.
	Dim() int
	// LambdaMax is a weight that, given to all penalties, makes the solution trivial. It is the unit
	// of the hyperparameters.
	LambdaMax() float64
	// Path is a sequence of hyperparameters, neighbours in it not far apart, that a search without a start
	// tries to find out where to start.
	Path() [][]float64
	// Solve solves the lower level at lambda to a duality gap, or another bound of the error, of tol relative to
	// the objective at the trivial solution. start is a point of the same model to start from, or nil. The
	// error is for input without meaning; whether the tolerance was met is in the point.
	Solve(ctx context.Context, lambda []float64, tol float64, start *Point) (*Point, error)
	// Gradient is the hypergradient at a point of this model.
	Gradient(ctx context.Context, at *Point, o GradientOptions) ([]float64, error)
}

// Bounded is a model whose hyperparameters stay between bounds in a search; the lower ones are positive.
type Bounded interface {
	Model
	Bounds() (low, high []float64)
}

// Starter is a model for which any point is a better start than none, however far it is, and which says which.
type Starter interface {
	Model
	// Start returns the best of the points, of which there is one at least, to start from at lambda.
	Start(lambda []float64, points []*Point) *Point
}

// StarterOf returns a model as a [Starter], nil where it is none. Folds are one if all of theirs are, and take the best start of each.
func StarterOf(m Model) Starter {
	if f, ok := m.(*Folds); ok {
		out := folds{Folds: f}
		for _, part := range f.models {
			s := StarterOf(part)
			if s == nil {
				return nil
			}
			out.parts = append(out.parts, s)
		}
		return out
	}
	s, _ := m.(Starter)
	return s
}

// folds are folds of starters.
type folds struct {
	*Folds
	parts []Starter
}

// Start implements [Starter].
func (f folds) Start(lambda []float64, points []*Point) *Point {
	starts, of := make([]*Point, len(f.parts)), make([]*Point, len(points))
	for t, m := range f.parts {
		for k, pt := range points {
			of[k] = pt.State.([]*Point)[t]
		}
		starts[t] = m.Start(lambda, of)
	}
	return &Point{State: starts}
}

// Mode is a way to differentiate the lower level.
type Mode string

// The modes.
const (
	// Adjoint solves one linear system with the transposed Jacobian's matrix.
	Adjoint Mode = "adjoint"
	// Forward computes the Jacobian, a column for each hyperparameter.
	Forward Mode = "forward"
	// Truncated is Adjoint with as many steps of an iterative method at most as the system has unknowns: what the training rows
	// hardly determine is left out of the gradient, which is smaller than the exact one then.
	Truncated Mode = "truncated"
)

// GradientOptions say how to compute a hypergradient.
type GradientOptions struct {
	// Mode is Adjoint if empty. Models that lack the other mode say so.
	Mode Mode
	// Tol is the relative accuracy of iterative solves of the linear systems. Default 1e-10.
	Tol float64
}

func (o GradientOptions) tol() float64 {
	if o.Tol > 0 {
		return o.Tol
	}
	return 1e-10
}

// Point is a solution of the lower level.
type Point struct {
	// Lambda are the hyperparameters.
	Lambda []float64
	// X are the values of the lower-level variables, one slice for each variable.
	X [][]float64
	// Validation is the validation loss L(X).
	Validation float64
	// Gap bounds the error in the lower level's objective, relative as the tolerance; Solved says that it
	// met the tolerance or the limits of rounding.
	Gap    float64
	Solved bool
	// State is what the model needs to differentiate, and to start from this point.
	State any
}

// pathPoints is the number of points of a path with common values from pathTop to pathBottom times LambdaMax.
const (
	pathPoints          = 25
	pathTop, pathBottom = 0.8, 1e-3
)

// commonPath falls geometrically, all hyperparameters equal.
func commonPath(dim int, top float64) [][]float64 {
	path := make([][]float64, pathPoints)
	for i := range path {
		l := top * pathTop * math.Pow(pathBottom/pathTop, float64(i)/(pathPoints-1))
		path[i] = slices.Repeat([]float64{l}, dim)
	}
	return path
}
