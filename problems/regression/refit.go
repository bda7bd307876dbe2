package regression

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// all returns the data with the validation rows among the training rows, in the same units.
func (d *Data) all() *Data {
	n, p := d.train.Dims()
	m, _ := d.val.Dims()
	x := mat.NewDense(n+m, p, nil)
	x.Slice(0, n, 0, p).(*mat.Dense).Copy(d.train.X)
	x.Slice(n, n+m, 0, p).(*mat.Dense).Copy(d.val.X)
	out := *d
	out.train = &dataset.Data{X: x, Y: slices.Concat(d.train.Y, d.val.Y), Features: d.train.Features, Target: d.train.Target}
	return &out
}

// Refits says that the model's lower-level solutions are predictors, see [tune.Refitter].
//
// [tune.Refitter]: https://pkg.go.dev/github.com/conetune/conetune/tune#Refitter
func (m *Model) Refits() {}

// Retrain solves the lower level at the radii h with training and validation rows together: the loss is a mean over
// rows, so that what suits the training rows suits all. The test error is nil without test rows. A
// [*problems.TrainingError] says that the solve ended without a model.
func (m *Model) Retrain(ctx context.Context, backend backends.ConicBackend, o backends.Options, h []float64) (problems.Fit, *float64, error) {
	all := Model{data: m.data.all(), spec: m.spec}
	p := all.Program()
	p.H0 = p.StartAt(h, nil)
	low, err := dca.LowerLevel(ctx, p, dca.Settings{Backend: backend, Solver: o})
	if err != nil {
		return problems.Fit{}, nil, err
	}
	if low.X == nil {
		return problems.Fit{}, nil, &problems.TrainingError{Status: low.Status}
	}
	return m.Fit(low.X), m.Evaluate(low.X).Test, nil
}

// heldRows is the least number of rows that a fold holds back.
const heldRows = 5

// StopFolds is the number of folds by which the recommended settings stop, 0 for not at all.
func (m *Model) StopFolds() int { return m.spec.StopFolds }

// HoldBack returns models without every folds-th validation row, nil where a fold would have fewer than five.
func (m *Model) HoldBack(folds int) []problems.HeldBack {
	rows, _ := m.data.val.Dims()
	if folds < 2 || rows/folds < heldRows {
		return nil
	}
	out := make([]problems.HeldBack, folds)
	for f := range out {
		var kept, held []int
		for i := range rows {
			if i%folds == f {
				held = append(held, i)
			} else {
				kept = append(kept, i)
			}
		}
		data := *m.data
		data.val = m.data.val.Rows(kept)
		back := m.data.val.Rows(held)
		out[f] = problems.HeldBack{
			Model: &Model{data: &data, spec: m.spec}, Rows: len(held),
			Error: func(x [][]float64) float64 {
				return data.meanValue(back, x, data.sd)
			},
		}
	}
	return out
}
