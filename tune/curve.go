package tune

import (
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/problems"
)

// CurvePoint is the validation error where all weights of the penalties are the same multiple of those selected.
type CurvePoint struct {
	// Factor is the multiple, 1 for the selection, and Lambda are the weights.
	Factor float64
	Lambda []float64
	// Validation is the error of the lower-level solution at these weights, and StandardError its standard error.
	Validation, StandardError float64
	// Fit is the predictor with these weights, trained on the rows of [Result.RefitFit], which it is for the factor 1;
	// without coefficients where there is none, or where the model trains none.
	Fit problems.Fit
}

// curveDecades is how far the curve goes to both sides of the selection, in decades; mostCurve bounds its points on
// each side.
const curveDecades, mostCurve = 2, 1000

// curve fills in [Result.Curve], from large weights to small ones, each solution from the one before. It stops with the
// context.
func (t *task) curve(ctx context.Context, out *Result) error {
	s := out.Selection
	if t.Config.Curve == 0 || !t.measured() || out.Refit == nil || s == nil || ctx.Err() != nil ||
		!(slices.Max(s.Lambda) > 0) {
		return nil
	}
	e, err := t.everyWeight(ctx, nil)
	if e == nil || err != nil {
		return err
	}
	defer e.close()
	n := t.Config.Curve
	for k := -n; k <= n; k++ {
		factor := math.Pow(10, -curveDecades*float64(k)/float64(n))
		lambda := scaled(s.Lambda, factor)
		if !finite.All(lambda...) {
			continue
		}
		tr, err := e.at(ctx, lambda)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case tr.X == nil || !finite.All(tr.Errors.Validation):
			continue
		}
		p := CurvePoint{Factor: factor, Lambda: tr.Lambda, Validation: tr.Errors.Validation,
			StandardError: t.Advice.StandardError(tr.X)}
		if t.keepsPath(out) {
			p.Fit = t.Model.Fit(tr.X)
		}
		out.Curve = append(out.Curve, p)
	}
	return nil
}

// mostPath bounds the coefficients of the fits of a curve that are kept.
const mostPath = 2e7

// keepsPath says that the fits of a curve are kept.
func (t *task) keepsPath(out *Result) bool {
	return t.Advice.RetrainPath != nil && float64(2*t.Config.Curve+1)*float64(len(out.RefitFit.Coefficients)) <= mostPath
}

// path fills in [CurvePoint.Fit] by fits to the rows that the refit is trained on, which those of the curve are where
// it is a lower-level solution.
func (t *task) path(ctx context.Context, out *Result) error {
	if len(out.Curve) == 0 || out.Refit == nil || !t.keepsPath(out) {
		return nil
	}
	if out.TrainedOn == FinalAll {
		lambda := make([][]float64, len(out.Curve))
		for k, p := range out.Curve {
			lambda[k] = p.Lambda
		}
		list, err := t.Advice.RetrainPath(ctx, t.trainer(), lambda)
		if err != nil && !ended(err) {
			return err
		}
		for k := range out.Curve {
			if out.Curve[k].Fit = (problems.Fit{}); k < len(list) {
				out.Curve[k].Fit = list[k]
			}
		}
	}
	for k := range out.Curve {
		if p := &out.Curve[k]; p.Factor == 1 && p.Fit.Coefficients != nil {
			out.RefitFit.Freedom = p.Fit.Freedom
			p.Fit = out.RefitFit
		}
		if p := &out.Curve[k]; !p.Fit.Finite() {
			p.Fit = problems.Fit{}
		}
	}
	return nil
}
