package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
)

// descent is a method of package hypergradient, which descends along the gradient of the validation error. It solves
// its lower levels by the fit of the model, and by conic programs where that has no gradient.
type descent struct {
	run func(context.Context, lower.Fit, hypergradient.Settings) (*hypergradient.Result, error)
	// mode is what the fit has to have.
	mode lower.Mode
	// share of LambdaMax is the paper's start; 0 stands for plainStart.
	share float64
}

var descents = map[string]descent{
	MethodIGJO: {run: hypergradient.IGJO, mode: lower.Adjoint},
	MethodIFDM: {run: hypergradient.IFDM, mode: lower.Forward, share: 0.01},
	MethodHOAG: {run: hypergradient.HOAG, mode: lower.Adjoint, share: 0.01},
}

// plainStart is the paper's start of IGJO.
const plainStart = 0.01

// checkDescent rejects models without the derivative that the method needs.
func (t *task) checkDescent() error {
	if Able(t.tuner.name, t.Advice.Modes) {
		return nil
	}
	return &UnableError{Method: t.tuner.name, Model: t.Model.Name()}
}

// UnableError says that a method cannot do a model, see [Able].
type UnableError struct{ Method, Model string }

func (e *UnableError) Error() string {
	return fmt.Sprintf("tune: %s cannot do the model %s: it needs the derivative of the lower level's solution", e.Method,
		e.Model)
}

// Able says whether a method can do the models whose fits have some modes, see [problems.Advice]: methods along a
// hypergradient need theirs, and all others take every model.
func Able(method string, modes []lower.Mode) bool {
	d, descends := descents[method]
	return !descends || slices.Contains(modes, d.mode)
}

// descend starts from the selection of an earlier method, from the paper's point, or from a path.
func (t *task) descend(ctx context.Context) (*Result, error) {
	name := t.tuner.name
	p, err := t.penalised(ctx)
	if err != nil {
		return nil, fmt.Errorf("tune: %s: %w", name, err)
	}
	radii := t.Program.Radii
	trial := func(at *lower.Point) trial {
		tr := trial{Lambda: at.Lambda[:radii:radii], X: at.X, Gap: known(at.Gap)}
		if radii < len(at.Lambda) {
			tr.Upper = at.Lambda[radii:]
		}
		if t.Program.Joint != nil { // see conicFit
			tr.radii, tr.Lambda = tr.Lambda, at.State.([]float64)
		}
		return tr
	}
	var project func(ctx context.Context, h, of []float64) error
	if p == nil || p.Traits().Gradient == nil {
		conic, err := t.conicFit(ctx)
		if err != nil {
			return nil, fmt.Errorf("tune: %s: %w", name, err)
		}
		defer conic.form.Close()
		p, project = conic, conic.project
	}
	s := t.descentSettings(p)
	s.Project = project
	begin := func(solved int) {
		t.begin(dca.Place{Stage: dca.StageDescent, Point: solved, Points: s.MaxSolves})
	}
	begin(0)
	s.Observe = func(k int, at *lower.Point) {
		begin(k)
		if at.Gap <= exactGap { // else it is not a lower-level solution yet
			t.record(trial(at))
		}
	}
	r, err := descents[name].run(ctx, p, s)
	if err != nil {
		return nil, fmt.Errorf("tune: %s: %w", name, err)
	}
	if r.Best != nil && t.best.X == nil { // a rough solution is better than none
		tr := trial(r.Best)
		tr.Inaccurate = true
		t.record(tr)
	}
	status, message := outcome.Stop(""), ""
	switch r.Status {
	case outcome.IterationLimit:
		status = outcome.IterationLimit
	case hypergradient.LowerFailed:
		status, message = dca.Inaccurate,
			"a lower level could not be solved to the tolerance; the best point before is reported"
	case outcome.NumericalError:
		status, message = outcome.NumericalError,
			"a validation error or its gradient is not a finite number; the best point before is reported"
	}
	return t.finish(ctx, status, message)
}

// descentSettings are those of the task.
func (t *task) descentSettings(fit lower.Fit) hypergradient.Settings {
	var s hypergradient.Settings
	if t.Config.Preset == PresetPaper {
		t.paperDescent(&s, fit)
	}
	if from := t.Start; from != nil {
		first := from.Lambda
		if t.Program.Joint != nil {
			first = from.Radii
		}
		s.Start, s.Chosen = slices.Concat(first, from.Upper), true
		for i, l := range first {
			s.Start[i] = max(l, leastStart*fit.LambdaMax())
		}
	}
	s.Tol, s.MaxSolves = t.Config.Tol, t.Config.Evaluations
	s.MaxIter = cmp.Or(t.Config.MaxIter, s.MaxIter)
	return s
}

// paperDescent puts the settings of the paper's experiments into s.
func (t *task) paperDescent(s *hypergradient.Settings, fit lower.Fit) {
	name, p := t.tuner.name, t.Advice.Paper
	if p.Untried {
		return
	}
	s.Start = []float64{descents[name].share * fit.LambdaMax()}
	switch {
	case name == MethodIFDM:
		s.Normalised = p.IFDM
	case name == MethodIGJO && p.IGJO != nil:
		s.Backtracking, s.Start, s.MaxIter = p.IGJO, []float64{p.IGJO.Start}, p.IGJO.MaxIter
	case name == MethodIGJO:
		s.Start[0] = plainStart
	}
	if p.Start > 0 {
		s.Start = []float64{p.Start}
	}
}

// exactGap is the relative gap of what counts as a lower-level solution: that of the other methods' conic solves.
const exactGap = 1e-8

// leastStart is the share of LambdaMax above which weights of zero start.
const leastStart = 1e-4
