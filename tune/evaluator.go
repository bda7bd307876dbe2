package tune

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// evaluator solves lower levels in penalty form, each from the one before: by the fit of the model, where the backend
// is ours, which takes a tenth of the time of a conic program. The others, and what the fit cannot solve, are conic
// programs.
type evaluator struct {
	task   *task
	space  *space         // nil for one with an axis for each weight
	form   *dca.Penalized // nil once it is closed
	traits *lower.Traits  // of the fit; nil if all are conic programs
	gap    float64        // of solves by the fit, in the place of its own where it is larger
	// far says that a trial that is solved to a gap is too far from the best one to be solved further; nil for none.
	far func(tr *trial, gap float64) bool
	// coarse is the gap at which the next trial is worth a look, as the one before it on a path, whose error is before,
	// was as far from the best; 0 for none. A solve goes from that one towards its own solution, so that the error is
	// above the best at the end, too, unless it falls.
	coarse, before float64
	alone          bool // what the fit cannot solve is not solved at all
}

func (t *task) evaluator(ctx context.Context, s *space) (*evaluator, error) {
	e, p := &evaluator{task: t, space: s}, t.Program
	fit, err := t.searching(ctx)
	if err != nil {
		return nil, err
	}
	if fit != nil {
		traits := fit.Traits()
		e.traits, p.Fit, p.FitTol = &traits, fit, gapOf(traits)
	}
	e.form, err = dca.NewPenalized(p, t.settings())
	return e, err
}

// penalised returns the fit of the model, made once and shared by all evaluators; nil if there is none. The error is
// errStopped where the context ends before it is made.
func (t *task) penalised(ctx context.Context) (lower.Fit, error) {
	if t.fit != nil {
		return t.fit, nil
	}
	if t.Advice.Fit == nil {
		return nil, nil
	}
	fit, err := stop.Do(ctx, nil, t.Advice.Fit)
	if fit == nil && err == nil && ctx.Err() != nil {
		return nil, errStopped
	}
	t.fit = fit
	return fit, err
}

// searching returns the fit that is taken in the place of conic programs, nil but for the native backend: that of all
// folds together, made once and shared by all evaluators, or where there is none that of penalised.
func (t *task) searching(ctx context.Context) (lower.Fit, error) {
	if !t.Config.quick() {
		return nil, nil
	}
	if t.Advice.Together == nil || !t.byWeights() {
		return t.penalised(ctx)
	}
	if t.together == nil {
		fit, err := t.Advice.Together(ctx)
		if ctx.Err() != nil || ended(err) {
			t.short = true
			return nil, errStopped
		}
		if err != nil {
			return nil, err
		}
		if t.together = fit; fit == nil {
			return t.penalised(ctx)
		}
	}
	return t.together, nil
}

// trainer solves the final trainings.
func (t *task) trainer() problems.Solver {
	return problems.Solver{Backend: t.Backend, Options: t.Config.solver(), Fits: t.Config.quick()}
}

// directGap is the relative gap of direct solves, compactGap that of large fits with compact points, see
// [lower.Traits].
const directGap, compactGap = 1e-9, 3e-3

// gapOf is the relative gap to which a fit is solved.
func gapOf(traits lower.Traits) float64 {
	if traits.Compact() {
		return compactGap
	}
	return math.Max(directGap, traits.Coarse)
}

// known is a gap as it is reported: nil where it was not computed.
func known(gap float64) *float64 {
	if math.IsNaN(gap) {
		return nil
	}
	return &gap
}

// at solves and scores the lower level at values of the axes. The trial has no X where the solve failed.
func (e *evaluator) at(ctx context.Context, values []float64) (trial, error) {
	if e.space == nil {
		return e.with(ctx, slices.Clone(values), nil)
	}
	lambda, upper := e.space.hyper(values)
	return e.with(ctx, lambda, upper)
}

// firstGap times the gap of a search is that of the first solve of a trial that may be far from the best one, and
// nextGap the factor from solve to solve, where the loss is linear in pieces. Others are solved to the gap of the
// search at once, or where a first look leastFirst times as coarse may do, after that.
const firstGap, nextGap, leastFirst = 1e3, 0.2, 8

// with is that with hyperparameters. A trial is solved as far as its error may be the least.
func (e *evaluator) with(ctx context.Context, lambda, upper []float64) (trial, error) {
	gap, next, least := 0.0, 0.0, math.Inf(-1)
	switch {
	case e.far == nil || e.traits == nil:
	case e.traits.Piecewise:
		gap, next = firstGap*e.gap, nextGap
	case e.coarse >= leastFirst*e.gap:
		gap, least = e.coarse, e.before
	}
	e.coarse = 0
	for ; ; gap *= next {
		tr := trial{Lambda: lambda, Upper: upper}
		s, err := e.form.MinimizeTo(ctx, lambda, upper, max(gap, e.gap), e.alone)
		if err != nil {
			return tr, err
		}
		if tr.X = s.X; tr.X != nil {
			tr.Gap, tr.folds, tr.Inaccurate = known(s.Gap), s.Folds, s.Status != backends.Optimal
			if radii := e.task.Program.Radii; s.Kept != nil {
				tr.Lambda, tr.radii, tr.Upper = s.Lambda, s.Kept[:radii:radii], s.Kept[radii:]
			}
			if unit := e.task.Advice.Exact; unit > 0 && len(tr.folds) > 0 {
				tr.Errors = &problems.Errors{Validation: unit * stat.Mean(tr.folds, nil)}
			}
			e.task.rate(&tr)
		}
		tr.Elapsed, tr.rough = e.task.elapsed(), next == 0 && gap > e.gap
		conic := !math.IsNaN(s.Residual)
		if gap <= e.gap || tr.X == nil || conic || ctx.Err() != nil || e.far(&tr, gap) && tr.value() >= least {
			return tr, nil
		}
	}
}

// close frees the solver and counts its work. Further calls do nothing.
func (e *evaluator) close() {
	if e.form != nil {
		e.task.stats.Add(e.form.Stats())
		_ = e.form.Close() // the results are there
		e.form = nil
	}
}
