package problems

import (
	"context"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
)

// Train solves the lower level of a program at the radii h and returns the values of its variables. A [*TrainingError] says that the solve ended without any.
func Train(ctx context.Context, p dca.Program, s dca.Settings, h []float64) ([][]float64, error) {
	p.H0 = p.StartAt(h, nil)
	low, err := dca.LowerLevel(ctx, p, s)
	if err != nil {
		return nil, err
	}
	if low.X == nil {
		return nil, &TrainingError{Status: low.Status}
	}
	return low.X, nil
}

// TrainWeighted is [Train] in penalty form, with the weights lambda of the penalties in the place of radii. A weight of 0 is a very small one, see [lower.Positive].
func TrainWeighted(ctx context.Context, p dca.Program, s dca.Settings, lambda []float64) ([][]float64, error) {
	form, err := dca.NewPenalized(p, nil, s)
	if err != nil {
		return nil, err
	}
	defer form.Close()
	at, err := form.Solve(ctx, lower.Positive(lambda), nil)
	if err != nil {
		return nil, err
	}
	if at.X == nil {
		return nil, &TrainingError{Status: at.Status}
	}
	return at.X, nil
}
