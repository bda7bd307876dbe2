package regression

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/convex"
)

// Loss is what a prediction f of a target y costs, a convex function of f. A standardised model works on predictions and
// targets divided by the standard deviation sd of the target, an error in the user's units has sd 1; a loss with
// a length of its own, such as a threshold, divides it by sd too.
type Loss interface {
	// Sum is the sum of the losses of the predictions f of the targets y.
	Sum(f convex.Affine, y []float64, sd float64) convex.Convex
	// Value is one loss, and Derivative its derivative in f, a subgradient where there is none.
	Value(f, y, sd float64) float64
	Derivative(f, y, sd float64) float64
	// Curvature is the Lipschitz constant of the derivative, 0 where it is not continuous.
	Curvature() float64
}

// Squares is half the square of f - y.
type Squares struct{}

// Sum is half the sum of squares.
func (Squares) Sum(f convex.Affine, y []float64, _ float64) convex.Convex {
	return convex.SumSquares(f.Minus(convex.Const(y...))).Scale(0.5)
}

// Value is (f - y)^2 / 2.
func (Squares) Value(f, y, _ float64) float64 { return (f - y) * (f - y) / 2 }

// Derivative is f - y.
func (Squares) Derivative(f, y, _ float64) float64 { return f - y }

// Curvature is 1.
func (Squares) Curvature() float64 { return 1 }

// constant is a prediction c for all rows with the least loss, the mean for squares.
func constant(l Loss, y []float64, sd float64) float64 {
	if _, ok := l.(Squares); ok {
		return floats.Sum(y) / float64(len(y))
	}
	// The sum of the derivatives does not fall in c.
	slope := func(c float64) (sum float64) {
		for _, v := range y {
			sum += l.Derivative(c, v, sd)
		}
		return sum
	}
	lo, hi := slices.Min(y), slices.Max(y)
	// The best constant of some losses is outside of the targets, never far.
	for width := max(1, hi-lo); width < 1e3*max(1, hi-lo); width *= 2 {
		if slope(lo) > 0 {
			lo -= width
		}
		if slope(hi) < 0 {
			hi += width
		}
	}
	for { // down to neighbouring numbers
		c := lo + (hi-lo)/2
		if c <= lo || c >= hi {
			return c
		}
		if slope(c) < 0 {
			lo = c
		} else {
			hi = c
		}
	}
}
