// Package bench measures the solvers and the methods on the applications. Its benchmarks report the time, the
// iterations of the conic solver and the accuracy reached, recomputed on the unscaled data:
//
//	go test -bench . ./bench
package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/tune"
)

// Run is the name of the stage that is a whole run of VF-iDCA with the paper's settings.
const Run = "vf-idca"

// Reference is the backend that gives everyone the same starting point, and against whose objective errors are
// measured.
const Reference = backends.Default

// referenceEps is the tolerance of the reference solves.
const referenceEps = 1e-10

// BackendsOptions says what [Backends] measures.
type BackendsOptions struct {
	// Models and Backends are names; nil means all.
	Models, Backends []string
	// Eps are the tolerances of the first-order solvers and of the others. Nil means 1e-3, 1e-5 and 1e-8, of which
	// interior-point solvers that take all cones themselves, and gain next to nothing from a loose one, run at the last
	// alone.
	Eps []float64
	// Repeats is how often each is solved, of which the fastest counts. Default 3.
	Repeats int
	// TimeLimit bounds each solve and each run. Default 60 s.
	TimeLimit time.Duration
	// Observe, if not nil, sees every row when it is there, and how many there will be.
	Observe func(row BackendRow, done, all int)
}

// BackendRow is one measurement: what a backend made of a stage of an application at a tolerance.
type BackendRow struct {
	Model   string  `json:"model"`
	Data    string  `json:"data"`
	Stage   string  `json:"stage"`
	Backend string  `json:"backend"`
	Eps     float64 `json:"eps"`
	// Status is the solver's or the run's, "unsupported" where the backend cannot take the stage, or "failed";
	// Reason says why.
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
	// Seconds is the time of set-up, solve and check, or of the whole run; the fastest of the repeats.
	Seconds    float64 `json:"seconds"`
	Iterations int     `json:"iterations"`
	Setups     int     `json:"setups"`
	Updates    int     `json:"updates"`
	// Residual is the largest relative residual of the conic program, recomputed on unscaled data. For a run it is the
	// largest of all its solves.
	Residual *float64 `json:"residual"`
	// Error is |f - f*| / max(1, |f*|) plus the violation of the model's constraints, f the objective of the stage by the
	// model's own functions and f* that of the reference. For a run f is the validation error.
	Error *float64 `json:"error"`
}

const (
	// unsupported is the status of a pair of stage and backend that does not go together.
	unsupported = "unsupported"
	// failed is that of one where the backend broke.
	failed = "failed"
)

// Backends compares backends on the stages of the applications. The error is for options without meaning and for a
// reference that cannot be solved; what single backends do is in the rows. A cancelled context ends it with the rows so
// far.
func Backends(ctx context.Context, o BackendsOptions) ([]BackendRow, error) {
	apps, err := Select(o.Models)
	if err != nil {
		return nil, err
	}
	names := o.Backends
	if names == nil {
		names = backends.Names()
	}
	var solvers []backends.ConicBackend
	for _, name := range names {
		b, err := backends.Open(name)
		if err != nil {
			return nil, err
		}
		solvers = append(solvers, b)
	}
	if o.Repeats == 0 {
		o.Repeats = 3
	}
	if o.TimeLimit == 0 {
		o.TimeLimit = time.Minute
	}
	if o.Repeats < 0 || o.TimeLimit < 0 {
		return nil, fmt.Errorf("bench: %d repeats and a time limit of %v, expected positive ones", o.Repeats, o.TimeLimit)
	}
	all := 0
	for _, b := range solvers {
		all += len(apps) * (len(stages) + 1) * len(o.tolerances(b))
	}
	var rows []BackendRow
	add := func(r BackendRow) {
		rows = append(rows, r)
		if o.Observe != nil {
			o.Observe(r, len(rows), all)
		}
	}
	for _, a := range apps {
		m, err := a.Build()
		if err != nil {
			return rows, err
		}
		if err := o.application(ctx, a, m, solvers, add); err != nil {
			return rows, err
		}
		if ctx.Err() != nil {
			return rows, nil
		}
	}
	return rows, nil
}

// tolerances are those at which a backend runs.
func (o *BackendsOptions) tolerances(b backends.ConicBackend) []float64 {
	switch {
	case o.Eps != nil:
		return o.Eps
	case b.Capabilities().FirstOrder || len(b.Capabilities().BySequence) > 0:
		return []float64{1e-3, 1e-5, 1e-8}
	}
	return []float64{1e-8}
}

// application measures the stages of one application, then whole runs.
func (o *BackendsOptions) application(ctx context.Context, a Application, m problems.Model,
	solvers []backends.ConicBackend, add func(BackendRow)) error {
	reference, err := backends.Open(Reference)
	if err != nil {
		return err
	}
	p, err := newPoint(ctx, m.Program(), reference)
	if err != nil {
		return fmt.Errorf("bench: %s %s: %w", a.Model, a.Data, err)
	}
	each := func(stage string, measure func(row *BackendRow, b backends.ConicBackend)) {
		for _, b := range solvers {
			for _, eps := range o.tolerances(b) {
				if ctx.Err() == nil {
					row := BackendRow{Model: a.Model, Data: a.Data, Stage: stage, Backend: b.Name(), Eps: eps}
					measure(&row, b)
					add(row)
				}
			}
		}
	}
	for _, stage := range stages {
		best, _, err := p.solve(ctx, stage, exact(reference))
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("bench: %s %s, %s: %w", a.Model, a.Data, stage, err)
		}
		each(stage, func(row *BackendRow, b backends.ConicBackend) { o.stage(ctx, row, p, b, best.Value, a) })
	}
	best, err := tune.VFiDCA(ctx, m, tune.Config{Preset: tune.PresetPaper})
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		each(Run, func(row *BackendRow, _ backends.ConicBackend) { o.run(ctx, row, m, best.Errors.Validation) })
	}
	return err
}

// exact are the settings of reference solves.
func exact(b backends.ConicBackend) dca.Settings {
	return dca.Settings{Backend: b, Solver: backends.Options{Eps: referenceEps}}
}

// stages are the programs of a single solve.
var stages = []string{dca.StagePenalty, dca.StageConstrained, dca.StageSubproblem}

// point is where stages are solved, the same for all backends: the weights of the penalties, and the radii of the
// program, which are the P_i(x) of the reference's solution at these.
type point struct {
	program dca.Program
	weights []float64     // one for each radius
	low     *dca.Solution // the reference's at these radii, the centre of the subproblem
}

func newPoint(ctx context.Context, p dca.Program, reference backends.ConicBackend) (*point, error) {
	out := &point{program: p, weights: weights(p)}
	at, err := out.penalized(ctx, exact(reference))
	if err != nil {
		return nil, err
	}
	if at.Radii == nil {
		return nil, fmt.Errorf("the penalty form at weights %v ended with %s", out.weights, at.Status)
	}
	out.program.H0 = p.StartAt(at.Radii, nil)
	if out.low, err = dca.LowerLevel(ctx, out.program, exact(reference)); err == nil && out.low.X == nil {
		err = fmt.Errorf("the lower level at radii %v ended with %s", at.Radii, out.low.Status)
	}
	return out, err
}

// solve solves a stage. The violation is the largest of its radii.
func (p *point) solve(ctx context.Context, stage string, s dca.Settings) (at *dca.Solution, violation float64,
	err error) {
	switch stage {
	case dca.StagePenalty:
		at, err = p.penalized(ctx, s)
		return at, 0, err
	case dca.StageSubproblem:
		at, err = p.low.Subproblem(ctx, p.program, s)
		return at, 0, err
	}
	at, err = dca.LowerLevel(ctx, p.program, s)
	if err != nil || at.X == nil {
		return at, 0, err
	}
	radii, err := p.program.Penalties(at.X, nil)
	for j, r := range radii {
		violation = math.Max(violation, r-p.program.H0[j])
	}
	return at, violation, err
}

func (p *point) penalized(ctx context.Context, s dca.Settings) (*dca.Solution, error) {
	form, err := dca.NewPenalized(p.program, s)
	if err != nil {
		return nil, err
	}
	defer form.Close()
	at, err := form.Solve(ctx, p.weights, nil)
	if err != nil {
		return nil, err
	}
	at.Stats = form.Stats()
	return at, nil
}

// weights is the middle of the model's own path, one for each radius.
func weights(p dca.Program) []float64 {
	if len(p.Path) == 0 {
		return slices.Repeat([]float64{0.1}, p.Radii)
	}
	middle := p.Path[len(p.Path)/2]
	if len(middle) == p.Radii {
		return middle
	}
	return slices.Repeat(middle[:1], p.Radii)
}

// stage solves a stage.
func (o *BackendsOptions) stage(ctx context.Context, row *BackendRow, p *point, b backends.ConicBackend, best float64,
	a Application) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(o.Repeats)*o.TimeLimit)
	defer cancel()
	o.fastest(row, func() (seconds float64, err error) {
		r, violation, err := p.solve(ctx, row.Stage, dca.Settings{Backend: b,
			NoWorkingSets: !a.workingSets(b.Capabilities()),
			Solver:        backends.Options{Eps: row.Eps, TimeLimit: o.TimeLimit}})
		if err != nil {
			return 0, err
		}
		row.Status, row.Iterations, row.Setups, row.Updates = r.Status.String(), r.Stats.Iterations, r.Stats.Setups,
			r.Stats.Updates
		row.Residual = words.FiniteOrNull(r.Residual)
		row.Error = words.FiniteOrNull(math.Abs(r.Value-best)/math.Max(1, math.Abs(best)) + violation)
		return (r.Stats.SetupTime + r.Stats.SolveTime).Seconds(), nil
	})
}

// run runs VF-iDCA.
func (o *BackendsOptions) run(ctx context.Context, row *BackendRow, m problems.Model, best float64) {
	o.fastest(row, func() (seconds float64, err error) {
		residual := math.Inf(-1) // not 0 where no iteration has one
		r, err := tune.VFiDCA(ctx, m, tune.Config{Preset: tune.PresetPaper, Engine: tune.EngineConic, Backend: row.Backend,
			Eps: row.Eps, TimeLimit: o.TimeLimit,
			Progress: func(e tune.Event) { residual = math.Max(residual, e.Residual) }})
		if err != nil {
			return 0, err
		}
		row.Status, row.Reason, row.Iterations, row.Setups, row.Updates = string(r.Status), r.Message, r.SolverIterations,
			r.BackendSetups, r.BackendUpdates
		row.Residual = words.FiniteOrNull(residual)
		row.Error = words.FiniteOrNull(math.Abs(r.Errors.Validation-best) / math.Max(1, math.Abs(best)))
		return r.TimeSeconds, nil
	})
}

// fastest does what a row measures several times.
func (o *BackendsOptions) fastest(row *BackendRow, once func() (seconds float64, err error)) {
	row.Seconds = math.Inf(1)
	for range o.Repeats {
		seconds, err := once()
		if err != nil {
			row.fail(err)
			return
		}
		if row.Seconds = min(row.Seconds, seconds); seconds > o.TimeLimit.Seconds()/4 {
			return
		}
	}
}

// fail notes why there is nothing to measure.
func (r *BackendRow) fail(err error) {
	r.Status, r.Reason, r.Seconds = failed, err.Error(), 0
	if no, ok := errors.AsType[*backends.UnsupportedError](err); ok {
		r.Status, r.Reason = unsupported, no.Error()
	}
}
