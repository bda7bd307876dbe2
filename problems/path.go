package problems

import (
	"context"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
)

// PathGap is the relative gap of fits that are there to be looked at.
const PathGap = 1e-6

// Path solves the lower level of a program in penalty form with each of some weights, each from the one before, and returns the predictors that its values are. A
// predictor without coefficients stands for weights with which there was no solution. The list ends where the context does.
func Path(ctx context.Context, p dca.Program, s dca.Settings, lambda [][]float64, of func(x [][]float64) Fit) ([]Fit, error) {
	form, err := dca.NewPenalized(p, nil, s)
	if err != nil {
		return nil, err
	}
	defer form.Close()
	var list []Fit
	for _, l := range lambda {
		at, err := form.Solve(ctx, lower.Positive(l), nil)
		switch {
		case ctx.Err() != nil:
			return list, nil
		case err != nil:
			return nil, err
		case at.X == nil:
			list = append(list, Fit{})
		default:
			list = append(list, of(at.X))
		}
	}
	return list, nil
}
