package tune

import (
	"context"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/problems"
)

// Caution with a hyperparameter for each coefficient.
//
// So many hyperparameters follow the noise of the validation rows at once. A model that is [Cautious] is therefore tuned, unless
// the configuration asks for something else, by few iterations on the radii that a path with one weight for all
// penalties leaves above zero; then the weights found are drawn back towards that one weight w,
//
//	lambda_j = w^(1-t) max(gamma_j, f w)^t,
//
// by an exponent that rows held back choose, see exponent.go, with gamma_j the multipliers of the last radii and w itself for radii that are zero. The solution for these lambda is the
// refit. As the penalties are in the units of the losses, which are means over rows, lambda also is what the final
// fit to all rows takes; radii would keep out what only more rows can tell. Where the exponent t is 1, the run only starts
// from a path and stops after few iterations, for models whose hyperparameters are not all radii.

// stoppedByCaution is the message of such a run.
const stoppedByCaution = "stopped after a few iterations, and the weights drawn towards a common one, as there is a hyperparameter for each coefficient; Config.StopFolds 1 goes on"

// stoppedAndDrawn is that where rows held back say how far they are drawn.
const stoppedAndDrawn = "stopped after a few iterations, as there is a hyperparameter for each coefficient, and the weights drawn towards a common one as far as validation rows held back say; Config.StopFolds 1 goes on"

// stoppedNearPath is that of one whose hyperparameters are not drawn anywhere, with Temper 1.
const stoppedNearPath = "stopped after a few iterations from a path with few hyperparameters, as there is one for each coefficient; Config.StopFolds 1 goes on"

// Those of runs that took no iteration from there.
const (
	stoppedOnPath = "taken from a path with few hyperparameters, without an iteration, as there is one for each coefficient; Config.StopFolds 1 goes on"
	drawnFromPath = "no iteration was taken, and the weights are drawn towards a common one, as there is a hyperparameter for each coefficient; Config.StopFolds 1 goes on"
)

// why is the message of a run with caution c that took so many iterations.
func why(c *problems.Caution, iterations int) string {
	switch {
	case c.Temper == 1 && iterations == 0:
		return stoppedOnPath
	case c.Temper == 1:
		return stoppedNearPath
	case iterations == 0:
		return drawnFromPath
	}
	return stoppedByCaution
}

// caution is the model's, nil where it has none or the configuration asks for something else.
func (t *Task) caution() *problems.Caution {
	m, ok := t.Model.(Cautious)
	if !ok || t.asked() {
		return nil
	}
	return m.Caution()
}

// temper replaces the refit of a run by the solution for its weights drawn towards those of the start, by the exponent of c and then by that which rows held back choose for runs with
// settings plain. The refit stays where there is no start of that kind, or nothing to draw (Temper 1), or the solution cannot be found.
func (t *Task) temper(ctx context.Context, out *Result, p dca.Program, s, plain dca.Settings, r *dca.Result, c *problems.Caution, start func(*dca.Program)) error {
	if c.Temper == 1 || ctx.Err() != nil || !drawable(r) {
		return nil
	}
	form, err := dca.NewPenalized(p, nil, s)
	if err != nil {
		return err
	}
	defer form.Close()
	defer func() { t.AddStats(form.Stats()) }()
	if ok, err := t.draw(ctx, out, form, drawn(r, c.Temper, c.Floor)); !ok || err != nil {
		return err
	}
	if !apart(r, c.Floor) {
		return nil
	}
	exponent, chosen, err := t.exponent(ctx, plain, c, start)
	if !chosen || err != nil {
		return err
	}
	ok, err := t.draw(ctx, out, form, drawn(r, exponent, c.Floor))
	if ok && out.Message == stoppedByCaution {
		out.Message = stoppedAndDrawn
	}
	return err
}

// draw makes the solution for some weights the refit; false where there is none.
func (t *Task) draw(ctx context.Context, out *Result, form *dca.Penalized, weights []float64) (bool, error) {
	solution, err := form.Solve(ctx, weights, nil)
	if err != nil || solution.X == nil {
		return false, err
	}
	e, ok := t.score(solution.X)
	if !ok {
		return false, nil
	}
	out.Refit, out.RefitFit, out.LeastNorm = &e, t.Model.Fit(solution.X), false
	out.selected(Selection{Lambda: weights, Radii: solution.Radii, X: solution.X, Weighted: true})
	return true, nil
}
