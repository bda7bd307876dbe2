package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/report"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// tune reads the data, runs the method, and writes what was asked for.
func tuneData(a *cli.App, ctx context.Context, job *tuneJob) error {
	show := &progress{Status: a.NewStatus(job.verbose), log: a.Logger(job.verbose),
		rest: rest{limit: job.Config.TimeLimit}}
	defer show.Clear()
	show.at("reading " + strings.Join(job.Data.AllFiles(), ", "))
	rows, err := cli.Interruptible(ctx, func() (*input.Rows, error) { return job.read() })
	if err != nil {
		return err
	}
	show.Clear() // before there are words to say
	a.Tell(rows.Notes)

	start := time.Now()
	show.at("building the model")
	model, err := cli.Interruptible(ctx, func() (problems.Model, error) {
		m, err := job.build(rows)
		return m, rows.Explain(err)
	})
	built := time.Since(start)
	show.Clear()
	if errors.Is(err, cli.ErrInterrupted) {
		return err
	} else if err != nil {
		return cli.BadInput(err)
	}
	job.built, job.run.Judge = model, evaluate.NewJudge(rows, model, job.model.Intercept)
	job.run.Judge.Decisions = job.Decisions
	if m, ok := model.(*regression.Model); ok {
		job.run.Groups = m.Options().Groups
	}
	hyperparameters := len(model.Names())
	few := job.Config.Climbs(model) || job.Config.Fixed != nil
	if slices.Equal(job.Methods, []string{tune.MethodVFiDCA}) && few {
		hyperparameters = 0 // but for one or two of each rung
	}
	if radii := model.Program().Radii; len(job.Config.Init) > radii {
		return cli.BadInputf("--init: %d radii, but the model has %d", len(job.Config.Init), radii)
	}
	if val := rows.ValidationRows(); hyperparameters > val {
		a.Note("warning: %d hyperparameters are chosen on %d validation rows; the validation error will be too good to be "+
			"true, judge by test rows", hyperparameters, val)
	}
	for _, method := range job.Methods {
		config := job.Config
		config.Method = method
		if err := tune.Check(model, config); err != nil {
			return cli.BadInput(cli.SayWhich(err))
		}
	}
	var outer []split.Fold
	if job.nested > 0 {
		if outer, err = job.checkNested(ctx, rows.Outer); err != nil {
			return err
		}
		tellFewer(a, job, rows.Outer, len(outer))
	}
	trace := &traceFile{path: job.trace, stream: a.Stdout}
	err = runMethods(a, ctx, job, model, trace, show)
	traceErr := trace.close()
	if err != nil {
		return err
	}
	if outer != nil && ctx.Err() == nil {
		if job.run.Outside, err = job.runNested(ctx, rows.Outer, outer, show); err != nil {
			return err
		}
	}
	if job.bootstrap > 0 && ctx.Err() == nil {
		if err := job.runBootstrap(ctx, rows.Outer, show); err != nil {
			return err
		}
	}
	job.run.Covered = job.run.Judge.Intervals(evaluate.Best(job.run.Results), report.IntervalLevel)
	for _, r := range job.run.Results {
		r.TimeSeconds += built.Seconds() // everything after the data are in memory
	}
	show.Clear()
	if err := reportRun(a, job); err != nil {
		return err
	}
	if traceErr != nil {
		return cli.FileError("--trace", traceErr)
	}
	return exitStatus(a, job)
}

// read reads the tables.
func (job *tuneJob) read() (rows *input.Rows, err error) {
	if job.run.Spec.Matrix {
		if job.run.Entries, err = job.Data.readMatrix(job.groups); err != nil {
			return nil, err
		}
		job.run.Rows = &input.Rows{Split: entriesAsRows(job.run.Entries)}
		job.run.From = job.Data.describe(job.run.Rows)
		return job.run.Rows, nil
	}
	if rows, err = job.Data.Read(); err != nil {
		return nil, cli.BadInput(err)
	}
	if err := job.checkTargets(rows); err != nil {
		return nil, cli.BadInputf("%s: %w", job.Data.AllFiles()[0], err)
	}
	if job.nested == 0 && job.bootstrap == 0 {
		rows.Outer = nil // which keeps the table that the rows were read from
	}
	cli.Flagged(FlagsOf, rows.Notes)
	job.run.Rows, job.run.From = rows, job.Data.describe(rows)
	return rows, nil
}

// checkTargets refuses a target that is the same in all rows that choose a model: every model has it as its intercept,
// and no measure tells them apart. Labels are checked by their models, and an offset makes the same counts of different
// rates.
func (job *tuneJob) checkTargets(rows *input.Rows) error {
	if job.run.Spec.Labels || job.Data.Wanted.Offset != "" {
		return nil
	}
	check := func(name string, all []float64) error {
		if !slices.ContainsFunc(all, func(y float64) bool { return y != all[0] }) {
			return fmt.Errorf("the target %q is %s in all rows: there is nothing to predict", name, words.Number(all[0]))
		}
		return nil
	}
	if train := rows.Split.Train; train.Targets != nil {
		for k, name := range train.NamesOfTargets() {
			if err := check(name, dataset.ValuesOf(k, train, rows.Split.Val)); err != nil {
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
func (job *tuneJob) build(rows *input.Rows) (problems.Model, error) {
	if job.run.Entries != nil {
		return matcomp.New(job.run.Entries, matcomp.Options{Standardize: job.model.Standardize,
			Intercept: job.model.Intercept})
	}
	return job.run.Spec.Build(rows, job.model.Options)
}

// saved is what --save writes.
func (job *tuneJob) saved(r *tune.Result) model.Model {
	m := model.New(&job.Data.Source, job.run.Rows, job.built, job.model.Options, r)
	m.Provenance.Preset, m.Provenance.Files = job.Config.Preset, job.Data.AllFiles()
	if j := job.run.Judge.Of(r); j != nil && j.Rule != nil {
		m.Threshold = &j.Threshold
	}
	return m
}

// runTune runs the methods with everything that watches them.
func runMethods(a *cli.App, ctx context.Context, job *tuneJob, model problems.Model, trace *traceFile,
	show *progress) (err error) {
	config := job.Config
	config.Logger = a.Logger(job.verbose)
	if job.report != "" || job.plot != "" {
		config.Curve = report.CurvePoints
	}
	if job.path != "" {
		config.Curve = report.PathPoints
	}
	config.KeepFits = job.plotTrace != "" && len(job.Methods) == 1
	config.Progress = func(e tune.Event) {
		trace.write(e)
		show.iterated(e)
	}
	config.Begin = show.begin
	if job.run.Results, err = tune.Compare(ctx, model, job.Methods, job.Chain, config); err != nil {
		if ctx.Err() != nil {
			return cli.ErrInterrupted
		}
		return cli.Failed(err)
	}
	for _, r := range job.run.Results {
		r.Version, r.Message = cli.Version(), FlagsOf.Replace(r.Message)
	}
	return nil
}

// report writes the files and prints the results, which it also does when a file
// could not be written. An interrupted run is reported as far as it went.
func reportRun(a *cli.App, job *tuneJob) error {
	written, fileErr := writeFiles(a, job)
	var err error
	switch {
	case job.asJSON && len(job.Methods) > 1:
		err = a.PrintJSON(job.told())
	case job.asJSON:
		err = a.PrintJSON(job.told()[0])
	default:
		err = a.Print(report.Text(job.run, written))
	}
	return cmp.Or(fileErr, err)
}

// writeFiles writes the files that were asked for and have something to hold, and tells which there are now.
func writeFiles(a *cli.App, job *tuneJob) (written []string, err error) {
	r := evaluate.Best(job.run.Results)
	traced := slices.ContainsFunc(job.run.Results, func(r *tune.Result) bool { return len(r.Trace) > 0 })
	drawn := func(path string, draw func(*report.Run) figure.Figure) func(io.Writer) error {
		return func(w io.Writer) error { return draw(job.run).As(path)(w) }
	}
	const noWrite, noDraw = "to write, as the run had no iterations", "to draw, as the run had no iterations"
	for _, out := range []struct {
		fileFlag
		what, lacks string // lacks says what is not done where nothing is there, and why
		there       bool
		write       func(io.Writer) error
	}{
		{fileFlag{"--trace", job.trace}, "trace", noWrite, traced, nil},
		{fileFlag{"--plot", job.plot}, "figure", noDraw, traced || report.CurveOf(r) != nil,
			drawn(job.plot, report.Statistics)},
		{fileFlag{"--plot-trace", job.plotTrace}, "figure of the run", noDraw, traced, drawn(job.plotTrace, report.Trace)},
		{fileFlag{"--save", job.save}, "model", "", r.Refit != nil, func(w io.Writer) error { return job.saved(r).Write(w) }},
		{fileFlag{"--save-config", job.saveConfig}, "settings", "", true, func(w io.Writer) error {
			_, err := w.Write(job.run.Settings)
			return err
		}},
		{fileFlag{"--coefficients", job.coefficients}, "coefficients", "", r.Refit != nil, func(w io.Writer) error {
			return job.run.WriteCoefficients(w, r.RefitFit, job.run.Judge.Of(r))
		}},
		{fileFlag{"--path", job.path}, "path", "to write, as the run has no curve of the error over its weights",
			len(r.Curve) > 0, func(w io.Writer) error { return report.WritePath(w, r, job.pathCoefficients) }},
		{fileFlag{"--report", job.report}, "report", "", r.Refit != nil, func(w io.Writer) error {
			return report.Page(w, a.Args, job.run)
		}},
	} {
		switch {
		case out.path == "":
		case out.there:
			if out.write != nil {
				if err := a.WriteFile(out.flag, out.path, out.write); err != nil {
					return written, err
				}
			}
			written = append(written, out.what+" in "+cli.PlaceOf(out.path))
		case out.lacks != "" && r.Refit != nil:
			a.Note("conetune: %s: there is nothing %s", out.flag, out.lacks)
		}
	}
	return written, nil
}

// exitStatus turns the statuses into an exit status, and says what runs that ended
// early leave behind.
func exitStatus(a *cli.App, job *tuneJob) error {
	code := max(tellNested(a, job.run.Outside), tellBootstrap(a, job.sampled))
	for _, r := range job.run.Results {
		if r.Status == outcome.Converged {
			continue
		}
		text := fmt.Sprintf("%s after %s", report.Status(r.Status), report.Progress(r))
		if len(job.Methods) > 1 {
			text = r.Method + " " + text
		}
		if r.Message != "" {
			text += ": " + r.Message
		}
		if job.save != "" && evaluate.Best(job.run.Results).Refit == nil {
			text += "; there is no model to write to " + job.save + " yet"
		} else if r.Iterations > 0 {
			text += "; what was reached is reported and kept"
		}
		a.Note("conetune: %s", text)
		code = max(code, cli.ExitUnsolved)
		if r.Status == outcome.Cancelled {
			code = cli.ExitInterrupted
		}
	}
	if code == cli.ExitDone {
		return nil
	}
	return &cli.ExitError{Code: code}
}
