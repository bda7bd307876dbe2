package tune

import (
	"context"
	"fmt"
	"slices"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// The methods of package hypergradient.
const (
	MethodIGJO = "igjo"
	MethodIFDM = "ifdm"
	MethodHOAG = "hoag"
)

// hypergradients descends along the gradient of the validation error. It solves its lower levels by
// the fit of the model and not by the conic backend.
type hypergradients struct {
	name string
	run  func(context.Context, lower.Fit, hypergradient.Settings) (*hypergradient.Result, error)
	// mode is what the fit has to have.
	mode lower.Mode
	// share of LambdaMax is the paper's start; 0 stands for plainStart.
	share float64
}

// plainStart is the paper's start of IGJO.
const plainStart = 0.01

func hypergradientTuners() []Tuner {
	return []Tuner{
		hypergradients{name: MethodIGJO, run: hypergradient.IGJO, mode: lower.Adjoint},
		hypergradients{name: MethodIFDM, run: hypergradient.IFDM, mode: lower.Forward, share: 0.01},
		hypergradients{name: MethodHOAG, run: hypergradient.HOAG, mode: lower.Adjoint, share: 0.01},
	}
}

func (h hypergradients) Name() string { return h.name }

// Check rejects models without the derivative that the method needs.
func (h hypergradients) Check(t *Task) error {
	if slices.Contains(t.Advice.Modes, h.mode) {
		return nil
	}
	return &UnableError{Method: h.name, Model: t.Model.Name()}
}

// UnableError says that a method cannot do a model, see [Able].
type UnableError struct{ Method, Model string }

func (e *UnableError) Error() string {
	return fmt.Sprintf("tune: %s cannot do the model %s: it needs the derivative of the lower level's solution", e.Method, e.Model)
}

// Able says whether a method can do the models whose fits have some modes, see [problems.Advice]: methods along a
// hypergradient need theirs, and all others take every model.
func Able(method string, modes []lower.Mode) bool {
	for _, t := range hypergradientTuners() {
		if t.Name() == method {
			return slices.Contains(modes, t.(hypergradients).mode)
		}
	}
	return true
}

// Tune starts from the selection of an earlier method, from the paper's point, or from a path.
func (h hypergradients) Tune(ctx context.Context, t *Task) (*Result, error) {
	p, err := t.penalised(ctx)
	if err != nil {
		return nil, fmt.Errorf("tune: %s: %w", h.name, err)
	}
	if p == nil || p.Traits().Gradient == nil {
		return nil, fmt.Errorf("tune: %s: the fit of the model %s cannot be differentiated", h.name, t.Model.Name())
	}
	radii := t.Program.Radii
	trial := func(at *lower.Point) Trial {
		tr := Trial{Lambda: at.Lambda[:radii:radii], X: at.X, Gap: known(at.Gap)}
		if radii < len(at.Lambda) {
			tr.Upper = at.Lambda[radii:]
		}
		return tr
	}
	s := h.settings(t, p)
	begin := func(solved int) {
		t.begin(Place{Place: dca.Place{Stage: StageDescent, Point: solved, Points: s.MaxSolves}})
	}
	begin(0)
	s.Observe = func(step hypergradient.Step) {
		begin(step.K)
		if step.Gap <= exactGap { // else it is not a lower-level solution yet
			t.Record(trial(step.Point))
		}
	}
	r, err := h.run(ctx, p, s)
	if err != nil {
		return nil, fmt.Errorf("tune: %s: %w", h.name, err)
	}
	if r.Best != nil && t.best.X == nil { // a rough solution is better than none
		tr := trial(r.Best)
		tr.Inaccurate = true
		t.Record(tr)
	}
	status, message := dca.Status(""), ""
	switch r.Status {
	case hypergradient.IterationLimit:
		status = dca.IterationLimit
	case hypergradient.LowerFailed:
		status, message = dca.Inaccurate, "a lower level could not be solved to the tolerance; the best point before is reported"
	case hypergradient.NotFinite:
		status, message = dca.SolverFailed, "a validation error or its gradient is not a finite number; the best point before is reported"
	}
	return t.Finish(ctx, status, message)
}

// settings are those of the task.
func (h hypergradients) settings(t *Task, fit lower.Fit) hypergradient.Settings {
	var s hypergradient.Settings
	if t.Config.Preset == PresetPaper {
		h.paper(&s, t.Advice.Paper, fit)
	}
	if t.Start != nil {
		s.Start, s.Chosen = slices.Concat(t.Start.Lambda, t.Start.Upper), true
		for i, l := range t.Start.Lambda {
			s.Start[i] = max(l, leastStart*fit.LambdaMax())
		}
	}
	s.Tol, s.MaxSolves = t.Config.Tol, t.Config.Evaluations
	if t.Config.MaxIter > 0 {
		s.MaxIter = t.Config.MaxIter
	}
	return s
}

// paper puts the settings of the paper's experiments into s.
func (h hypergradients) paper(s *hypergradient.Settings, p problems.Paper, fit lower.Fit) {
	if p.Untried {
		return
	}
	s.Start = []float64{h.share * fit.LambdaMax()}
	switch {
	case h.name == MethodIFDM:
		s.Normalised = p.IFDM
	case h.name == MethodIGJO && p.IGJO != nil:
		s.Backtracking, s.Start, s.MaxIter = p.IGJO, []float64{p.IGJO.Start}, p.IGJO.MaxIter
	case h.name == MethodIGJO:
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
