package tune

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/lower"
)

// Weights that the folds share, after VF-iDCA.
//
// In VF-iDCA the folds of a cross-validation share the radii, in all other methods the weights. A shared radius fits
// the size of each fold's coefficients to its validation rows, so that the error is the smaller one for the same test
// error: the two cannot be compared. And the final fit to all rows has more rows than a fold, for which weights keep
// their meaning, as losses are means over rows, and radii do not. So VF-iDCA goes on to weights: its multipliers and
// the weights of its start are scored with the same weights in each fold, and the best are the selection. One or two
// are searched for on paths, see paths.go, which find the minimum without iterations, unless these are asked for.

const (
	// compassMost is the largest number of weights that are searched on: more of them follow the noise of the validation
	// rows.
	compassMost = 2
	// compassTrials bounds the lower levels that the search solves.
	compassTrials = 60
	// compassFirst and compassLast are the first and the last factor of its steps.
	compassFirst, compassLast = 2, 1.01
	// compassFloor is the share of the largest weight below which none goes down.
	compassFloor = 1e-5
	// compassGain is the share of the validation error below which there is nothing left to gain: a fraction of its
	// standard error on any table.
	compassGain = 1e-4
)

// byWeights says whether the selection of the task is to be weights that its folds share.
func (t *task) byWeights() bool {
	a := &t.Advice
	return (a.Spread != nil || a.RetrainWeighted != nil && a.Folds) && t.Config.Preset != PresetPaper &&
		t.Program.Radii == len(t.Program.H0)
}

// common replaces the selection of radii in a result by one of weights, see [task.byWeights]; start are the weights of
// the run's start, or nil. It leaves the result alone where none of the weights can be scored.
func (t *task) common(ctx context.Context, out *Result, start []float64) error {
	if !t.byWeights() || out.Refit == nil || out.Selection == nil || ctx.Err() != nil {
		return nil
	}
	e, err := t.everyWeight(ctx, nil)
	if e == nil || err != nil {
		return err
	}
	defer e.close()
	p, err := t.lines(ctx)
	if err != nil {
		return err
	}
	c := compass{ctx: ctx, fits: e, at: e.at}
	for _, lambda := range [][]float64{out.Lambda, start} {
		if lambda == nil {
			continue
		}
		if _, err := c.score(lambda); err != nil {
			return err
		}
	}
	if p != nil {
		if err := c.down(p); err != nil {
			return err
		}
	}
	if c.best.X != nil && p != nil {
		if c.best, err = e.exactly(ctx, p, c.best); err != nil {
			return err
		}
	}
	if c.best.X == nil {
		return nil
	}
	if t.Program.Radii > compassMost {
		if err := t.stationary(ctx, &c); err != nil {
			return err
		}
	}
	return out.choose(t, c.best)
}

// stationary goes on along the hypergradient, with more weights than a compass can search on: multipliers of radii that
// the folds share are stationary in these radii, and not in weights that they share. As there are many minima, it goes
// from the best point, and with and without a line search from those of a path of common weights.
func (t *task) stationary(ctx context.Context, c *compass) error {
	fit, err := t.penalised(ctx)
	if errors.Is(err, errStopped) || err == nil && (fit == nil || fit.Traits().Gradient == nil) {
		return nil
	}
	if err != nil {
		return err
	}
	for k, descend := range []func(context.Context, lower.Fit, hypergradient.Settings) (*hypergradient.Result, error){
		hypergradient.IGJO, hypergradient.IGJO, hypergradient.HOAG,
	} {
		s := hypergradient.Settings{Observe: func(k int, _ *lower.Point) {
			t.begin(dca.Place{Stage: dca.StageDescent, Point: k})
		}}
		if k == 0 {
			s.Start = c.best.Lambda
		}
		r, err := descend(ctx, fit, s)
		if err == nil && r.Best != nil {
			_, err = c.score(r.Best.Lambda)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// choose makes a trial the selection, and its solution the refit.
func (out *Result) choose(t *task, tr trial) error {
	radii, err := t.penalties(tr)
	if err != nil {
		return err
	}
	refit := *tr.Errors
	out.Refit, out.RefitFit, out.LeastNorm = &refit, t.Model.Fit(tr.X), false
	out.selected(Selection{Lambda: tr.Lambda, Radii: radii, Upper: tr.Upper, X: tr.X, Weighted: true})
	return nil
}

// everyWeight is an evaluator of a space, or where that is nil with an axis for each weight; nil where the context
// ended.
func (t *task) everyWeight(ctx context.Context, s *space) (*evaluator, error) {
	e, err := t.evaluator(ctx, s)
	if errors.Is(err, errStopped) {
		return nil, nil
	}
	return e, err
}

// compass is a search along the axes of points, in their logarithms.
type compass struct {
	ctx    context.Context
	fits   *evaluator // is told how exact the next fit has to be
	at     func(ctx context.Context, lambda []float64) (trial, error)
	scale  float64 // of errors: below it, gains are shares of it
	low    float64 // least value of the largest weight
	best   trial
	point  []float64 // of the best
	trials int
	tried  []tried
}

// tried is a point and its validation error or score.
type tried struct {
	point []float64
	value float64
	rough bool
}

// score scores a point and keeps it if it is the best. It returns the trial, nil where there is none: the context or
// the budget has ended, the weights are all zero, were tried before, or cannot be scored.
func (c *compass) score(point []float64) (*trial, error) {
	if c.ctx.Err() != nil || c.trials == compassTrials || !(slices.Max(point) > 0) || slices.Max(point) < c.low ||
		!math.IsNaN(c.known(point)) {
		return nil, nil
	}
	c.trials++
	point = lower.Positive(point)
	tr, err := c.at(c.ctx, point)
	if err != nil || tr.X == nil || c.ctx.Err() != nil || !tr.finite() {
		return nil, err
	}
	c.tried = append(c.tried, tried{point, tr.value(), tr.rough})
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

// left is the share of the best validation error by which the parabolas through it and its neighbours at a step along
// each axis are below it; +Inf where a neighbour was not scored.
func (c *compass) left(step float64) float64 {
	best, sum := c.best.value(), 0.0
	for k := range c.point {
		up, down := c.known(c.moved(k, step)), c.known(c.moved(k, -step))
		if bend := up + down - 2*best; bend > 0 {
			sum += (up - down) * (up - down) / (8 * bend)
		} else if math.IsNaN(bend) {
			return math.Inf(1)
		}
	}
	return sum / math.Max(math.Abs(best), c.scale)
}

// search goes on from the best point, with one or two weights: all together, and along the odds of the first, up or
// down, in steps that double while they lead down and shrink where none does, until there is nothing left to gain.
func (c *compass) search() error {
	idle := 0
	return numerics.Compass(math.Log(compassFirst), math.Log(compassLast), len(c.point), c.along, func(step float64) bool {
		if c.left(step) >= compassGain {
			idle = 0
		} else {
			idle++
		}
		return idle == 2 // at one step, a curve with small waves may hide them
	})
}

// along goes on along an axis while that leads down, and says whether it did.
func (c *compass) along(axis int, step float64) (gained bool, err error) {
	for {
		before, next := c.best.value(), c.moved(axis, step)
		if slices.Min(next) < compassFloor*slices.Max(next) {
			return gained, nil
		}
		if _, err := c.score(next); err != nil || !(c.best.value() < before) {
			return gained, err
		}
		gained, step = true, 2*step
	}
}

// moved is the best point with all weights, or on axis 1 the odds of the first of two, times a factor. Two together
// were refined on a line before, so that they take steps of a quarter.
func (c *compass) moved(axis int, step float64) []float64 {
	next := slices.Clone(c.point)
	if axis == 0 {
		if len(next) > 1 {
			step /= 4
		}
		floats.Scale(math.Exp(step), next)
		return next
	}
	next[0] *= math.Exp(step)
	floats.Scale(floats.Sum(c.point)/floats.Sum(next), next)
	return next
}

// scaled are weights without zeros times a factor.
func scaled(lambda []float64, factor float64) []float64 {
	out := lower.Positive(lambda)
	for j := range out {
		out[j] *= factor
	}
	return out
}
