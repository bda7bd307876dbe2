// Package lower is the contract of fits of the lower level, between the models that bring them (problems) and the
// methods that ask for them (dca, tune): it imports neither.
//
// # Formulation
//
// With a training loss l, penalties P_i and weights lambda_i >= 0, one for each hyperparameter, a [Fit] is
//
//	x(lambda) = argmin over x of  l(x) + sum_i lambda_i P_i(x),
//
// and in its constrained form, at radii r_i > 0,
//
//	v(r) = min over x of  l(x)   subject to P_i(x) <= r_i.
//
// What more a fit can do is in its [Traits]: the derivative of a validation loss L(x(lambda)) in lambda, for example.
//
// # Certificates
//
// Every answer has the gap to which it is solved, which the caller can recompute from the answer: the objective at x
// bounds the least one from above, and the residuals of the training rows at x, scaled until they are multipliers of
// the dual problem, bound it from below. The gap is the difference, or another bound of the error that the fit
// documents, in the unit of the objective at the trivial solution.
//
// # Rooms
//
// Fits by methods made for their kind take a fraction of the time of a conic program:
//
//   - [github.com/conetune/conetune/internal/lower/sparse]: linear, logistic and Poisson regressions whose penalties
//     make coefficients zero, one by one or in groups.
//   - [github.com/conetune/conetune/internal/lower/multipliers] and
//     [github.com/conetune/conetune/internal/lower/separable]: both programs of an iteration of VF-iDCA, for few
//     penalties and for many that are norms of groups of coefficients.
//   - [github.com/conetune/conetune/internal/lower/machine]: support vector machines in a box.
//   - [github.com/conetune/conetune/internal/lower/completion]: regressions with a matrix of low rank, of which some
//     entries are known.
//   - [github.com/conetune/conetune/internal/lower/fits]: these with the error on other rows, as the contract has it.
//
// All of them take designs of [github.com/conetune/conetune/internal/lower/design]. Nothing in them depends on the
// clock or on the number of threads: the same input gives the same bytes.
package lower

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Fit is a fit at given weights. Its methods may be called at the same time.
type Fit interface {
	// Dim is the number of hyperparameters.
	Dim() int
	// LambdaMax is a weight that, given to all penalties, makes the solution trivial. It is the unit
	// of the hyperparameters.
	LambdaMax() float64
	// Solve solves the lower level at lambda to a duality gap, or another bound of the error, of tol relative to
	// the objective at the trivial solution. start is a point of the same fit to start from, or nil. The
	// error is for input without meaning; whether the tolerance was met is in the point, which is nil with an error only.
	Solve(ctx context.Context, lambda []float64, tol float64, start *Point) (*Point, error)
	// Traits say what more the fit can do.
	Traits() Traits
}

// Traits are what a fit says of itself and can do beside [Fit.Solve]. A function is nil where it cannot.
type Traits struct {
	// Bounds are those of the hyperparameters in a search, the lower ones positive; nil stands for [LeastShare] and
	// [MostShare] of LambdaMax.
	Bounds func() (low, high []float64)
	// Path is a sequence of hyperparameters, neighbours in it not far apart, that a search without a start
	// tries to find out where to start.
	Path func() [][]float64
	// Gradient is the gradient of the validation loss in lambda, the hypergradient, at a point of this fit, by a mode and
	// to a relative accuracy of iterative solves. Fits that lack the forward mode say so.
	Gradient func(ctx context.Context, at *Point, mode Mode, tol float64) ([]float64, error)
	// Start returns the best of the points, of which there is one at least, to start from at lambda, where any point
	// is a better start than none, however far it is.
	Start func(lambda []float64, points []*Point) *Point
	// Coarse is a relative gap that is enough for a search and for the programs of VF-iDCA, for data so large that the
	// last digits of a solution cost most of its time and tell nothing of the hyperparameters; 0 for none in
	// particular. The validation loss then is not negative.
	Coarse float64
	// Piecewise says that the loss is linear in pieces. The validation loss of a point then is about as far from that of
	// the solution as its gap, and not as the root of that.
	Piecewise bool
	// Parts are the fit, or those of its folds, where it solves the programs of VF-iDCA faster than conic programs, as
	// only fits of this module can: package internal/lower/bilevel.
	Parts []Fit
	// Squared is |x - y|^2 over the values that two points of one of the Parts stand for, where these are a shorter form
	// of the values of the variables that a conic program would have, factors of a large matrix for example: of any
	// length. Conic programs cannot take its place, and no sums of points mean anything. Else it is nil.
	Squared func(x, y [][]float64) float64
	// LeastNorm, of a part of squares, returns the x of least |x|^2 that meets all training rows within radii,
	// which may be zero, of a training loss of at most loss; nil where it finds none.
	LeastNorm func(ctx context.Context, radii []float64, loss float64) ([][]float64, error)
}

// Compact says that points are a shorter form of values, see Squared.
func (t Traits) Compact() bool { return t.Squared != nil }

// Distance is |x - y|^2 for points of a fit.
func (t Traits) Distance(x, y [][]float64) float64 {
	if t.Squared != nil {
		return t.Squared(x, y)
	}
	sum := 0.0
	for k := range x {
		d := floats.Distance(x[k], y[k], 2)
		sum += d * d
	}
	return sum
}

// Point is a solution of the penalised form.
type Point struct {
	// Lambda are the hyperparameters.
	Lambda []float64
	// X are the values of the lower-level variables, one slice for each variable.
	X [][]float64
	// Validation is the validation loss L(X).
	Validation float64
	// Gap bounds the error in the lower level's objective, relative as the tolerance; Solved says that it
	// met the tolerance or the limits of rounding. A fit that computes no such bound leaves NaN, not 0.
	Gap    float64
	Solved bool
	// Folds are the validation losses of the folds that Validation is the mean of; nil without folds.
	Folds []float64
	// State is what the fit needs to differentiate, and to start from this point.
	State any
}

// Mode is a way to differentiate the lower level.
type Mode string

// The modes.
const (
	// Adjoint solves one linear system with the transposed Jacobian's matrix. Every fit with a gradient has it.
	Adjoint Mode = "adjoint"
	// Forward computes the Jacobian, a column for each hyperparameter.
	Forward Mode = "forward"
	// Truncated is Adjoint with as many steps of an iterative method at most as the system has unknowns: what the training
	// rows hardly determine is left out of the gradient, which is smaller than the exact one then.
	Truncated Mode = "truncated"
)

// LeastShare of LambdaMax is the least value of a hyperparameter in a search, and MostShare the largest one of the
// weight of a norm: the dual norm of the gradient at zero, times a factor for what the coefficients of other
// penalties can turn it by. The norm is zero there, and at every larger weight, of which a search could only learn
// that nothing changes.
const LeastShare, MostShare = 1e-5, 1e5

// BoundsOf returns the bounds of the hyperparameters of a fit, see [Traits].
func BoundsOf(p Fit) (low, high []float64) {
	if bounds := p.Traits().Bounds; bounds != nil {
		return bounds()
	}
	top := p.LambdaMax()
	return slices.Repeat([]float64{LeastShare * top}, p.Dim()), slices.Repeat([]float64{MostShare * top}, p.Dim())
}

// leastWeight is the share of the least positive weight that stands for zero.
const leastWeight = 1e-10

// Positive returns weights with tiny ones in the place of zeros: conic programs, and fits of coefficients without other
// penalties, need positive ones. The others stay, however large one of them is: beside a weight of 1e12 one of 1 counts
// as it does without.
func Positive(weights []float64) []float64 {
	least := math.Inf(1)
	for _, w := range weights {
		if w > 0 {
			least = math.Min(least, w)
		}
	}
	if math.IsInf(least, 1) {
		least = 0
	}
	least = math.Max(leastWeight*least, math.SmallestNonzeroFloat64)
	out := slices.Clone(weights)
	for j := range out {
		out[j] = math.Max(out[j], least)
	}
	return out
}
