// Package problems holds what the models in its subfolders have in common:
// how they report errors on held-out data and the model that a user deploys.
package problems

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/finite"
)

// Errors are the errors of one vector of coefficients on data that it was not
// trained on, in the unit that the model documents (half the mean squared
// error for regressions).
type Errors struct {
	Validation float64 `json:"validation_error"`
	// Test is nil where there are no test data.
	Test *float64 `json:"test_error"`
}

// Fit is a linear predictor in the user's units: the value for a row a of
// features is Intercept + sum_j Coefficients[j] a[j].
type Fit struct {
	Coefficients []float64
	Intercept    float64
	// Features are the names that belong to Coefficients.
	Features []string
	// Labels are nil for a regression. A classifier of two classes predicts Labels[1] where the value is positive and
	// Labels[0] elsewhere; one with Targets has a value for each class, and predicts that of the largest, see
	// [Fit.Classes].
	Labels []float64
	// LogLink says that the prediction is the exponential of the value, the mean of a count.
	LogLink bool
	// Hazard says that the value is the logarithm of a hazard beside another one, and the exponential of it, the relative
	// risk, what is told of a row on demand.
	Hazard bool
	// Targets are nil but for models of several targets: their names. Coefficients then holds a row of as many for each
	// feature, one row after the other, and Intercepts are in the place of Intercept.
	Targets    []string
	Intercepts []float64
	// Matrix is set where the model predicts the entries of a matrix instead.
	Matrix *Matrix
	// Freedom works out the degrees of freedom, without the constant; nil where they are not known.
	Freedom *Freedom `json:"-"`
	// Inaccurate says that the coefficients are of a solve that missed its tolerances.
	Inaccurate bool
}

// Finite says that the errors are numbers.
func (e Errors) Finite() bool {
	return finite.All(e.Validation) && (e.Test == nil || finite.All(*e.Test))
}

// Finite says that all coefficients are numbers.
func (f Fit) Finite() bool {
	if !finite.All(f.Intercept) || !finite.All(f.Coefficients...) || !finite.All(f.Intercepts...) {
		return false
	}
	m := f.Matrix
	return m == nil || finite.All(m.Intercept) && finite.All(m.RowEffects...) && finite.All(m.ColEffects...) &&
		finiteMatrix(m.Left) && finiteMatrix(m.Right)
}

func finiteMatrix(m *mat.Dense) bool { return m == nil || finite.All(m.RawMatrix().Data...) }

// Value returns the value for a row of features.
func (f Fit) Value(row []float64) float64 { return f.Intercept + floats.Dot(f.Coefficients, row) }

// Of are the coefficients of feature j, one for each target.
func (f Fit) Of(j int) []float64 {
	q := max(1, len(f.Targets))
	return f.Coefficients[j*q : (j+1)*q]
}

// Constants are the intercepts, one for each target.
func (f Fit) Constants() []float64 {
	if f.Targets == nil {
		return []float64{f.Intercept}
	}
	return f.Intercepts
}

// Freedom works out degrees of freedom, nil where they are not known.
type Freedom struct{ Of func() *float64 }

// Used is the number of features with coefficients that are not zero.
func (f Fit) Used() (n int) {
	for j := range f.Features {
		if floats.Norm(f.Of(j), math.Inf(1)) > 0 {
			n++
		}
	}
	return n
}

// Values returns the values for a row of features of a model of several targets.
func (f Fit) Values(row []float64) []float64 {
	out := slices.Clone(f.Intercepts)
	for j, x := range row {
		if x != 0 {
			floats.AddScaled(out, x, f.Of(j))
		}
	}
	return out
}

// Classes says that the fit is a classifier with a value for each class, whose names are the Targets: the logarithms of
// probabilities up to a common constant.
func (f Fit) Classes() bool { return f.Labels != nil && f.Targets != nil }

// Label returns the label that a classifier predicts at a value.
func (f Fit) Label(value float64) float64 {
	if value > 0 {
		return f.Labels[1]
	}
	return f.Labels[0]
}

// TrainingError says that a final training on all rows ended without a model.
type TrainingError struct{ Status backends.Status }

func (e *TrainingError) Error() string {
	return fmt.Sprintf("training on all rows ended without a model: %s", e.Status)
}

// Is says that a training that was stopped is [context.DeadlineExceeded] or [context.Canceled], also where the context
// itself, whose timer has had no turn, does not say so yet.
func (e *TrainingError) Is(target error) bool {
	return target == context.DeadlineExceeded && e.Status == backends.TimeLimit || target == context.Canceled &&
		e.Status == backends.Cancelled
}

// Open is the list of weights by which a model with one is tuned.
type Open struct {
	// Weights of the penalties are tried in their order, the best then refined.
	Weights [][]float64
	// Rise, if positive, ends the list after so many points without a smaller validation error.
	Rise int
	// Gap is the relative gap of the fits of the search, before the best is solved for to the end; 0 for that.
	Gap float64
}

// StandardError is that of a mean of losses by weights, sum_i w_i l_i / sum_i w_i, or without, where these are nil, as
// of independent losses, of which n are of a row of their own.
func StandardError(losses, weights []float64, n int) float64 {
	if weights == nil {
		return stat.StdDev(losses, nil) / math.Sqrt(float64(n))
	}
	total, mean := 0.0, 0.0
	for i, w := range weights {
		total += w
		mean += w * losses[i]
	}
	mean /= total
	sum := 0.0
	for i, w := range weights {
		sum += w * w * (losses[i] - mean) * (losses[i] - mean)
	}
	all := float64(len(losses))
	return math.Sqrt(sum*all/(all-1)) / total * math.Sqrt(all/float64(n))
}
