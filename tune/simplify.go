package tune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/problems"
)

// The rule of one standard error (Breiman, Friedman, Olshen, Stone, Classification and Regression Trees, 1984, section
// 3.4.3).
//
// The validation error is itself an estimate, flat around its minimum, and what is chosen there depends on chance.
// Under the rule the simplest model is taken whose validation error is at most the least one and its standard error.
// Simpler are larger weights: all that are not fixed, times the largest factor within the bound. Of two weights of a
// model that selects features that is done for several shares of the first in their sum, beside the selection's, and
// the model of fewest features is taken, of several that of least error.

const (
	// simplerFirst is the first factor that the weights are tried with, which doubles in logarithms; simplerSteps bounds
	// these steps, and the halvings of the last one.
	simplerFirst = 1.5
	simplerSteps = 8
)

// simplerShares are the shares that are tried.
var simplerShares = []float64{1, 0.9, 0.5, 0.1}

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
	bound := out.Refit.Validation + t.Advice.StandardError(s.X)
	if !finite.All(bound) {
		return nil
	}
	free, err := t.openSpace(ScopeEach)
	if err != nil || len(free.axes) == 0 {
		return err
	}
	e, err := t.everyWeight(ctx, free)
	if e == nil || err != nil {
		return err
	}
	defer e.close()
	starts := [][]float64{scaled(free.point(s.Lambda, s.Upper), 1)}
	if sum := floats.Sum(s.Lambda); len(s.Lambda) == 2 && t.Config.Fixed == nil && t.Advice.Columns != nil {
		for _, share := range simplerShares {
			starts = append(starts, scaled([]float64{share * sum, (1 - share) * sum}, 1))
		}
	}
	list := []trial{{Lambda: s.Lambda, Upper: s.Upper, X: s.X, Errors: out.Refit}}
	for k, from := range starts {
		tr, err := e.simplest(ctx, from, bound, k == 0)
		if err != nil || ctx.Err() != nil {
			return err
		}
		switch {
		case tr.X != nil && k == 0:
			list[0] = tr
		case tr.X != nil:
			list = append(list, tr)
		}
	}
	best, said := 0, ""
	if len(list) > 1 {
		used, err := t.features(ctx, append(list, trial{Lambda: s.Lambda, X: s.X}))
		if err != nil || used == nil {
			return err
		}
		for k, tr := range list {
			if used[k] < used[best] || used[k] == used[best] && tr.Errors.Validation < list[best].Errors.Validation {
				best = k
			}
		}
		said = fmt.Sprintf(", and %d features in the place of %d", used[best], used[len(list)])
	}
	chosen := list[best]
	if chosen.Errors == out.Refit {
		return nil
	}
	said = fmt.Sprintf("weights %.3g times those of least validation error", floats.Sum(chosen.Lambda)/
		floats.Sum(s.Lambda)) + said
	if t.Config.Fixed != nil && len(free.axes) == 1 {
		said = fmt.Sprintf("%s %.3g in the place of %.3g", free.axes[0].Name, free.point(chosen.Lambda, chosen.Upper)[0],
			free.point(s.Lambda, s.Upper)[0])
	}
	if err := out.choose(t, chosen); err != nil {
		return err
	}
	out.say("one standard error: " + said)
	return nil
}

// simplest is the trial of the largest multiple of values of the axes whose validation error is within a bound, where
// known says that they are themselves; without X where there is none.
func (e *evaluator) simplest(ctx context.Context, values []float64, bound float64, known bool) (best trial, err error) {
	within := func(log float64) (bool, error) {
		tr, err := e.at(ctx, scaled(values, math.Exp(log)))
		if err != nil || tr.X == nil || ctx.Err() != nil || !(tr.Errors.Validation <= bound) {
			return false, err
		}
		best = tr
		return true, nil
	}
	up := known
	if !known {
		if up, err = within(0); err != nil {
			return best, err
		}
	}
	// Steps lead out of the bound, or where the values are outside into it.
	last, next := 0.0, math.Log(simplerFirst)
	if !up {
		next = -next
	}
	for range simplerSteps {
		ok, err := within(next)
		if err != nil {
			return best, err
		}
		if ok != up {
			break
		}
		last, next = next, 2*next
	}
	if !up && best.X == nil {
		return best, nil
	}
	inside, outside := min(last, next), max(last, next)
	for range simplerSteps {
		middle := (inside + outside) / 2
		ok, err := within(middle)
		if err != nil {
			return best, err
		}
		if ok {
			inside = middle
		} else {
			outside = middle
		}
	}
	return best, nil
}

// features are the numbers of features that models with the weights of trials use, of the fits to all rows where those
// are the models; nil where the context ended.
func (t *task) features(ctx context.Context, list []trial) (used []int, err error) {
	var fits []problems.Fit
	var weights [][]float64
	for _, tr := range list {
		fits, weights = append(fits, t.Model.Fit(tr.X)), append(weights, tr.Lambda)
	}
	if t.Advice.RetrainPath != nil && (t.onlyRetrained() || t.Config.final() == FinalAll) {
		if fits, err = t.Advice.RetrainPath(ctx, t.trainer(), weights); err != nil || len(fits) < len(list) {
			if ended(err) {
				err = nil
			}
			return nil, err
		}
	}
	for _, f := range fits {
		used = append(used, f.Used())
	}
	return used, nil
}
