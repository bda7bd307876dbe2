package regression

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// Loss is what the predictions f of a row cost, one for each output, a convex function of them: a model's declaration
// for conic programs, errors and fits. A standardised model works on predictions and targets divided by the standard
// deviation sd of the target, an error in the user's units has sd 1; a loss with a length of its own, such as a
// threshold, divides it by sd too. The zero value is half the square of f - y.
type Loss struct {
	// Sum is the sum of the losses at the predictions f, those of all rows for one output after the other, of the targets
	// y, in the same order where there are several, times the weights, which are not negative, nil for ones; see [total].
	Sum func(f convex.Expr, y, weights []float64, sd float64) convex.Expr
	// Value is the loss of one row, with its target or its several targets.
	Value func(f, y []float64, sd float64) float64
	// Slope is the derivative of that with one output, a subgradient where there is none; nil where Net.Fit says the
	// largest weight.
	Slope func(f, y, sd float64) float64
	// Residuals vanish exactly where the losses do; nil where there are none.
	Residuals func(f convex.Expr, y []float64, sd float64) convex.Expr
	// Engine is the loss of package glm, of targets divided by sd; nil for squares.
	Engine func(sd float64) glm.Loss
}

// squares is the zero value filled in.
var squares = Loss{
	Sum:       sumOfSquares,
	Value:     func(f, y []float64, _ float64) float64 { return (f[0] - y[0]) * (f[0] - y[0]) / 2 },
	Slope:     func(f, y, _ float64) float64 { return f - y },
	Residuals: differences,
}

// sumOfSquares is half the sum of squares.
func sumOfSquares(f convex.Expr, y, weights []float64, sd float64) convex.Expr {
	r := differences(f, y, sd)
	if weights != nil {
		root := make([]float64, len(weights))
		for i, w := range weights {
			root[i] = math.Sqrt(w)
		}
		r = convex.Mul(mat.NewDiagDense(len(root), root), r)
	}
	return convex.Scale(0.5, convex.SumSquares(r))
}

// differences are f - y.
func differences(f convex.Expr, y []float64, _ float64) convex.Expr {
	return convex.Sub(f, y)
}

// total is the sum of losses, each times its weight; nil for ones.
func total(losses convex.Expr, weights []float64) convex.Expr {
	if weights == nil {
		return convex.Sum(losses)
	}
	return convex.Dot(weights, losses)
}

// constant is a prediction c for all rows with the least loss by their weights, nil for equal ones.
func constant(l Loss, y, weights []float64, sd float64) float64 {
	y, weights = tally(y, weights)
	// The sum of the derivatives does not fall in c.
	slope := func(c float64) (sum float64) {
		for i, v := range y {
			d := l.Slope(c, v, sd)
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
	return numerics.Bisect(lo, hi, func(c float64) bool { return slope(c) < 0 })
}

// tally are the different values of y in the order in which they come first, with the sums of their weights, nil for
// ones.
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
