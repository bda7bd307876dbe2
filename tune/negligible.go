package tune

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Negligible is the share of the largest effect up to which a coefficient counts as zero, where solves have the
// tolerance eps: an interior-point solution has no exact zeros. Solvers leave coefficients of some hundred times their
// tolerance.
func Negligible(eps float64) float64 { return max(1e-6, 100*eps) }

// dropNegligible sets coefficients of the predictor of a model that selects features to zero whose effect, the
// coefficient times the standard deviation of the feature, or without an intercept its root mean square, is negligible
// beside the largest, puts their mean into the intercept, and scores the predictor that is left.
func (out *Result) dropNegligible(t *task) {
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
	if t.Advice.Columns == nil {
		return
	}
	rows, intercept := t.Advice.Columns()
	means, size := rows.Moments()
	if !intercept { // which would take the mean of an effect
		for j, mean := range means {
			size[j] = math.Hypot(size[j], mean)
		}
	}
	var effects []float64
	for j := range size {
		for _, v := range fit.Of(j) {
			effects = append(effects, size[j]*v)
		}
	}
	gone := negligible(t.Config.Eps, effects)
	if len(gone) == 0 {
		return
	}
	fit.Coefficients, fit.Intercepts = slices.Clone(fit.Coefficients), slices.Clone(fit.Intercepts)
	q := len(effects) / len(size)
	for _, i := range gone {
		j, k := i/q, i%q
		switch {
		case !intercept:
		case fit.Targets != nil:
			fit.Intercepts[k] += means[j] * fit.Coefficients[i]
		default:
			fit.Intercept += means[j] * fit.Coefficients[i]
		}
		fit.Coefficients[i] = 0
	}
	out.RefitFit = fit
	if t.Advice.TestError == nil || out.Refit.Test == nil {
		return
	}
	refit, old := *out.Refit, out.Refit.Test
	refit.Test = t.Advice.TestError(fit)
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
