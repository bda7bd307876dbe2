package tune

import (
	"context"
	"errors"
	"math"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// With caution or without, by rows held out.
//
// Whether a bound for each coefficient pays depends on the data: with few coefficients that count it does, with many it only follows
// noise. So a [Chooser] is tuned in both ways on data without a part of its rows, for each part in turn, trained with what was selected,
// and scored on the rows held out. The way with the smaller sum of errors is taken on all rows, caution where they are equal.

// outParts is the number of parts.
const outParts = 3

// chooseCaution tells whether the settings careful of a model's caution do at least as well on rows held out as the settings full. It is
// true where there is nothing to compare.
func (t *Task) chooseCaution(ctx context.Context, careful, full dca.Settings) (bool, error) {
	m, ok := t.Model.(Chooser)
	if !ok {
		return true, nil
	}
	var sums [2]float64
	parts := m.HoldOut(outParts)
	for i, out := range parts {
		for k, s := range []dca.Settings{careful, full} {
			s.Begin = t.at(s, i+1, len(parts))
			e, err := t.heldOut(ctx, out, s)
			if err != nil {
				return true, err
			}
			if ctx.Err() != nil {
				return true, nil
			}
			sums[k] += e
		}
	}
	return sums[0] <= sums[1], nil
}

// heldOut is the error of a run with settings s on the rows held out, +Inf where it ends without a model.
func (t *Task) heldOut(ctx context.Context, out problems.HeldOut, s dca.Settings) (float64, error) {
	s.Backend = t.Backend
	p := out.Model.Program()
	if err := t.solvers(&p, func() (lower.Penalised, error) { return fitOf(ctx, out.Model) }); err != nil {
		return 0, err
	}
	r, err := dca.Solve(ctx, p, s)
	if err != nil {
		return 0, err
	}
	t.AddStats(r.Stats)
	if r.Refit == nil || ctx.Err() != nil {
		return math.Inf(1), nil
	}
	e, err := out.Error(ctx, t.trainer(), s.Solver, r.H)
	var failed *problems.TrainingError
	if errors.As(err, &failed) {
		return math.Inf(1), nil
	}
	if math.IsNaN(e) {
		e = math.Inf(1)
	}
	return e, err
}
