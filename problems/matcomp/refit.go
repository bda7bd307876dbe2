package matcomp

import (
	"context"
	"slices"

	"github.com/conetune/conetune/problems"
)

// retrain solves the lower level at the radii h with training and validation entries together: the loss is a
// mean over entries, so that what suits the training entries suits all. The test error is nil without test entries. A
// [*problems.TrainingError] says that the solve ended without a model.
func (m *Model) retrain(ctx context.Context, s problems.Solver, h []float64) (problems.Fit, *float64, error) {
	if err := problems.Prepare(ctx, perEntry*(len(m.data.Train)+len(m.data.Val))); err != nil {
		return problems.Fit{}, nil, err
	}
	d, all := *m.data, *m // in the same units
	d.Train, all.data = slices.Concat(d.Train, d.Val), &d
	p := all.Program()
	if s.Fits {
		fit, err := all.Penalised()
		if err != nil {
			return problems.Fit{}, nil, err
		}
		gap := retrainGap
		if !all.factored() {
			gap = smallRetrainGap
		}
		p.Fit, p.FitTol = fit, gap
	}
	var test *float64
	fit, err := problems.Train(ctx, p, s, h, func(x [][]float64) problems.Fit {
		test = m.Evaluate(x).Test
		return m.Fit(x)
	})
	return fit, test, err
}

// perEntry is how many numbers of a table an entry counts as when it is made ready for a fit: entries are sorted by
// rows and columns.
const perEntry = 64

// retrainGap is the relative gap of the final training of large matrices, smallRetrainGap that of small ones.
const retrainGap, smallRetrainGap = 1e-4, problems.FinalGap
