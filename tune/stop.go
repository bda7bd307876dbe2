package tune

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
)

// Stopping before the validation rows are overfitted.
//
// As many hyperparameters as validation rows can follow their noise: the validation error of the refit falls from
// iteration to iteration while its test error, after a fall, rises. So the run is first done on validation rows of which
// one fold is held back, for each fold. The mean over the folds of the refit's error on the rows held back, iteration by
// iteration, is an estimate of the error on new rows; it is least after the number of iterations that the run on all
// validation rows is given.

// stopIterations bounds the iterations where the model sets no bound.
const stopIterations = 20

// stopBlind is the number of iterations where the model asks to stop by rows held back, but there are too few of them, or no
// fold has an answer: the first steps away from the path gain most.
const stopBlind = 5

// What the message of a run says that was stopped.
const (
	stoppedByRows  = "stopped where validation rows that were held back say so; Config.StopFolds 1 goes on"
	stoppedBlindly = "stopped early, as the validation rows are too few to hold some back and see when hyperparameters begin to follow their noise; Config.MaxIter goes on"
)

// stopFolds is how many folds to hold back, 0 for none.
func (t *Task) stopFolds(h Holder) int {
	c := t.Config
	switch {
	case c.StopFolds == 1:
		return 0
	case c.StopFolds > 1:
		return c.StopFolds
	case c.Preset == PresetPaper || c.GapTol > 0 || c.MaxIter > 0:
		return 0
	}
	return h.StopFolds()
}

// stopAfter finds the number of iterations after which to stop, 0 where the rule is off, and says why then. Where the context ends before, it
// returns the result with the least validation error; as the training rows of all folds are ours, its refit is a lower-level solution of ours.
func (t *Task) stopAfter(ctx context.Context, s dca.Settings, h0 func(*dca.Program)) (int, string, *dca.Result, error) {
	holder, ok := t.Model.(Holder)
	if !ok {
		return 0, "", nil, nil
	}
	folds := t.stopFolds(holder)
	if folds == 0 {
		return 0, "", nil, nil
	}
	held := holder.HoldBack(folds)
	if held == nil {
		if t.Config.StopFolds > 1 {
			return 0, "", nil, fmt.Errorf("tune: stop-folds is %d, too many for the validation rows", folds)
		}
		return stopBlind, stoppedBlindly, nil, nil
	}
	if s.MaxIter == 0 {
		s.MaxIter = stopIterations
	}
	sums := make([]float64, s.MaxIter)
	var reached *dca.Result
	least := math.Inf(1)
	for k, back := range held {
		held[k] = HeldBack{} // with its rows
		model := back.Model()
		p := model.Program()
		h0(&p)
		if err := t.solvers(&p, func() (lower.Fit, error) { return fitOf(ctx, model) }); errors.Is(err, errStopped) && reached != nil {
			return 0, "", reached, nil
		} else if err != nil {
			return 0, "", nil, err
		}
		// The error at an iteration; where it interpolates, so that there is no refit, +Inf.
		var found []float64
		some := false
		s.Begin = t.at(s, k+1, len(held))
		s.Observe = func(_ *dca.Iteration, _, refit [][]float64) {
			last := math.Inf(1)
			if refit != nil {
				last, some = back.Error(refit), true
			}
			if math.IsNaN(last) {
				last = math.Inf(1)
			}
			found = append(found, last)
		}
		r, err := dca.Solve(ctx, p, s)
		if err != nil {
			return 0, "", nil, err
		}
		t.AddStats(r.Stats)
		if r.Refit != nil {
			if e, ok := t.score(r.Refit); ok && e.Validation < least {
				reached, least = r, e.Validation
			}
		}
		if ctx.Err() != nil {
			return 0, "", reached, nil
		}
		if !some { // nothing to learn from a fold that interpolates from the first iteration on
			continue
		}
		for k := range sums { // where it ended, it stays
			sums[k] += found[min(k, len(found)-1)] * float64(back.Rows)
		}
	}
	best := 0
	for k, v := range sums {
		if v < sums[best] {
			best = k
		}
	}
	if sums[best] == 0 || math.IsInf(sums[best], 1) {
		return stopBlind, stoppedBlindly, nil, nil
	}
	return best + 1, stoppedByRows, nil, nil
}

// heldBack is the result of a run whose context ended while rows were held back.
func (t *Task) heldBack(ctx context.Context, reached *dca.Result, radii int) *Result {
	out := t.result()
	out.fill(t.Model, reached, radii)
	out.Status, out.Message, out.Iterations = t.status(ctx), "", 0
	out.count(t.stats)
	return out
}
