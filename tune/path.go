package tune

import "context"

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
			if out.Curve[k].Fit = (Fit{}); k < len(list) {
				out.Curve[k].Fit = list[k]
			}
		}
	}
	for k := range out.Curve {
		if p := &out.Curve[k]; p.Factor == 1 && p.Fit.Coefficients != nil {
			p.Fit = out.RefitFit
		}
		if p := &out.Curve[k]; !p.Fit.Finite() {
			p.Fit = Fit{}
		}
	}
	return nil
}
