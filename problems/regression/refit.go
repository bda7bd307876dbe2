package regression

import (
	"context"
	"runtime"
	"slices"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// All returns the data with the rows of training and validation together as training rows, or all rows of folds, in the
// same units. It is an error of the context where that ends before, or so soon that no fit to them could begin, see
// [problems.Prepare].
func (d *data) All(ctx context.Context) (*data, error) {
	numbers := d.user.Table().Stored()
	if len(d.parts) == 1 {
		numbers += d.parts[0]().choose.Stored()
	}
	if err := problems.Prepare(ctx, numbers); err != nil {
		return nil, err
	}
	if n, p := d.Dims(); float64(n)*float64(p) >= largeTable {
		runtime.GC() // what a search made; of a split, columns of all rows are about to be made
	}
	out := *d
	var rows, val *dataset.Data
	if len(d.parts) > 1 {
		rows = d.inUnits(d.user.Table())
		val = rows
	} else {
		val = d.parts[0]().choose
		rows = dataset.Stack(d.parts[0]().fit, val)
	}
	all := d.newPart(rows, val)
	out.parts = []func() part{func() part { return all }}
	return &out, ctx.Err()
}

// largeTable is the number of entries of the training rows from which on what is left of a search is cleared away
// before the final fit.
const largeTable = 5e6

// training solves the lower level of all rows, those for training and validation together or those of all folds, see
// [problems.Advice], by [problems.Train] or [problems.TrainWeighted].
func (m *Model) training(by func(context.Context, dca.Program, problems.Solver, []float64,
	func(x [][]float64) problems.Fit) (problems.Fit, error)) problems.Training {
	return func(ctx context.Context, s problems.Solver, h []float64) (fit problems.Fit, test *float64, err error) {
		all, p, err := m.whole(ctx, s, problems.FinalGap)
		if err == nil {
			fit, err = by(ctx, p, s, h, all.Fit)
		}
		if err != nil {
			return problems.Fit{}, nil, err
		}
		return fit, m.test(fit), nil
	}
}

// pathGap is the relative gap of fits that are there to be looked at.
const pathGap = 1e-6

// retrainPath solves it with each of some weights, each from the one before.
func (m *Model) retrainPath(ctx context.Context, s problems.Solver, lambda [][]float64) ([]problems.Fit, error) {
	all, p, err := m.whole(ctx, s, pathGap)
	if err != nil {
		return nil, err
	}
	form, err := dca.NewPenalized(p, s.Settings())
	if err != nil {
		return nil, err
	}
	defer form.Close()
	var list []problems.Fit
	freedom := all.freedom()
	for _, l := range lambda {
		at, err := form.Minimize(ctx, lower.Positive(l), nil)
		switch {
		case ctx.Err() != nil:
			return list, nil
		case err != nil:
			return nil, err
		case at.X == nil:
			list = append(list, problems.Fit{})
		default:
			fit := all.Fit(at.X)
			if freedom != nil {
				b := slices.Clone(at.X[0])
				fit.Freedom = &problems.Freedom{Of: func() *float64 { return freedom(b, l) }}
			}
			list = append(list, fit)
		}
	}
	return list, nil
}

// whole is the model of all rows, with its program.
func (m *Model) whole(ctx context.Context, s problems.Solver, gap float64) (*Model, dca.Program, error) {
	data, err := m.data.All(ctx)
	if err != nil {
		return nil, dca.Program{}, err
	}
	return m.on(ctx, data, s, gap)
}

// on is the model of the training rows of data, with its program, which has the fast fit to a relative gap, if there is
// one and the solver takes fits.
func (m *Model) on(ctx context.Context, data *data, s problems.Solver, gap float64) (*Model, dca.Program, error) {
	all := &Model{data: data, spec: m.spec, hazards: m.hazards}
	if m.rung != nil {
		var err error
		if all.rung, err = m.rung.whole(ctx, data, s); err != nil {
			return all, dca.Program{}, err
		}
	}
	p := all.Program()
	if !s.Fits {
		return all, p, nil
	}
	fit, err := all.alone(ctx)
	if fit != nil {
		p.Fit, p.FitTol = fit, gap
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
		return either(m.together(ctx, m.data.table(m.data.parts[0]().fit, nil)))
	}
	return fit, err
}
