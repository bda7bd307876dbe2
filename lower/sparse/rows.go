package sparse

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/glm"
)

// Sample are rows of features with a target for each. The means over the rows that an objective has are by the
// weights: sum_i w_i l_i / sum_i w_i.
type Sample struct {
	X *design.Matrix
	Y []float64
	// Weights are positive numbers of any unit, one for each row; nil for equal ones.
	Weights []float64
	// Offset is a known term of the prediction of each row, which then is f = X b + b0 + offset; nil for none.
	Offset []float64
}

// check says what is wrong with the targets, which are called so, the weights and the offset.
func (s Sample) check(called string) error {
	n := s.X.Rows()
	switch {
	case n == 0:
		return fmt.Errorf("sparse: no rows")
	case len(s.Y) != n:
		return fmt.Errorf("sparse: %d %s for %d rows", len(s.Y), called, n)
	case s.Weights != nil && len(s.Weights) != n || s.Offset != nil && len(s.Offset) != n:
		return fmt.Errorf("sparse: %d weights and %d entries of the offset for %d rows", len(s.Weights), len(s.Offset), n)
	}
	for i, w := range s.Weights {
		if !(w > 0) || math.IsInf(w, 1) {
			return fmt.Errorf("sparse: weight of row %d is %g, expected a positive number", i, w)
		}
	}
	for i, o := range s.Offset {
		if math.IsNaN(o) || math.IsInf(o, 0) {
			return fmt.Errorf("sparse: offset of row %d is %g, expected a finite number", i, o)
		}
	}
	return nil
}

// meanOne are weights of n rows with the mean 1.
func meanOne(weights []float64, n int) []float64 {
	if weights == nil {
		return slices.Repeat([]float64{1}, n)
	}
	out := slices.Clone(weights)
	floats.Scale(1/slices.Max(out), out) // before the sum, which might be too large
	floats.Scale(float64(n)/floats.Sum(out), out)
	return out
}

// entry is a coefficient of a feature, or of [design.Ones], and a class.
type entry struct{ feature, class int }

// featuresOf are those of a set of entries.
func featuresOf(set []entry) []int {
	out := make([]int, len(set))
	for i, e := range set {
		out[i] = e.feature
	}
	return out
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// rowSet are rows with their loss, a function of the predictions of each class that is convex and not negative. It is
// not changed.
type rowSet interface {
	// features are those of the rows.
	features() *design.Matrix
	// look is the loss at predictions without the offset, by classes, which belong to the caller.
	look(f [][]float64) *look
	// second are the rows from a position on of the second derivatives over a set of entries.
	second(ctx context.Context, at *look, set []entry, from int) []float64
	// with are other rows of the same loss. A partial likelihood is divided by n.
	with(s Sample, n float64) (rowSet, error)
}

// look is a loss at some predictions.
type look struct {
	value float64
	// Minus its derivatives in the predictions of each class, and what second derivatives are made of: of a sum over
	// rows these themselves, of classes their probabilities.
	slopes, curve [][]float64
	means         glm.Means // of a partial likelihood
	// Of all features with the slopes, by features and classes; nil where they are not known.
	products []float64
}

// summed are rows of one prediction each, whose losses add up, or of times.
type summed struct {
	x      *design.Matrix
	loss   glm.Loss
	of     func() (glm.Sum, glm.Means)
	offset []float64
	n      float64 // by which the sum is divided
}

// newSummed takes a sample that was checked, with the weights that count.
func newSummed(l glm.Loss, s Sample, weights []float64, n float64) *summed {
	r := &summed{s.X, l, nil, s.Offset, n}
	if of, ok := l.(glm.Hazards); ok {
		r.of = of.Joint(s.Y, weights)
	} else {
		sum := l.Rows(s.Y, weights)
		r.of = func() (glm.Sum, glm.Means) { return sum, nil }
	}
	return r
}

func (r *summed) features() *design.Matrix { return r.x }

// leastCurvature bounds second derivatives of the loss of a row from below.
const leastCurvature = 1e-8

func (r *summed) look(f [][]float64) *look {
	eta := f[0]
	if r.offset != nil {
		eta = slices.Clone(eta)
		floats.Add(eta, r.offset)
	}
	pull, curve := make([]float64, len(eta)), make([]float64, len(eta))
	sum, means := r.of()
	value := sum(eta, pull, curve) / r.n
	for i, v := range curve {
		pull[i], curve[i] = pull[i]/r.n, max(leastCurvature, v)/r.n
	}
	return &look{value: value, slopes: [][]float64{pull}, curve: [][]float64{curve}, means: means}
}

// second are those of the rows alone, less the products of the means.
func (r *summed) second(ctx context.Context, at *look, set []entry, from int) []float64 {
	threads, columns, k := runtime.GOMAXPROCS(0), featuresOf(set), len(set)
	if from == 0 && at.means == nil {
		out := make([]float64, 0, k*k)
		for _, row := range r.x.Gram(ctx, columns, at.curve[0], threads) {
			out = append(out, row...)
		}
		return out
	}
	out := r.x.Products(ctx, columns[from:], columns, at.curve[0], threads)
	if at.means == nil {
		return out
	}
	var means []float64
	for _, j := range columns {
		column := make([]float64, r.x.Rows())
		r.x.Axpy(1, j, column)
		means = append(means, at.means(column)...)
	}
	floats.Scale(1/math.Sqrt(r.n), means)
	all, terms := indices(k), len(means)/max(k, 1)
	floats.Sub(out, design.FromColumns(terms, k, means).Products(ctx, all[from:], all, nil, threads))
	return out
}
