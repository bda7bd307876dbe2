package tune

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
)

// The final training.
//
// It is made after a stop, too, for the best point that there is, as far as it is fast: for so long after a
// cancellation, and for what is left of a time limit, of which a share is kept where no lower-level solution is a
// predictor. What is not done by then is left to itself and forgotten, and the lower-level solution stays, of a
// cross-validation the mean of those of its folds.
const (
	// grace is the time for it after a cancellation or the end of a time limit: a run is to end within a tenth of a
	// second.
	grace = 30 * time.Millisecond
	// patience is how much longer it may take to notice that it is to stop.
	patience = 10 * time.Millisecond
	// kept is the share of a time limit that is kept.
	kept = 10
)

// limits are the contexts of a run.
type limits struct {
	caller, search context.Context
	deadline       time.Time // of everything; zero without
	end            context.CancelFunc
}

// limits divides the time limit, which began at begun.
func (t *task) limits(ctx context.Context, begun time.Time) limits {
	l := limits{caller: ctx, search: ctx, end: func() {}}
	if limit := t.Config.TimeLimit; limit > 0 {
		l.deadline = begun.Add(limit)
		until := l.deadline
		if t.onlyRetrained() {
			until = until.Add(-limit / kept)
		}
		l.search, l.end = context.WithDeadline(ctx, until)
	}
	return l
}

// final is the context of the final training.
func (l limits) final() (context.Context, context.CancelFunc) {
	switch {
	case l.caller.Err() != nil:
		return context.WithTimeout(context.WithoutCancel(l.caller), grace)
	case l.deadline.IsZero():
		return context.WithCancel(l.caller)
	}
	until := l.deadline
	if least := time.Now().Add(grace); until.Before(least) {
		until = least
	}
	return context.WithDeadline(l.caller, until)
}

// stoppedBy is the status of what the error of a context has ended.
func stoppedBy(err error) outcome.Stop {
	if errors.Is(err, context.DeadlineExceeded) {
		return outcome.TimeLimit
	}
	return outcome.Cancelled
}

// ended says that an error is of a context: it has ended, or will have before what was asked for could begin.
func ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// end is the status of a result whose context ended before it was complete.
func (out *Result) end(status outcome.Stop) {
	switch out.Status {
	case outcome.Converged, dca.Inaccurate, outcome.IterationLimit:
		out.Status = status
	}
}

// onlyRetrained says that no lower-level solution is the predictor.
func (t *task) onlyRetrained() bool {
	return t.Advice.Retrain != nil && !t.Advice.Predicts
}

// retrain trains the predictor on all rows, where the model or the configuration wants that.
func (out *Result) retrain(t *task, l limits) error {
	ok, choice := t.Advice.Retrain != nil, t.Advice.Predicts
	out.TrainedOn = FinalTrain
	if choice || !ok {
		out.LowerLevel = out.Refit
	}
	if !ok || choice && t.Config.final() != FinalAll || out.Refit == nil || out.Selection == nil {
		return nil
	}
	t.begin(dca.Place{Stage: dca.StageFinal})
	ctx, end := l.final()
	defer end()
	fit, test, err := out.train(ctx, t)
	if err == nil && !(fit.Finite() && (test == nil || finite.All(*test))) {
		err = &problems.TrainingError{Status: backends.NumericalError}
	}
	var failed *problems.TrainingError
	switch {
	case err == nil:
	case ctx.Err() != nil || ended(err):
		out.end(stoppedBy(cmp.Or(l.caller.Err(), ctx.Err(), err)))
		out.unfinished(t, choice)
		return nil
	case errors.As(err, &failed):
		out.say(failed.Error())
		if choice {
			return nil // the lower-level solution stays
		}
		// The result stays without a predictor, and says why.
		out.Refit = nil
		if out.Status == outcome.Converged {
			out.Status = outcome.NumericalError
		}
		return nil
	default:
		return err
	}
	refit := *out.Refit // the trace may share it
	refit.Test = test
	out.Refit, out.RefitFit, out.TrainedOn = &refit, fit, FinalAll
	if !choice {
		out.Errors.Test, out.Iterate = test, fit
	}
	if fit.Inaccurate {
		if out.say("the training on all rows missed its tolerances"); out.Status == outcome.Converged {
			out.Status = dca.Inaccurate
		}
	}
	return nil
}

// open times its value is, in the final training after a gap was closed, a radius that held nothing back: more rows are
// not to be held back by it, either.
const open = 1.25

// train trains with what was selected. It does not wait for longer than the context and patience.
func (out *Result) train(ctx context.Context, t *task) (problems.Fit, *float64, error) {
	s, p := out.Selection, &t.Program
	train, weighted := t.Advice.Retrain, t.Advice.RetrainWeighted
	values := s.Radii
	switch {
	case weighted != nil && s.Weighted && !(t.Config.Preset == PresetPaper && len(s.Upper) > 0):
		values, train = s.Lambda, weighted
	case p.Hi == nil && p.Joint == nil && t.settings().GapTol > 0:
		for j, l := range s.Lambda {
			if l == 0 {
				s.Radii[j] *= open // those of the result, as the solution of the lower level stays
			}
		}
	}
	h := slices.Concat(values, s.Upper)
	type trained struct {
		fit  problems.Fit
		test *float64
	}
	got, err := stop.Wait(ctx, patience, func() (r trained, err error) {
		solver := t.trainer()
		solver.Near = s.Lambda // as the loss is a mean over rows, for more rows, too
		r.fit, r.test, err = train(ctx, solver, h)
		return r, err
	})
	if errors.Is(err, stop.ErrLeft) {
		err = ctx.Err()
	}
	return got.fit, got.test, err
}

// unfinished is what becomes of a result whose final training was stopped.
func (out *Result) unfinished(t *task, choice bool) {
	if choice {
		out.say("stopped before the training on all rows: the model is the fit to the training rows")
		return
	}
	out.TrainedOn = FinalFolds
	out.say("stopped before the training on all rows: the model is the mean of the folds' fits")
	if test := t.Advice.TestError; test != nil {
		refit := *out.Refit
		refit.Test = test(out.RefitFit)
		out.Refit = &refit
	}
}

// say adds to the message.
func (out *Result) say(text string) {
	out.Message = strings.TrimPrefix(out.Message+"; "+text, "; ")
}
