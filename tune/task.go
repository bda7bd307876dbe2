package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
)

// task is one selection to be made by one method: the model with its data, the budget, and the record of
// what the method has tried. Its methods are for one goroutine at a time.
type task struct {
	Model problems.Model
	// Program and Advice are the model's, made once.
	Program dca.Program
	Advice  problems.Advice
	Backend backends.ConicBackend
	// Config is valid. Its numbers that are zero are for the method to fill in.
	Config Config
	// Start is where to begin, for example what another method selected; nil for the method's own start.
	Start *Selection

	*work
	tuner    tuner
	begun    time.Time
	best     trial
	fit      lower.Fit // see penalised
	together lower.Fit // see searching
	searched *space    // by a search, nil for other methods
}

// work is what has been done for a task and those of its rungs.
type work struct {
	trials, failed int
	notFinite      int // of the failed, as the error is not a finite number
	trace          []Event
	stats          convex.Stats
	short          bool // the context would have ended before a fit could begin
}

// Selection is a choice of hyperparameters with its lower-level solution.
type Selection struct {
	// Lambda are the weights of the penalties, one for each radius.
	Lambda []float64
	// Radii are the P_i(x).
	Radii []float64
	// Upper are the upper variables u; nil where the program has none.
	Upper []float64
	// X are the values of the lower-level variables; nil if not known.
	X [][]float64
	// Weighted says that the weights were chosen, and the radii are what they lead to; else it is the other way round.
	Weighted bool
}

// trial is a lower-level solution that a method has looked at.
type trial struct {
	// Lambda are the weights of the penalties at which it is one, one for each radius, and Upper the upper
	// variables; both are kept.
	Lambda, Upper []float64
	// X are the values of the lower-level variables, which are kept; nil says that the lower level could not be solved.
	X [][]float64
	// Inaccurate says that the solve missed its tolerance.
	Inaccurate bool
	// Gap is the relative gap to which a fit of the model has solved it, see [lower.Point]; nil where none was computed.
	Gap *float64
	// Errors and Elapsed are filled in by [task.record] where they are zero.
	Errors  *problems.Errors
	Elapsed time.Duration

	radii []float64 // of a solution that keeps [dca.Program.Joint], see [dca.Solution.Kept]; else nil, for the P_i(x)
	score *float64  // see [problems.Advice]
	folds []float64 // validation losses of the folds, nil where they are not known
	rough bool      // it was looked at alone, as it is far from the best one
}

// newTask prepares a task. The clock has begun at begun.
func newTask(m problems.Model, c Config, start *Selection, begun time.Time) (*task, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	tuner, _ := method(c.Method) // which Validate knows
	backend, err := c.open()
	if err != nil {
		return nil, err
	}
	t := &task{Model: m, Program: m.Program(), Advice: m.Advice(), Backend: backend, Config: c, Start: start, tuner: tuner,
		begun: begun, work: new(work)}
	if a := &t.Advice; t.Program.Joint != nil && (a.Fit != nil || a.Together != nil) {
		return nil, fmt.Errorf("tune: %s: the fits of Says know nothing of Bilevel.Joint; leave one of them out", m.Name())
	}
	if err := tuner.check(t); err != nil {
		return nil, err
	}
	for _, check := range []func() error{t.checkRung, t.checkFixed} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	if c.OneSE && !t.measured() {
		return nil, fmt.Errorf("tune: one-se: the model %s has no standard error of its validation error", m.Name())
	}
	return t, nil
}

// Elapsed is the time since the start of the run.
func (t *task) elapsed() time.Duration { return time.Since(t.begun) }

// Record scores a trial, keeps it if its validation error, or its score, is the least so far, adds it to the trace,
// and returns that, +Inf for a failed one. One whose error is not a finite number has failed.
func (t *task) record(tr trial) float64 {
	t.trials++
	tr.Elapsed = cmp.Or(tr.Elapsed, t.elapsed())
	e := Event{Method: t.tuner.name, Elapsed: tr.Elapsed, FitGap: tr.Gap}
	e.K, e.Lambda, e.H = t.trials, tr.Lambda, tr.Upper
	e.Gap, e.Residual, e.Distance, e.Stationarity = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	if t.rate(&tr); tr.X != nil && !tr.finite() {
		tr.X = nil
		t.notFinite++
	}
	if tr.X == nil {
		t.failed++
	} else {
		if t.best.X == nil || tr.below(&t.best) {
			t.best = tr
		}
		e.Errors, e.Refit = *tr.Errors, tr.Errors
		if tr.score != nil {
			e.Score, e.Best = tr.score, &t.best.Errors.Validation
		}
	}
	t.add(e)
	if tr.X == nil {
		return math.Inf(1)
	}
	return tr.value()
}

// add puts an event into the trace and tells the caller.
func (t *task) add(e Event) {
	scored := e.Score != nil
	if n := len(t.trace); n > 0 && !scored {
		e.Best = t.trace[n-1].Best
	}
	if !scored && e.Refit != nil && !math.IsNaN(e.Refit.Validation) && (e.Best == nil || e.Refit.Validation < *e.Best) {
		e.Best = &e.Refit.Validation
	}
	t.trace = append(t.trace, e)
	if t.Config.Progress != nil {
		t.Config.Progress(e)
	}
}

// Finish makes the result of what was recorded: the trial of least validation error or score. A status is worked out
// where it is empty: the limits of the context, or else converged.
func (t *task) finish(ctx context.Context, status outcome.Stop, message string) (*Result, error) {
	out := t.result()
	out.Status, out.Message, out.Iterations = status, message, t.trials
	if status == "" {
		out.Status = t.status(ctx)
	}
	if message == "" && t.failed > 0 {
		out.Message = fmt.Sprintf("%d of %d lower levels could not be solved", t.failed, t.trials)
		if t.notFinite == t.failed {
			out.Message = fmt.Sprintf("%d of %d fits: %s", t.failed, t.trials, notFinite)
		}
	}
	out.count(t.stats)
	if t.best.X == nil {
		out.Errors.Validation = math.NaN()
		return out, nil
	}
	if err := out.choose(t, t.best); err != nil {
		return nil, err
	}
	out.Errors, out.Iterate = *out.Refit, out.RefitFit
	if t.searched != nil && t.best.radii == nil && len(t.Program.Path) == 0 {
		out.outermost(t)
	}
	return out, nil
}

// outermost says which axes of a search in a program without a path have the choice at an end of what was tried, beyond
// which there may be better ones.
func (out *Result) outermost(t *task) {
	chosen := t.searched.point(t.best.Lambda, t.best.Upper)
	below, above := make([]bool, len(chosen)), make([]bool, len(chosen))
	for i := range t.trace {
		if e := &t.trace[i]; e.Refit != nil {
			for k, v := range t.searched.point(e.Lambda, e.H) {
				below[k], above[k] = below[k] || v < chosen[k], above[k] || v > chosen[k]
			}
		}
	}
	var least, largest []string
	for k, a := range t.searched.axes {
		if !below[k] && above[k] {
			least = append(least, a.Name)
		} else if below[k] && !above[k] {
			largest = append(largest, a.Name)
		}
	}
	out.sayOf("at the least values tried", least)
	out.sayOf("at the largest values tried", largest)
}

// penalties are the P_i(x) of a trial, by its fit where that has them all: conic programs copy large tables.
func (t *task) penalties(at trial) ([]float64, error) {
	if at.radii != nil {
		return at.radii, nil
	}
	if t.fit != nil && len(bilevel.Parts(t.fit)) == 1 {
		f := bilevel.Parts(t.fit)[0]
		if f.Traits().Compact() || len(t.Program.H0) == t.Program.Radii && f.Dim() == t.Program.Radii {
			return f.Values(at.X).Penalties, nil
		}
	}
	return t.Program.Penalties(at.X, at.Upper)
}

// status tells how a run that did not say so itself has ended.
func (t *task) status(ctx context.Context) outcome.Stop {
	switch {
	case ctx.Err() != nil:
		return stoppedBy(ctx.Err())
	case t.best.X == nil && t.short:
		return outcome.TimeLimit
	case t.best.X == nil:
		return outcome.NumericalError
	case t.best.Inaccurate:
		return dca.Inaccurate
	}
	return outcome.Converged
}

// result is the part of the result that all methods share.
func (t *task) result() *Result {
	return &Result{
		Model: t.Model.Name(), Method: t.tuner.name, Backend: t.Backend.Name(), Seed: t.Config.Seed,
		Loss: t.Advice.Loss, Names: t.Model.Names(), Trace: t.trace, LowerGap: math.NaN(), Stationarity: math.NaN(),
	}
}

// count puts the work of conic solvers into the result.
func (out *Result) count(s convex.Stats) {
	out.BackendSetups, out.BackendUpdates, out.SolverIterations = s.Setups, s.Updates, s.Iterations
	out.SetupSeconds = s.SetupTime.Seconds()
}

// selected puts the hyperparameters into the result.
func (out *Result) selected(s Selection) {
	out.Selection = &s
	out.Lambda, out.Radii = s.Lambda, s.Radii
	values := slices.Concat(s.Lambda, s.Upper)
	out.Hyperparameters = make(map[string]float64, len(values))
	for j, name := range out.Names[:min(len(out.Names), len(values))] {
		out.Hyperparameters[name] = values[j]
	}
}

// begin tells the caller what is done next.
func (t *task) begin(p dca.Place) {
	if t.Config.Begin != nil {
		p.Method = t.tuner.name
		t.Config.Begin(p)
	}
}
