package regression

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/problems/dataset"
)

// Loss is what a prediction f of a target y costs, a convex function of f. A standardised model works on predictions and
// targets divided by the standard deviation sd of the target, an error in the user's units has sd 1; a loss with
// a length of its own, such as a threshold, divides it by sd too.
type Loss interface {
	// Sum is the sum of the losses of the predictions f of the targets y, times the weights, which are not negative, nil for ones; see [Total].
	Sum(f convex.Affine, y, weights []float64, sd float64) convex.Convex
	// Value is one loss, and Derivative its derivative in f, a subgradient where there is none.
	Value(f, y, sd float64) float64
	Derivative(f, y, sd float64) float64
}

// Squares is half the square of f - y.
type Squares struct{}

// Total is the sum of losses, each times its weight; nil for ones.
func Total(losses convex.Convex, weights []float64) convex.Convex {
	if weights == nil {
		return losses.Sum()
	}
	return losses.Dot(weights)
}

// Sum is half the sum of squares.
func (Squares) Sum(f convex.Affine, y, weights []float64, _ float64) convex.Convex {
	r := f.Minus(convex.Const(y...))
	if weights != nil {
		root := make([]float64, len(weights))
		for i, w := range weights {
			root[i] = math.Sqrt(w)
		}
		r = r.MulMat(mat.NewDiagDense(len(root), root))
	}
	return convex.SumSquares(r).Scale(0.5)
}

// Value is (f - y)^2 / 2.
func (Squares) Value(f, y, _ float64) float64 { return (f - y) * (f - y) / 2 }

// Derivative is f - y.
func (Squares) Derivative(f, y, _ float64) float64 { return f - y }

// constant is a prediction c for all rows with the least loss by their weights, nil for equal ones; the mean for squares.
func constant(l Loss, y, weights []float64, sd float64) float64 {
	if _, ok := l.(Squares); ok {
		return (&dataset.Data{Y: y, Weights: weights}).Mean(y)
	}
	y, weights = tally(y, weights)
	// The sum of the derivatives does not fall in c.
	slope := func(c float64) (sum float64) {
		for i, v := range y {
			d := l.Derivative(c, v, sd)
			if weights != nil {
				d *= weights[i]
			}
			sum += d
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

// tally are the different values of y in the order in which they come first, with the sums of their weights, nil for ones.
func tally(y, weights []float64) (values, sums []float64) {
	at := make(map[float64]int)
	for i, v := range y {
		k, known := at[v]
		if !known {
			k = len(values)
			at[v] = k
			values, sums = append(values, v), append(sums, 0)
		}
		if weights == nil {
			sums[k]++
		} else {
			sums[k] += weights[i]
		}
	}
	return values, sums
}
