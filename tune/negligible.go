package tune

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/problems"
)

// Selective is a model that selects features. What is left of a coefficient within the accuracy of a solver becomes zero
// in its predictor, so that reports, files and predictions have the same features.
type Selective interface {
	Model
	// Columns are the features over the training rows; nil for a model that keeps all features.
	Columns() *problems.Columns
}

// Negligible is the share of the largest effect up to which a coefficient counts as zero, where solves have the tolerance
// eps: an interior-point solution has no exact zeros. Solvers leave coefficients of some hundred times their tolerance.
func Negligible(eps float64) float64 { return max(1e-6, 100*eps) }

// dropNegligible sets coefficients of the predictor to zero whose effect, the coefficient times the standard deviation of
// the feature, or without an intercept its root mean square, is negligible beside the largest, puts their mean into the
// intercept, and scores the predictor that is left.
func (out *Result) dropNegligible(t *Task) {
	fit := out.RefitFit
	if out.Refit == nil || len(fit.Coefficients) == 0 {
		return
	}
	if fit.Matrix != nil { // which predicts, and has the coefficients in it
		out.RefitFit.Coefficients = slices.Clone(fit.Coefficients)
		for _, j := range negligible(t.Config.Eps, fit.Coefficients) {
			out.RefitFit.Coefficients[j] = 0
		}
		return
	}
	m, ok := t.Model.(Selective)
	if !ok {
		return
	}
	columns := m.Columns()
	if columns == nil {
		return
	}
	size := columns.Deviations
	if !columns.Intercept { // which would take the mean of an effect
		for j, mean := range columns.Means() {
			size[j] = math.Hypot(size[j], mean)
		}
	}
	for j := range size {
		size[j] *= floats.Norm(fit.Of(j), 2)
	}
	gone := negligible(t.Config.Eps, size)
	if len(gone) == 0 {
		return
	}
	means := columns.Means()
	fit.Coefficients, fit.Intercepts = slices.Clone(fit.Coefficients), slices.Clone(fit.Intercepts)
	for _, j := range gone {
		row := fit.Of(j)
		switch {
		case !columns.Intercept:
		case fit.Targets != nil:
			floats.AddScaled(fit.Intercepts, means[j], row)
		default:
			fit.Intercept += means[j] * row[0]
		}
		clear(row)
	}
	out.RefitFit = fit
	tester, ok := t.Model.(interface{ TestError(Fit) *float64 })
	if !ok || out.Refit.Test == nil {
		return
	}
	refit, old := *out.Refit, out.Refit.Test
	refit.Test = tester.TestError(fit)
	out.Refit = &refit
	if out.Errors.Test == old { // with folds they are the same predictor
		out.Errors.Test, out.Iterate = refit.Test, fit
	}
}

// negligible are the indices of values that are nothing beside the largest.
func negligible(eps float64, values []float64) (gone []int) {
	bound := Negligible(eps) * floats.Norm(values, math.Inf(1))
	for j, v := range values {
		if !(math.Abs(v) > bound) {
			gone = append(gone, j)
		}
	}
	return gone
}
