package tune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/finite"
)

// The rule of one standard error (Breiman, Friedman, Olshen, Stone, Classification and Regression Trees, 1984, section
// 3.4.3).
//
// The validation error is itself an estimate, flat around its minimum, and what is chosen there depends on chance.
// Under the rule the simplest model is taken whose validation error is at most the least one and its standard error.
// Simpler are larger weights: from the selection on, those that are the same multiple of its weights.

const (
	// simplerFirst is the first factor that the weights are tried with, which doubles in logarithms; simplerSteps bounds
	// these steps, and the halvings of the last one.
	simplerFirst = 1.5
	simplerSteps = 8
)

// measured says whether the model of the task can be chosen by the rule.
func (t *task) measured() bool {
	return t.Advice.StandardError != nil && t.Program.Radii == len(t.Program.H0)
}

// simplify puts the rule's choice in the place of a result's selection, which stays where nothing simpler is within the
// bound.
func (t *task) simplify(ctx context.Context, out *Result) error {
	s := out.Selection
	if !t.Config.OneSE || out.Refit == nil || s == nil || s.X == nil || ctx.Err() != nil || !(slices.Max(s.Lambda) > 0) {
		return nil
	}
	se := t.Advice.StandardError(s.X)
	bound := out.Refit.Validation + se
	if !finite.All(bound) {
		return nil
	}
	e, err := t.everyWeight(ctx)
	if e == nil || err != nil {
		return err
	}
	defer e.close()
	var best trial
	within := func(log float64) (bool, error) {
		tr, err := e.at(ctx, scaled(s.Lambda, math.Exp(log)))
		if err != nil || tr.X == nil || ctx.Err() != nil || !(tr.Errors.Validation <= bound) {
			return false, err
		}
		best = tr
		return true, nil
	}
	inside, outside := 0.0, math.Log(simplerFirst)
	for range simplerSteps {
		ok, err := within(outside)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		inside, outside = outside, 2*outside
	}
	for range simplerSteps {
		middle := (inside + outside) / 2
		ok, err := within(middle)
		if err != nil {
			return err
		}
		if ok {
			inside = middle
		} else {
			outside = middle
		}
	}
	if best.X == nil {
		return nil
	}
	if err := out.choose(t, best); err != nil {
		return err
	}
	out.say(fmt.Sprintf("one standard error: weights %.3g times those of least validation error", math.Exp(inside)))
	return nil
}
