package tune

import (
	"context"
	"errors"
	"math"
	"slices"
)

// Weights that the folds share, after VF-iDCA.
//
// In VF-iDCA the folds of a cross-validation share the radii, in all other methods the weights. A shared radius fits the size of each fold's
// coefficients to its validation rows, so that the error is the smaller one for the same test error: the two cannot be compared. And
// the final fit to all rows has more rows than a fold, for which weights keep their meaning, as losses are means over rows, and radii do not. So
// VF-iDCA goes on to weights: its multipliers and the weights of its start are scored with the same weights in each fold, a compass
// search in their logarithms goes on from the better ones, and the best are the selection.

const (
	// compassMost is the largest number of weights that are searched on: more of them follow the noise of the validation rows.
	compassMost = 2
	// compassTrials bounds the lower levels that the search solves.
	compassTrials = 40
	// compassFirst and compassLast are the first and the last factor of its steps.
	compassFirst, compassLast = 2, 1.01
	// compassFloor is the share of the largest weight below which none goes down.
	compassFloor = 1e-3
)

// byWeights says whether the selection of the task is to be weights that its folds share.
func (t *Task) byWeights() bool {
	cv, ok := t.Model.(CrossValidated)
	_, able := t.Model.(Reweighter)
	return ok && able && cv.CrossValidated() && t.Config.Preset != PresetPaper && t.Program.Radii == len(t.Program.H0)
}

// common replaces the selection of radii in a result by one of weights, see [Task.byWeights]; start are the weights of the run's start, or nil. It leaves the
// result alone where none of the weights can be scored.
func (t *Task) common(ctx context.Context, out *Result, start []float64) error {
	if !t.byWeights() || out.Refit == nil || out.Selection == nil || ctx.Err() != nil {
		return nil
	}
	e, err := t.everyWeight(ctx)
	if errors.Is(err, errStopped) {
		return nil
	} else if err != nil {
		return err
	}
	defer e.close()
	c := compass{ctx: ctx, at: e.at}
	if err := c.try(out.Lambda); err != nil {
		return err
	}
	if start != nil && !out.Selection.Weighted { // else the weights are drawn towards the start already
		if err := c.try(start); err != nil {
			return err
		}
	}
	if c.best.X == nil {
		return nil
	}
	if len(out.Lambda) <= compassMost {
		if err := c.search(); err != nil {
			return err
		}
	}
	radii, err := t.penalties(c.best)
	if err != nil {
		return err
	}
	refit := *c.best.Errors
	out.Refit, out.RefitFit, out.LeastNorm = &refit, t.Model.Fit(c.best.X), false
	out.selected(Selection{Lambda: c.best.Lambda, Radii: radii, X: c.best.X, Weighted: true})
	return nil
}

// everyWeight is an evaluator with an axis for each weight.
func (t *Task) everyWeight(ctx context.Context) (*evaluator, error) {
	s := &space{radii: t.Program.Radii}
	for j := range s.radii {
		s.axes = append(s.axes, Axis{Members: []int{j}})
		s.kinds = append(s.kinds, []int{j})
	}
	return t.evaluator(ctx, s)
}

// compass is a search along the axes, in the logarithms of the weights.
type compass struct {
	ctx    context.Context
	at     func(context.Context, []float64) (Trial, error)
	best   Trial
	trials int
}

// try scores weights, of which not all are zero, and keeps them if they are the best. After the end of the context, or of the budget, it does nothing.
func (c *compass) try(lambda []float64) error {
	if c.ctx.Err() != nil || c.trials == compassTrials || !(slices.Max(lambda) > 0) {
		return nil
	}
	c.trials++
	tr, err := c.at(c.ctx, positive(lambda))
	if err != nil || tr.X == nil || c.ctx.Err() != nil || !finite(tr.Errors.Validation) || !finite(tr.Lambda...) {
		return err
	}
	if c.best.X == nil || tr.Errors.Validation < c.best.Errors.Validation {
		c.best = tr
	}
	return nil
}

// search goes along one axis after the other, up or down, in steps that double while they lead down and shrink where none does.
func (c *compass) search() error {
	floor := compassFloor * slices.Max(c.best.Lambda)
	if !(floor > 0) {
		return nil
	}
	for step := math.Log(compassFirst); step > math.Log(compassLast); step /= 2 {
		for moved := true; moved; {
			moved = false
			for k := range c.best.Lambda {
				for _, way := range []float64{1, -1} {
					gained, err := c.along(k, way*step, floor)
					if err != nil {
						return err
					}
					moved = moved || gained
					if gained {
						break
					}
				}
			}
		}
	}
	return nil
}

// along goes on along axis k while that leads down, and says whether it did.
func (c *compass) along(k int, step, floor float64) (bool, error) {
	gained := false
	for {
		before := c.best.Errors.Validation
		next := slices.Clone(c.best.Lambda)
		next[k] = math.Max(next[k]*math.Exp(step), floor)
		if next[k] <= c.best.Lambda[k] && step > 0 || next[k] >= c.best.Lambda[k] && step < 0 {
			return gained, nil
		}
		if err := c.try(next); err != nil {
			return gained, err
		}
		if !(c.best.Errors.Validation < before) {
			return gained, nil
		}
		gained, step = true, 2*step
	}
}

// leastWeight is the share of the largest weight that stands for zero: conic programs, and fits of coefficients without other penalties, need positive ones.
const leastWeight = 1e-10

// positive are weights without zeros.
func positive(weights []float64) []float64 {
	least := math.Max(leastWeight*slices.Max(weights), math.SmallestNonzeroFloat64)
	out := slices.Clone(weights)
	for j := range out {
		out[j] = math.Max(out[j], least)
	}
	return out
}
