package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/paper"
	"github.com/conetune/conetune/internal/words"
)

// paperFlags are the flags of conetune bench paper.
type paperFlags struct {
	paper.Options
	shard, tables, rows, methods, backends, data string
	repeats                                      int
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

func paperCommand(a *cli.App) *cobra.Command {
	f := paperFlags{backends: "native", repeats: 30}
	f.Dir = "paper-results"
	var tables strings.Builder
	for _, t := range paper.Tables() {
		fmt.Fprintf(&tables, "  %-8s %s\n", t.Name, t.Title)
	}
	methods := words.Each(paper.Methods(), func(m paper.Method) string { return m.Name })
	cmd := &cobra.Command{
		Use:   "paper",
		Short: "Repeat the experiments of the paper: all methods on all its data sets",
		Long:  fmt.Sprintf(benchPaperHelp, tables.String(), words.Joined(methods), paper.OurDefaults, paper.GapClosed),
		Example: `  conetune bench paper --tables en --repeats 5 --out results
  conetune bench paper --data libsvm --out results --resume
  conetune bench paper --shard 2/4 --out part2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			command := commandOf(cmd, "tables", "rows", "methods", "backends", "repeats", "workers", "shard")
			if f.data != "" {
				command += " --data DIR" // which differs from machine to machine
			}
			if err := f.complete(command); err != nil {
				return err
			}
			return runPaper(a, cmd.Context(), f.Options)
		},
	}
	cli.AddFlags(cmd,
		cli.NewFlag("out", &f.Dir, "folder `DIR` for the results"),
		cli.NewFlag("tables", &f.tables, "`NAMES` of tables, comma-separated (default: all)"),
		cli.NewFlag("rows", &f.rows, "`NAMES` of rows, such as 100-20-250-p250,w1a (default: all of the tables)"),
		cli.NewFlag("methods", &f.methods, "`NAMES` of methods, comma-separated (default: all)"),
		cli.NewFlag("backends", &f.backends, "`NAMES` of conic solvers, comma-separated, see conetune backends"),
		cli.NewFlag("repeats", &f.repeats, "run with `N` seeds, 1 to N", cli.Traits{Most: cli.MostRepeats}),
		cli.NewFlag("data", &f.data, "folder `DIR` with the real data"),
		cli.NewFlag("workers", &f.Workers, "`N` runs at once, each on one thread (default: as many as there are processors)",
			cli.Traits{Most: cli.MostThreads, Zero: true}),
		cli.NewFlag("shard", &f.shard, "do part `I/N` of the work, I from 1 to N"),
		cli.MemoryFlag(),
		cli.NewFlag("resume", &f.Resume, "go on with the results in --out"),
	)
	return cmd
}

// complete checks the flags, and plans the work.
func (f *paperFlags) complete(command string) (err error) {
	if err = cli.CompleteWork(&f.Options.Options, f.shard, command); err != nil {
		return err
	}
	if f.data != "" {
		if info, err := os.Stat(f.data); err != nil || !info.IsDir() {
			return cli.BadInputf("--data %s: expected a folder with LIBSVM files", f.data)
		}
	}
	tables, err := cli.NamesOf("tables", f.tables, func(name string) error { _, err := paper.FindTable(name); return err })
	if err != nil {
		return err
	}
	method := func(name string) error { _, err := paper.FindMethod(name); return err }
	methods, err := cli.NamesOf("methods", f.methods, method)
	if err != nil {
		return err
	}
	solver := func(name string) error { _, err := backends.Open(name); return err }
	solvers, err := cli.NamesOf("backends", f.backends, solver)
	if err != nil {
		return err
	}
	f.Files = &paper.Files{Dir: f.data}
	if f.Plan, err = paper.NewPlan(tables, methods, solvers, f.repeats, f.Files); err != nil {
		return cli.BadInput(err)
	}
	if f.rows != "" {
		if f.Plan, err = f.Plan.Only(strings.Split(f.rows, ",")); err != nil {
			return cli.BadInputf("--rows: %w", err)
		}
	}
	return nil
}

func runPaper(a *cli.App, ctx context.Context, o paper.Options) error {
	bar := a.NewStatus(false)
	o.Observe = bar.Work
	out, err := paper.Run(ctx, o)
	bar.Clear()
	if _, ok := errors.AsType[*formats.Error](err); ok {
		return cli.BadInput(err)
	} else if err != nil {
		return cli.WorkError(err)
	}
	for _, s := range o.Plan.Skipped {
		if s.Reason != paper.NotAsked {
			a.Note("conetune: %s %s is left out: %s", s.Table, s.Row, s.Reason)
		}
	}
	if err := reportOutcome(a, out, o.Dir); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return a.InterruptedWork("what was done is kept, --resume goes on")
	}
	if err := paper.WriteReport(o.Dir, out); err != nil {
		return cli.Failed(err)
	}
	return nil
}

// reportOutcome says what is where, and prints the tables.
func reportOutcome(a *cli.App, out *paper.Outcome, dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, paper.TablesDir, "errors.md"))
	if err != nil {
		return cli.Failed(err)
	}
	return a.ReportWork(out.Notes, fmt.Sprintf("%s\n%d runs, %d of the plan are missing; results and tables in %s\n", text,
		len(out.Records), out.Missing, dir))
}

const benchMergeHelp = `Put the parts of conetune bench paper --shard together: the folders must be of the same
work. --out gets results, manifest, tables, figures and report.html. The tables of errors are
the same as if the work had been done in one piece. Exit status 1 says that runs are
missing still.`

func mergeCommand(a *cli.App) *cobra.Command {
	return cli.Merging[paper.Record, paper.Plan]{
		Of: "conetune bench paper", Long: benchMergeHelp, Example: "  conetune bench merge part1 part2 --out results",
		Merge: paper.Merge,
		Report: func(out *paper.Outcome, dir string) error {
			if err := paper.WriteReport(dir, out); err != nil {
				return cli.Failed(err)
			}
			return reportOutcome(a, out, dir)
		},
		Missing: func(n int) string { return fmt.Sprintf("%d runs of the plan", n) },
	}.Command()
}
