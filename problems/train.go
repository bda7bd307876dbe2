package problems

import (
	"context"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
)

// Train solves the lower level of a program at the radii h and returns the predictor that its values are. A
// [*TrainingError] says that the solve ended without any, and [Fit.Inaccurate] that it missed its tolerances.
func Train(ctx context.Context, p dca.Program, s dca.Settings, h []float64, of func(x [][]float64) Fit) (Fit, error) {
	p.H0 = p.StartAt(h, nil)
	low, err := dca.LowerLevel(ctx, p, s)
	if err != nil {
		return Fit{}, err
	}
	if low.X == nil {
		return Fit{}, &TrainingError{Status: low.Status}
	}
	fit := of(low.X)
	fit.Inaccurate = missed(low.Status, low.Residual, s)
	return fit, nil
}

// TrainWeighted is [Train] in penalty form, with the weights lambda of the penalties in the place of radii. A weight of 0 is a very small one, see [lower.Positive].
func TrainWeighted(
	ctx context.Context, p dca.Program, s dca.Settings, lambda []float64, of func(x [][]float64) Fit,
) (Fit, error) {
	form, err := dca.NewPenalized(p, nil, s)
	if err != nil {
		return Fit{}, err
	}
	defer form.Close()
	at, err := form.Solve(ctx, lower.Positive(lambda), nil)
	if err != nil {
		return Fit{}, err
	}
	if at.X == nil {
		return Fit{}, &TrainingError{Status: at.Status}
	}
	fit := of(at.X)
	fit.Inaccurate = missed(at.Status, at.Residual, s)
	return fit, nil
}

// missed says that a solve missed its tolerances.
func missed(status backends.Status, residual float64, s dca.Settings) bool {
	return status != backends.Optimal && !(residual <= dca.Nearly*s.Solver.WithDefaults().Eps)
}
