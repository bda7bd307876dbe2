package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/paper"
	"github.com/conetune/conetune/internal/paper/report"
	"github.com/conetune/conetune/internal/worklist"
)

// paperFlags are the flags of conetune bench paper.
type paperFlags struct {
	tables, rows, methods, backends, shard, data, out string
	repeats, workers                                  int
	resume                                            bool
}

const benchPaperHelp = `Repeat the experiments of the paper (Gao, Ye, Yin, Zeng, Zhang, ICML 2022): every method on
every data set, --repeats times with other data or another split, and put the means
beside the paper's figures. Tables:

%s
Methods: %s.
All have the paper's settings and ranges, but %s and %s: VF-iDCA with ours,
and the same until the lower-level gap is closed.

The folder --out gets results.jsonl, one line for each run as it ends; manifest.json;
tables/ with the tables of errors and of times as Markdown and CSV; and at the end
figures/ as SVG and PNG, and report.html with all of it, which needs no other file. A run that
was stopped, by whatever, goes on with --resume; the tables of errors are
then the same, byte by byte, as those of a run that was not stopped. --resume with more
--repeats adds to what is there.

--shard I/N does one of N parts; conetune bench merge puts the parts together.

Real data come from --data DIR: LIBSVM files with the names of the LIBSVM page, plain or
gzipped, such as duke-breast-cancer.gz, diabetes_scale and a1a. Rows without a file are
left out, and the tables say so.`

func (a *app) benchPaperCommand() *cobra.Command {
	var f paperFlags
	var tables strings.Builder
	for _, t := range paper.Tables() {
		fmt.Fprintf(&tables, "  %-8s %s\n", t.Name, t.Title)
	}
	cmd := &cobra.Command{
		Use:   "paper",
		Short: "Repeat the experiments of the paper: all methods on all its data sets",
		Long:  sprintf(benchPaperHelp, tables.String(), joined(paperMethods()), paper.OurDefaults, paper.GapClosed),
		Example: `  conetune bench paper --tables en --repeats 5 --out results
  conetune bench paper --data libsvm --out results --resume
  conetune bench paper --shard 2/4 --out part2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := f.options()
			if err != nil {
				return err
			}
			o.Command = commandOf(cmd, "tables", "rows", "methods", "backends", "repeats", "workers", "shard")
			if f.data != "" {
				o.Command += " --data DIR" // which differs from machine to machine
			}
			return a.benchPaper(cmd.Context(), o)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.out, "out", "paper-results", "folder `DIR` for the results")
	fs.StringVar(&f.tables, "tables", "", "`NAMES` of tables, comma-separated (default: all)")
	fs.StringVar(&f.rows, "rows", "", "`NAMES` of rows, such as 100-20-250-p250,w1a (default: all of the tables)")
	fs.StringVar(&f.methods, "methods", "", "`NAMES` of methods, comma-separated (default: all)")
	fs.StringVar(&f.backends, "backends", "native", "`NAMES` of conic solvers, comma-separated, see conetune backends")
	fs.IntVar(&f.repeats, "repeats", 30, "run with `N` seeds, 1 to N")
	fs.StringVar(&f.data, "data", "", "folder `DIR` with the real data")
	fs.IntVar(&f.workers, "workers", 0, "`N` runs at once, each on one thread (default: as many as there are processors)")
	fs.StringVar(&f.shard, "shard", "", "do part `I/N` of the work, I from 1 to N")
	registerMemory(fs)
	fs.BoolVar(&f.resume, "resume", false, "go on with the results in --out")
	return cmd
}

func paperMethods() []string {
	var names []string
	for _, m := range paper.Methods() {
		names = append(names, m.Name)
	}
	return names
}

// options checks the flags.
func (f *paperFlags) options() (o paper.Options, err error) {
	switch {
	case f.repeats < 1 || f.repeats > mostRepeats:
		return o, badInputf("--repeats is %d, expected a positive number, at most %d", f.repeats, mostRepeats)
	case f.workers < 0 || f.workers > mostThreads:
		return o, badInputf("--workers is %d, expected a positive number, at most %d", f.workers, mostThreads)
	}
	if err := checkFolder(f.out); err != nil {
		return o, err
	}
	if o.Shard, err = worklist.ParseShard(f.shard); err != nil {
		return o, badInputf("--shard: %w", err)
	}
	if f.data != "" {
		if info, err := os.Stat(f.data); err != nil || !info.IsDir() {
			return o, badInputf("--data %s: expected a folder with LIBSVM files", f.data)
		}
	}
	tables, err := namesOf("tables", f.tables, func(name string) error { _, err := paper.FindTable(name); return err })
	if err != nil {
		return o, err
	}
	methods, err := namesOf("methods", f.methods, func(name string) error { _, err := paper.FindMethod(name); return err })
	if err != nil {
		return o, err
	}
	solvers, err := namesOf("backends", f.backends, func(name string) error { _, err := backends.Open(name); return err })
	if err != nil {
		return o, err
	}
	o.Files = &paper.Files{Dir: f.data}
	if o.Plan, err = paper.NewPlan(tables, methods, solvers, f.repeats, o.Files); err != nil {
		return o, badInput(err)
	}
	if f.rows != "" {
		if o.Plan, err = o.Plan.Only(strings.Split(f.rows, ",")); err != nil {
			return o, badInputf("--rows: %w", err)
		}
	}
	o.Dir, o.Resume, o.Workers = f.out, f.resume, f.workers
	o.Version, o.Machine = version(), machine()
	return o, nil
}

// namesOf reads a list of names that are known and differ; nil if it is empty.
func namesOf(flag, text string, find func(string) error) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	list := strings.Split(text, ",")
	for i, name := range list {
		if err := find(name); err != nil {
			return nil, badInputf("--%s: %w", flag, err)
		}
		if slices.Contains(list[:i], name) {
			return nil, badInputf("--%s: %s is named twice", flag, name)
		}
	}
	return list, nil
}

func (a *app) benchPaper(ctx context.Context, o paper.Options) error {
	bar := a.newStatus(false)
	o.Observe = bar.work
	out, err := paper.Run(ctx, o)
	bar.clear()
	var file *formats.Error
	var damage *worklist.DamageError
	switch {
	case errors.Is(err, worklist.ErrExists), errors.As(err, &file), errors.As(err, &damage):
		return badInput(err)
	case err != nil:
		return failed(err)
	}
	for _, s := range o.Plan.Skipped {
		if s.Reason == paper.NotAsked {
			continue
		}
		a.note("conetune: %s %s is left out: %s", s.Table, s.Row, s.Reason)
	}
	if err := a.reportOutcome(out, o.Dir); err != nil {
		return err
	}
	if ctx.Err() == nil {
		err = report.Write(o.Dir, out)
	}
	if err != nil {
		return failed(err)
	}
	if ctx.Err() != nil {
		a.note("conetune: interrupted; what was done is kept, --resume goes on")
		return &exitError{code: exitInterrupted}
	}
	return nil
}

// reportOutcome says what is where, and prints the tables.
func (a *app) reportOutcome(out *paper.Outcome, dir string) error {
	for _, n := range out.Notes {
		a.note("conetune: %s", n)
	}
	text, err := os.ReadFile(filepath.Join(dir, paper.TablesDir, "errors.md"))
	if err != nil {
		return failed(err)
	}
	text = append(text, fmt.Sprintf("\n%d runs, %d of the plan are missing; results and tables in %s\n", len(out.Records), out.Missing, dir)...)
	return a.print(string(text))
}

const benchMergeHelp = `Put the parts of conetune bench paper --shard together: the folders must be of the same
work. --out gets results, manifest, tables, figures and report.html. The tables of errors are
the same as if the work had been done in one piece. Exit status 1 says that runs are
missing still.`

func (a *app) benchMergeCommand() *cobra.Command {
	return merging[paper.Record, paper.Plan]{
		of: "conetune bench paper", long: benchMergeHelp, example: "  conetune bench merge part1 part2 --out results",
		merge: paper.Merge,
		report: func(out *paper.Outcome, dir string) error {
			if err := report.Write(dir, out); err != nil {
				return failed(err)
			}
			return a.reportOutcome(out, dir)
		},
		missing: func(n int) string { return fmt.Sprintf("%d runs of the plan", n) },
	}.command()
}
