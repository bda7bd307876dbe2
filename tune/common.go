package tune

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
)

// Weights that the folds share, after VF-iDCA.
//
// In VF-iDCA the folds of a cross-validation share the radii, in all other methods the weights. A shared radius fits the size of each fold's
// coefficients to its validation rows, so that the error is the smaller one for the same test error: the two cannot be compared. And
// the final fit to all rows has more rows than a fold, for which weights keep their meaning, as losses are means over rows, and radii do not. So
// VF-iDCA goes on to weights: its multipliers and the weights of its start are scored with the same weights in each fold, a compass
// search in their logarithms goes on from the better ones, and the best are the selection. A search on all of the weights finds from the
// start what it finds from the multipliers, so that one or two weights are searched for without iterations, see paths.go, unless these are asked for.

const (
	// compassMost is the largest number of weights that are searched on: more of them follow the noise of the validation rows.
	compassMost = 2
	// compassTrials bounds the lower levels that the search solves.
	compassTrials = 60
	// compassFirst and compassLast are the first and the last factor of its steps.
	compassFirst, compassLast = 2, 1.01
	// compassAlone is the first factor of its steps with one weight alone.
	compassAlone = 4
	// compassFloor is the share of the largest weight below which none goes down.
	compassFloor = 1e-5
	// compassGain is the share of the validation error below which there is nothing left to gain: a fraction of its standard error on any table.
	compassGain = 1e-4
)

// byWeights says whether the selection of the task is to be weights that its folds share.
func (t *Task) byWeights() bool {
	a := &t.Advice
	return a.RetrainWeighted != nil && (a.Folds || a.Rung != nil) && t.Config.Preset != PresetPaper && t.Program.Radii == len(t.Program.H0)
}

// searchedFirst is the message of a run without iterations, with the reason.
const searchedFirst = "without iterations: the weights that the folds share are searched for from the best ones of a path, %s; Config.MaxIter iterates first"

// common replaces the selection of radii in a result by one of weights, see [Task.byWeights]; start are the weights of the run's start, or nil. It leaves the
// result alone where none of the weights can be scored.
func (t *Task) common(ctx context.Context, out *Result, start []float64) error {
	if !t.byWeights() || out.Refit == nil || out.Selection == nil || ctx.Err() != nil {
		return nil
	}
	e, err := t.everyWeight(ctx, nil)
	if e == nil || err != nil {
		return err
	}
	defer e.close()
	c := compass{ctx: ctx, at: e.at}
	if err := c.try(out.Lambda); err != nil {
		return err
	}
	if start != nil {
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
	return out.choose(t, c.best)
}

// choose makes a trial the selection, and its solution the refit.
func (out *Result) choose(t *Task, tr Trial) error {
	radii, err := t.penalties(tr)
	if err != nil {
		return err
	}
	refit := *tr.Errors
	out.Refit, out.RefitFit, out.LeastNorm = &refit, t.Model.Fit(tr.X), false
	out.selected(Selection{Lambda: tr.Lambda, Radii: radii, X: tr.X, Weighted: true})
	return nil
}

// everyWeight is an evaluator with an axis for each weight, and upper variables as given, nil where the context ended.
func (t *Task) everyWeight(ctx context.Context, upper []float64) (*evaluator, error) {
	s := &space{radii: t.Program.Radii, upper: upper}
	for j := range s.radii {
		s.axes = append(s.axes, Axis{Members: []int{j}})
	}
	e, err := t.evaluator(ctx, s)
	if errors.Is(err, errStopped) {
		return nil, nil
	}
	return e, err
}

// compass is a search along the axes of points, in their logarithms.
type compass struct {
	ctx    context.Context
	at     func(ctx context.Context, lambda []float64) (Trial, error)
	fallen func(to float64) // is told to which share of the first of its path the least error has fallen
	scale  float64          // of errors: below it, gains are shares of it
	low    float64          // least value of the largest weight
	listed bool             // weights alone are among those tried
	best   Trial
	point  []float64 // of the best
	trials int
	tried  []tried
}

// tried is a point and its validation error or score.
type tried struct {
	point []float64
	value float64
}

// try scores a point and keeps it if it is the best. After the end of the context, or of the budget, it does nothing.
func (c *compass) try(point []float64) error {
	_, err := c.score(point)
	return err
}

// score is try, and returns the trial, nil where there is none: the weights are all zero, were tried before, or cannot be scored.
func (c *compass) score(point []float64) (*Trial, error) {
	if c.ctx.Err() != nil || c.trials == compassTrials || !(slices.Max(point) > 0) || slices.Max(point) < c.low || !math.IsNaN(c.known(point)) {
		return nil, nil
	}
	c.trials++
	point = lower.Positive(point)
	tr, err := c.at(c.ctx, point)
	if err != nil || tr.X == nil || c.ctx.Err() != nil || !finite(tr.Errors.Validation, tr.value()) || !finite(tr.Lambda...) {
		return nil, err
	}
	c.tried = append(c.tried, tried{point, tr.value()})
	if c.best.X == nil || tr.below(&c.best) {
		c.best, c.point = tr, point
	}
	return &tr, nil
}

// known is the validation error or score of a point that was scored before, up to rounding, and NaN of others.
func (c *compass) known(point []float64) float64 {
	for _, t := range c.tried {
		if floats.EqualFunc(t.point, point, func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }) {
			return t.value
		}
	}
	return math.NaN()
}

// left is the share of the best validation error by which the parabolas through it and its neighbours at a step along each axis are below it; +Inf where a neighbour
// was not scored. A weight at its floor has none below.
func (c *compass) left(step, floor float64) float64 {
	best, sum := c.best.value(), 0.0
	for k := range c.point {
		value := func(way float64) float64 {
			next := slices.Clone(c.point)
			next[k] *= math.Exp(way * step)
			return c.known(next)
		}
		up, down := value(1), value(-1)
		if c.point[k] <= 2*floor && (up >= best || c.listed && len(c.point) > 1) {
			continue
		}
		if bend := up + down - 2*best; bend > 0 {
			sum += (up - down) * (up - down) / (8 * bend)
		} else if math.IsNaN(bend) {
			return math.Inf(1)
		}
	}
	return sum / math.Max(math.Abs(best), c.scale)
}

// alone scores each weight alone, the others at their floor, along its axis: the error may have a minimum near each axis that no step from the others leads to,
// as that of ridge regression with a weight a hundred times that of the best lasso.
func (c *compass) alone() error {
	from, best, point := slices.Max(c.point), c.best, c.point
	for k := range point {
		c.best = Trial{}
		weights := make([]float64, len(point))
		for j := range weights {
			weights[j] = compassFloor * from
		}
		weights[k] = from
		if err := c.try(weights); err != nil {
			return err
		}
		if c.best.X != nil {
			gained, err := c.along(k, math.Log(compassAlone), compassFloor*from)
			if err == nil && !gained {
				_, err = c.along(k, -math.Log(compassAlone), compassFloor*from)
			}
			if err != nil {
				return err
			}
		}
		if c.best.X == nil || best.value() <= c.best.value() {
			c.best, c.point = best, point
		}
		best, point = c.best, c.point
	}
	return nil
}

// search begins at the best weights, or at a better one alone, and goes along one axis after the other, up or down, in steps that double while they lead
// down and shrink where none does, until there is nothing left to gain.
func (c *compass) search() error {
	if len(c.point) > 1 && slices.Max(c.point) > 0 && !c.listed {
		if err := c.alone(); err != nil {
			return err
		}
	}
	floor := compassFloor * slices.Max(c.point)
	if !(floor > 0) {
		return nil
	}
	idle := 0
	for step := math.Log(compassFirst); step > math.Log(compassLast); step /= 2 {
		for moved := true; moved; {
			moved = false
			for k := range c.point {
				if c.listed && len(c.point) > 1 && c.point[k] <= 2*floor { // of no weight beside the other
					continue
				}
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
		if c.left(step, floor) >= compassGain {
			idle = 0
		} else if idle++; idle == 2 { // at one step, a curve with small waves may hide them
			return nil
		}
	}
	return nil
}

// along goes on along axis k while that leads down, and says whether it did.
func (c *compass) along(k int, step, floor float64) (bool, error) {
	gained := false
	for {
		before := c.best.value()
		next := slices.Clone(c.point)
		next[k] = math.Max(next[k]*math.Exp(step), floor)
		if next[k] <= c.point[k] && step > 0 || next[k] >= c.point[k] && step < 0 {
			return gained, nil
		}
		if err := c.try(next); err != nil {
			return gained, err
		}
		if !(c.best.value() < before) {
			return gained, nil
		}
		gained, step = true, 2*step
	}
}

// scaled are weights without zeros times a factor.
func scaled(lambda []float64, factor float64) []float64 {
	out := lower.Positive(lambda)
	for j := range out {
		out[j] *= factor
	}
	return out
}
