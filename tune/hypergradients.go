package tune

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune/hypergradient"
)

// The methods of package hypergradient.
const (
	MethodIGJO = "igjo"
	MethodIFDM = "ifdm"
	MethodHOAG = "hoag"
)

// hypergradients descends along the gradient of the validation error. It solves its lower levels by
// coordinate descent and not by the conic backend.
type hypergradients struct {
	name string
	run  func(context.Context, hypergradient.Model, hypergradient.Settings) (*hypergradient.Result, error)
	// forward says that the method needs the forward mode, which regressions without groups have.
	forward bool
	// plain says that the paper's steps are in the hyperparameters themselves.
	plain bool
	// share of LambdaMax is the paper's start; 0 asks for that of [paperDescent].
	share float64
}

func hypergradientTuners() []Tuner {
	return []Tuner{
		hypergradients{name: MethodIGJO, run: hypergradient.IGJO, plain: true},
		hypergradients{name: MethodIFDM, run: hypergradient.IFDM, share: 0.01, forward: true},
		hypergradients{name: MethodHOAG, run: hypergradient.HOAG, share: 0.01},
	}
}

func (h hypergradients) Name() string { return h.name }

// Check rejects models without a derivative.
func (h hypergradients) Check(t *Task) error {
	can := Differentiable(h.name)
	if !slices.Contains(can, known(t.Model)) {
		return fmt.Errorf("tune: %s cannot do the model %s: it needs the derivative of the lower level's solution, which there is for %s", h.name, t.Model.Name(), strings.Join(can, ", "))
	}
	return nil
}

// Differentiable returns the names of the models that a method along a hypergradient can do, sorted; nil for
// other methods.
func Differentiable(method string) []string {
	for _, t := range hypergradientTuners() {
		if t.Name() != method {
			continue
		}
		if t.(hypergradients).forward {
			return []string{"elastic-net", "logistic", "svm", "weighted-lasso"}
		}
		return slices.Sorted(maps.Keys(makers))
	}
	return nil
}

// makers make the models of package hypergradient from ours, by name.
var makers = map[string]func(Model) (hypergradient.Model, error){
	"elastic-net":    penalised(hypergradient.ElasticNet),
	"weighted-lasso": penalised(hypergradient.WeightedLasso),
	"logistic": func(m Model) (hypergradient.Model, error) {
		train, val, intercept := m.(regressor).Data().Rows()
		return hypergradient.NewLogistic(rows(train), rows(val), intercept)
	},
	"sparse-group-lasso": func(m Model) (hypergradient.Model, error) {
		train, val, intercept := m.(regressor).Data().Rows()
		return hypergradient.NewSparseGroupLasso(rows(train), rows(val), m.(grouped).Groups().Members, intercept)
	},
	"svm":               func(m Model) (hypergradient.Model, error) { return newMachine(m.(classifier)) },
	"matrix-completion": func(m Model) (hypergradient.Model, error) { return newCompletion(m.(*matcomp.Model)) },
}

// classifier is a model with the rows of a support vector machine.
type classifier interface {
	Model
	Folds() (train, val []problems.LabelledRows)
}

// newMachine is the mean of the folds' machines, with the hyperparameters lambda and wbar.
func newMachine(m classifier) (hypergradient.Model, error) {
	p := m.Program()
	rows := func(of problems.LabelledRows) hypergradient.LabelledRows {
		return hypergradient.LabelledRows{Rows: hypergradient.Rows{X: design.New(of.X), Y: of.Y}, Weights: of.Weights}
	}
	train, val := m.Folds()
	var folds []hypergradient.Model
	for t := range train {
		fold, err := hypergradient.NewSVM(rows(train[t]), rows(val[t]), p.Lo[1], p.Hi[1])
		if err != nil {
			return nil, err
		}
		folds = append(folds, fold)
	}
	return hypergradient.NewFolds(folds)
}

// completion is a matrix completion whose points have the values of our program's variables.
type completion struct {
	*hypergradient.MatrixCompletion
	model *matcomp.Model
}

func newCompletion(m *matcomp.Model) (*completion, error) {
	entries := func(of []matcomp.Entry) hypergradient.Entries {
		l := m.Linear(of)
		x := design.FromColumns(len(l.Y), 0, nil)
		if l.X != nil {
			x = design.New(l.X)
		}
		return hypergradient.Entries{Rows: hypergradient.Rows{X: x, Y: l.Y}, Row: l.Row, Col: l.Col}
	}
	d := m.Data()
	c, err := hypergradient.NewMatrixCompletion(entries(d.Train), entries(d.Val), d.Rows, d.Cols, m.Groups(), m.Intercept())
	return &completion{c, m}, err
}

// Solve implements [hypergradient.Model].
func (c *completion) Solve(ctx context.Context, lambda []float64, tol float64, start *hypergradient.Point) (*hypergradient.Point, error) {
	pt, err := c.MatrixCompletion.Solve(ctx, lambda, tol, start)
	if err != nil {
		return nil, err
	}
	pt.X = c.values(pt.X)
	return pt, nil
}

func (c *completion) values(x [][]float64) [][]float64 {
	b0 := 0.0
	if len(x) > 2 {
		b0 = x[2][0]
	}
	return c.model.Values(x[0], x[1], b0)
}

// differentiable makes the model of package hypergradient from ours, with folds the mean of theirs.
func differentiable(m Model) (hypergradient.Model, error) {
	make := makers[known(m)]
	cv, ok := m.(CrossValidated)
	if !ok || !cv.CrossValidated() {
		return make(m)
	}
	one := fold{Model: m}
	if g, ok := m.(grouped); ok {
		one.groups = g.Groups()
	}
	var folds []hypergradient.Model
	data := m.(regressor).Data()
	for t := range data.Folds() {
		one.data = data.Fold(t)
		part, err := make(one)
		if err != nil {
			return nil, err
		}
		folds = append(folds, part)
	}
	return hypergradient.NewFolds(folds)
}

// fold is a model with the rows of one fold.
type fold struct {
	Model
	data   *regression.Data
	groups *groups.Groups
}

func (f fold) Data() *regression.Data { return f.data }

func (f fold) Groups() *groups.Groups { return f.groups }

// grouped is a model with groups of features.
type grouped interface{ Groups() *groups.Groups }

// regressor is a model with the rows of a regression.
type regressor interface{ Data() *regression.Data }

func penalised(make func(train, val hypergradient.Rows, intercept bool) (*hypergradient.Regression, error)) func(Model) (hypergradient.Model, error) {
	return func(m Model) (hypergradient.Model, error) {
		train, val, intercept := m.(regressor).Data().Rows()
		return make(rows(train), rows(val), intercept)
	}
}

func rows(d *dataset.Data) hypergradient.Rows {
	return hypergradient.Rows{X: design.New(d.X), Y: d.Y}
}

// Tune starts from the selection of an earlier method, from the paper's point, or from a path.
func (h hypergradients) Tune(ctx context.Context, t *Task) (*Result, error) {
	model, err := differentiable(t.Model)
	if err != nil {
		return nil, fmt.Errorf("tune: %s: %w", h.name, err)
	}
	var s hypergradient.Settings
	if t.Config.Preset == PresetPaper && known(t.Model) != "svm" { // on which the paper does not try them
		s.Start = []float64{h.share * model.LambdaMax()}
		if h.forward && known(t.Model) == "elastic-net" {
			s.Normalised = &hypergradient.Normalised{Length: 1.5, Shrink: 0.1, Free: 20}
		}
		if h.plain {
			var start float64
			start, s.Backtracking, s.MaxIter = paperDescent(t.Model)
			s.Start = []float64{start}
			if model.Dim() == 2 {
				s.Scale = hypergradient.Plain
			}
		}
		if known(t.Model) == "matrix-completion" {
			s.Start = []float64{completionStart}
		}
	}
	radii := t.Program.Radii
	if t.Start != nil {
		s.Start = slices.Concat(t.Start.Lambda, t.Start.Upper)
		for i, l := range t.Start.Lambda {
			s.Start[i] = max(l, leastStart*model.LambdaMax())
		}
	}
	s.Tol, s.MaxSolves = t.Config.Tol, t.Config.Evaluations
	if t.Config.MaxIter > 0 {
		s.MaxIter = t.Config.MaxIter
	}
	s.Observe = func(step hypergradient.Step) {
		if step.Gap <= exactGap { // else it is not a lower-level solution yet
			tr := Trial{Lambda: step.Lambda[:radii:radii], X: step.X}
			if radii < len(step.Lambda) {
				tr.Upper = step.Lambda[radii:]
			}
			t.Record(tr)
		}
	}
	r, err := h.run(ctx, model, s)
	if err != nil {
		return nil, fmt.Errorf("tune: %s: %w", h.name, err)
	}
	if at := r.Best; at != nil && t.best.X == nil { // a rough solution is better than none
		tr := Trial{Lambda: at.Lambda[:radii:radii], X: at.X, Inaccurate: true}
		if radii < len(at.Lambda) {
			tr.Upper = at.Lambda[radii:]
		}
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

// exactGap is the relative gap of what counts as a lower-level solution: that of the other methods' conic solves.
const exactGap = 1e-8

// completionStart is the paper's start for matrix completion.
const completionStart = 0.005

// leastStart is the share of LambdaMax above which weights of zero start.
const leastStart = 1e-4
