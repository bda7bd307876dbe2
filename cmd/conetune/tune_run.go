package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// tune reads the data, runs the method, and writes what was asked for.
func (a *app) tune(ctx context.Context, job *tuneJob) error {
	show := a.newProgress(job)
	defer show.clear()
	show.at("reading " + strings.Join(job.data.files(), ", "))
	rows, err := interruptible(ctx, func() (*input.Rows, error) { return job.read() })
	if err != nil {
		return err
	}
	show.clear() // before there are words to say
	a.tell(rows.Notes)

	start := time.Now()
	show.at("building the model")
	model, err := interruptible(ctx, func() (tune.Model, error) {
		m, err := job.build(rows)
		return m, rows.Explain(err)
	})
	built := time.Since(start)
	show.clear()
	if errors.Is(err, errInterrupted) {
		return err
	} else if err != nil {
		return badInput(err)
	}
	job.built, job.judge = model, evaluate.NewJudge(rows, model, job.model.Intercept)
	if m, ok := model.(interface{ Groups() *groups.Groups }); ok {
		job.groupsOfModel = m.Groups()
	}
	hyperparameters := len(model.Names())
	if o := job.config.Opens(model); o != nil && slices.Equal(job.methods, []string{tune.MethodVFiDCA}) {
		hyperparameters -= len(o.Upper)
	}
	if slices.Equal(job.methods, []string{tune.MethodVFiDCA}) && job.config.Climbs(model) {
		hyperparameters = 0 // but for one or two of each rung
	}
	if radii := model.Program().Radii; len(job.config.Init) > radii {
		return badInputf("--init: %d radii, but the model has %d", len(job.config.Init), radii)
	}
	if val := rows.ValidationRows(); hyperparameters > val {
		a.note("warning: %d hyperparameters are chosen on %d validation rows; the validation error will be too good to be true, judge by test rows", hyperparameters, val)
	}
	for _, method := range job.methods {
		config := job.config
		config.Method = method
		if err := tune.Check(model, config); err != nil {
			return badInput(sayWhich(err))
		}
	}
	var outer []split.Fold
	if job.nested > 0 {
		if outer, err = job.checkNested(ctx, rows.Outer); err != nil {
			return err
		}
		a.tellFewer(job, rows.Outer, len(outer))
	}
	trace := a.newTraceFile(job.trace)
	results, err := a.runTune(ctx, job, model, trace, show)
	traceErr := trace.close()
	if err != nil {
		return err
	}
	if outer != nil && ctx.Err() == nil {
		if job.outside, err = job.runNested(ctx, rows.Outer, outer, show); err != nil {
			return err
		}
	}
	for _, r := range results {
		r.TimeSeconds += built.Seconds() // everything after the data are in memory
	}
	show.clear()
	if err := a.report(job, rows.Split, results); err != nil {
		return err
	}
	if traceErr != nil {
		return failed(fileError("--trace", traceErr))
	}
	return a.outcome(job, results)
}

// read reads the tables.
func (job *tuneJob) read() (rows *input.Rows, err error) {
	if job.spec.Matrix {
		if job.entries, err = job.data.readMatrix(job.groups); err != nil {
			return nil, err
		}
		job.rows = &input.Rows{Split: entriesAsRows(job.entries)}
		return job.rows, nil
	}
	if rows, err = job.data.Read(); err != nil {
		return nil, badInput(err)
	}
	if err := job.checkTargets(rows); err != nil {
		return nil, badInputf("%s: %w", job.data.files()[0], err)
	}
	flagged(rows.Notes)
	job.rows = rows
	return rows, nil
}

// checkTargets refuses a target that is the same in all rows that choose a model: every model has it as its intercept,
// and no measure tells them apart. Labels are checked by their models, and an offset makes the same counts of different
// rates.
func (job *tuneJob) checkTargets(rows *input.Rows) error {
	if job.spec.Labels || job.data.Wanted.Offset != "" {
		return nil
	}
	check := func(name string, all []float64) error {
		if !slices.ContainsFunc(all, func(y float64) bool { return y != all[0] }) {
			return fmt.Errorf("the target %q is %s in all rows: there is nothing to predict", name, number(all[0]))
		}
		return nil
	}
	if t := rows.Targets; t != nil {
		for k, name := range t.Names {
			if err := check(name, t.Column(k, t.Train, t.Val)); err != nil {
				return err
			}
		}
		return nil
	}
	all := rows.Split.Train.Y
	if rows.Split.Val != nil {
		all = slices.Concat(all, rows.Split.Val.Y)
	}
	return check(rows.Split.Train.Target, all)
}

// build makes the model.
func (job *tuneJob) build(rows *input.Rows) (tune.Model, error) {
	if job.entries != nil {
		return matcomp.New(job.entries, matcomp.Options{Standardize: job.model.Standardize, Intercept: job.model.Intercept})
	}
	return job.spec.Build(rows, job.model.Options)
}

// saved is what --save writes.
func (job *tuneJob) saved(r *tune.Result) model.Model {
	m := model.New(&job.data.Source, job.rows, job.built, job.model.Options, r)
	m.Provenance.Preset, m.Provenance.Files = job.preset, job.data.files()
	return m
}

// runTune runs the methods with everything that watches them.
func (a *app) runTune(ctx context.Context, job *tuneJob, model tune.Model, trace *traceFile, show *progress) ([]*tune.Result, error) {
	config := job.config
	config.Logger = a.logger(job.verbose)
	if job.report != "" || job.plot != "" {
		config.Curve = curvePoints
	}
	config.KeepFits = job.plotTrace != "" && len(job.methods) == 1
	config.Progress = func(e tune.Event) {
		trace.write(e)
		show.iterated(e)
	}
	config.Begin = show.begin
	results, err := tune.Compare(ctx, model, job.methods, job.chain, config)
	if err != nil {
		if ctx.Err() != nil {
			return nil, errInterrupted
		}
		return nil, failed(err)
	}
	for _, r := range results {
		r.Version, r.Message = version(), flagsOf.Replace(r.Message)
	}
	return results, nil
}

// report writes the files and prints the results, which it also does when a file
// could not be written. An interrupted run is reported as far as it went.
func (a *app) report(job *tuneJob, split *dataset.Split, results []*tune.Result) error {
	written, fileErr := a.writeFiles(job, split, results)
	var err error
	switch {
	case job.asJSON && len(job.methods) > 1:
		err = a.printJSON(job.told(results))
	case job.asJSON:
		err = a.printJSON(job.told(results)[0])
	default:
		err = a.print(describeRun(job, split, results, written))
	}
	if fileErr != nil {
		return failed(fileErr)
	}
	return err
}

// told are the results with what was found in the tables.
func (job *tuneJob) told(results []*tune.Result) []toldResult {
	list := make([]toldResult, len(results))
	for i, r := range results {
		list[i].Result = r
		list[i].judged, list[i].several = job.judge.Of(r), job.judge.Targets(r)
		list[i].stable = job.stability(list[i].judged)
		if r == evaluate.Best(results) {
			list[i].nested = job.outside
		}
		list[i].notes = job.rows.Notes
	}
	return list
}

// writeFiles writes the files that were asked for and have something to hold, and tells which there are now.
func (a *app) writeFiles(job *tuneJob, split *dataset.Split, results []*tune.Result) (written []string, err error) {
	r, traced := evaluate.Best(results), slices.ContainsFunc(results, func(r *tune.Result) bool { return len(r.Trace) > 0 })
	drawn := func(path string, draw func(*tuneJob, *dataset.Split, []*tune.Result) figure.Figure) func(io.Writer) error {
		return func(w io.Writer) error {
			format, err := figure.Format(path)
			if err != nil {
				return err
			}
			return draw(job, split, results).Write(w, format)
		}
	}
	for _, out := range []struct {
		fileFlag
		what, lacks string // lacks says what is not done where nothing is there
		there       bool
		write       func(io.Writer) error
	}{
		{fileFlag{"--trace", job.trace}, "trace", "to write", traced, nil},
		{fileFlag{"--plot", job.plot}, "figure", "to draw", traced || curveOf(r) != nil, drawn(job.plot, statisticsFigure)},
		{fileFlag{"--plot-trace", job.plotTrace}, "figure of the run", "to draw", traced, drawn(job.plotTrace, traceOfRun)},
		{fileFlag{"--save", job.save}, "model", "", r.Refit != nil, func(w io.Writer) error { return job.saved(r).Write(w) }},
		{fileFlag{"--save-config", job.saveConfig}, "settings", "", true, func(w io.Writer) error {
			_, err := w.Write(job.settings)
			return err
		}},
		{fileFlag{"--coefficients", job.coefficients}, "coefficients", "", r.Refit != nil, func(w io.Writer) error {
			return job.writeCoefficients(w, r.RefitFit, job.judge.Of(r))
		}},
		{fileFlag{"--report", job.report}, "report", "", r.Refit != nil, func(w io.Writer) error {
			return htmlReport(w, a.args, job, split, results)
		}},
	} {
		switch {
		case out.path == "":
		case out.there:
			if out.write != nil {
				if err := a.writeFile(out.path, out.write); err != nil {
					return written, fileError(out.flag, err)
				}
			}
			written = append(written, out.what+" in "+placeOf(out.path))
		case out.lacks != "" && r.Refit != nil:
			a.note("conetune: %s: there is nothing %s, as the run had no iterations", out.flag, out.lacks)
		}
	}
	return written, nil
}

// outcome turns the statuses into an exit status, and says what runs that ended
// early leave behind.
func (a *app) outcome(job *tuneJob, results []*tune.Result) error {
	code := a.tellNested(job.outside)
	for _, r := range results {
		if r.Status == dca.Converged {
			continue
		}
		text := fmt.Sprintf("%s after %s", describeStatus(r.Status), progressOf(r))
		if len(job.methods) > 1 {
			text = r.Method + " " + text
		}
		if r.Message != "" {
			text += ": " + r.Message
		}
		if job.save != "" && evaluate.Best(results).Refit == nil {
			text += "; there is no model to write to " + job.save + " yet"
		} else if r.Iterations > 0 {
			text += "; what was reached is reported and kept"
		}
		a.note("conetune: %s", text)
		code = max(code, exitUnsolved)
		if r.Status == dca.Cancelled {
			code = exitInterrupted
		}
	}
	if code == exitDone {
		return nil
	}
	return &exitError{code: code}
}

// tell writes the findings about the tables, a line for each.
func (a *app) tell(notes []input.Note) {
	for _, n := range notes {
		a.note("%s: %s", n.File, strings.ReplaceAll(n.Text, "\n", " "))
	}
}
