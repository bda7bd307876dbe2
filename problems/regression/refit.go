package regression

import (
	"context"
	"runtime"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/glm"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// All returns the data with the rows of training and validation together as training rows, or all rows of folds, in the same units. It is
// an error of the context where that ends before, or so soon that no fit to them could begin, see [problems.Prepare].
func (d *Data) All(ctx context.Context) (*Data, error) {
	numbers := d.user.Table().Stored()
	if len(d.parts) == 1 {
		numbers += d.parts[0].choose.Stored()
	}
	if err := problems.Prepare(ctx, numbers); err != nil {
		return nil, err
	}
	if n, p := d.Dims(); float64(n)*float64(p) >= largeTable {
		runtime.GC() // columns that a search made of the table; those of all rows are about to be made
	}
	out := *d
	var rows, val *dataset.Data
	if len(d.parts) > 1 {
		rows = d.inUnits(d.user.Table())
		val = rows
	} else {
		val = d.parts[0].choose
		rows = dataset.Stack(d.parts[0].fit, val)
	}
	out.parts = []part{d.newPart(rows, val, nil)}
	return &out, ctx.Err()
}

// Refits says that the model's lower-level solutions are predictors, see [tune.Refitter].
//
// [tune.Refitter]: https://pkg.go.dev/github.com/conetune/conetune/tune#Refitter
func (m *Model) Refits() {}

// fitGap is the relative gap of final fits, problems.PathGap that of those to be looked at.
const fitGap = 1e-9

// largeTable is the number of entries of the training rows from which on what is left of a search is cleared away before the final fit.
const largeTable = 5e6

// whole is the model of all rows, with its program, which has the fast fit to a relative gap, if there is one, in the place of conic programs of our own backend.
func (m *Model) whole(ctx context.Context, backend backends.ConicBackend, o backends.Options, gap float64) (*Model, dca.Program, error) {
	data, err := m.data.All(ctx)
	if err != nil {
		return nil, dca.Program{}, err
	}
	return m.on(ctx, data, backend, o, gap)
}

// on is the model of the training rows of data.
func (m *Model) on(ctx context.Context, data *Data, backend backends.ConicBackend, o backends.Options, gap float64) (*Model, dca.Program, error) {
	all := &Model{data: data, spec: m.spec}
	if m.rung != nil {
		var err error
		if all.rung, err = m.rung.whole(ctx, data, backend, o); err != nil {
			return nil, dca.Program{}, err
		}
	}
	p := all.Program()
	if backend == nil || backend.Name() != backends.Default {
		return all, p, nil
	}
	fit, err := all.alone(ctx)
	if fit != nil {
		p.Fit = lower.NewChain(fit, gap)
	}
	return all, p, err
}

// alone is the fast fit of the training rows of a split.
func (m *Model) alone(ctx context.Context) (lower.Fit, error) {
	if m.rung != nil {
		return m.rung.rows(ctx, m.data)
	}
	fit, err := m.Penalised()
	if fit == nil && err == nil && m.spec.Weights != nil { // of models whose parts have none
		t := &glm.Table{Folds: [][]int{nil}}
		m.data.fill(t, m.data.parts[0].fit)
		return Either(m.together(ctx, t))
	}
	return fit, err
}

// Retrain solves the lower level at the radii h with training and validation rows together, or all rows of the folds: the loss is a mean over
// rows, so that what suits the training rows suits all. The test error is nil without test rows. A
// [*problems.TrainingError] says that the solve ended without a model.
func (m *Model) Retrain(ctx context.Context, backend backends.ConicBackend, o backends.Options, h []float64) (problems.Fit, *float64, error) {
	all, p, err := m.whole(ctx, backend, o, fitGap)
	if err != nil {
		return problems.Fit{}, nil, err
	}
	fit, err := problems.Train(ctx, p, dca.Settings{Backend: backend, Solver: o}, h, all.Fit)
	if err != nil {
		return problems.Fit{}, nil, err
	}
	return fit, m.TestError(fit), nil
}

// TestError is the mean loss of a predictor on the test rows, nil where there are none.
func (m *Model) TestError(f problems.Fit) *float64 { return m.data.test(f) }

// RetrainWeighted is [Model.Retrain] with the weights lambda of the penalties in the place of radii.
func (m *Model) RetrainWeighted(ctx context.Context, backend backends.ConicBackend, o backends.Options, lambda []float64) (problems.Fit, *float64, error) {
	all, p, err := m.whole(ctx, backend, o, fitGap)
	if err != nil {
		return problems.Fit{}, nil, err
	}
	fit, err := problems.TrainWeighted(ctx, p, dca.Settings{Backend: backend, Solver: o}, lambda, all.Fit)
	if err != nil {
		return problems.Fit{}, nil, err
	}
	return fit, m.TestError(fit), nil
}

// RetrainPath is [Model.RetrainWeighted] with each of some weights, each fit from the one before, without scoring them. It ends where the context does, and the list with it.
func (m *Model) RetrainPath(ctx context.Context, backend backends.ConicBackend, o backends.Options, lambda [][]float64) ([]problems.Fit, error) {
	all, p, err := m.whole(ctx, backend, o, problems.PathGap)
	if err != nil {
		return nil, err
	}
	return problems.Path(ctx, p, dca.Settings{Backend: backend, Solver: o}, lambda, all.Fit)
}
