package regression

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/convex"
)

// Loss is a convex function of a residual r, prediction minus target, that is 0 at 0 and positive elsewhere. A standardised
// model works on residuals divided by the standard deviation sd of the target, an error in the user's units
// has sd 1; a loss with a length of its own, such as a threshold, divides it by sd too.
type Loss interface {
	// Sum is the sum of the loss over the entries of r.
	Sum(r convex.Affine, sd float64) convex.Convex
	// Value is the loss of one residual, and Derivative its derivative, a subgradient where there is none.
	Value(r, sd float64) float64
	Derivative(r, sd float64) float64
	// Curvature is the Lipschitz constant of the derivative, 0 where it is not continuous.
	Curvature() float64
}

// Squares is half the square of the residual.
type Squares struct{}

// Sum is half the sum of squares.
func (Squares) Sum(r convex.Affine, _ float64) convex.Convex { return convex.SumSquares(r).Scale(0.5) }

// Value is r^2 / 2.
func (Squares) Value(r, _ float64) float64 { return r * r / 2 }

// Derivative is r.
func (Squares) Derivative(r, _ float64) float64 { return r }

// Curvature is 1.
func (Squares) Curvature() float64 { return 1 }

// constant is a constant c with the least loss of c - y, the mean for squares.
func constant(l Loss, y []float64, sd float64) float64 {
	if _, ok := l.(Squares); ok {
		return floats.Sum(y) / float64(len(y))
	}
	// The sum of the derivatives does not fall in c: bisection, down to neighbouring numbers.
	lo, hi := slices.Min(y), slices.Max(y)
	for {
		c := lo + (hi-lo)/2
		if c <= lo || c >= hi {
			return c
		}
		sum := 0.0
		for _, v := range y {
			sum += l.Derivative(c-v, sd)
		}
		if sum < 0 {
			lo = c
		} else {
			hi = c
		}
	}
}
