package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conetune/conetune/internal/batch"
	"github.com/conetune/conetune/internal/worklist"
)

// batchFlags are the flags of conetune batch beside those of conetune tune, which are defaults for all jobs.
type batchFlags struct {
	out, model, shard string
	config            string
	atOnce            int
	resume, retry     bool
	outputs           [4]bool // as batch.Outputs
}

const batchHelp = `Tune many tables: JOBS.csv has a row for each job and a column for each flag of conetune tune, such as
data, target, method, and a column model; a column job names the jobs, which otherwise have the numbers of
their rows. Empty cells leave a flag out. Or give patterns of files, 'tables/*.csv', or several files: one
job for each. Flags on the command line are defaults for all jobs.

The folder --out gets results.jsonl, one line for each job as it ends: settings, status, errors,
measures, chosen weights, seconds, message; manifest.json; and at the end summary.csv and times.csv.
With --save there is a model of each job in models/, with --report a page in reports/, with --coefficients
a table in coefficients/, with --plot a figure in figures/.

Each job is a process of its own, with its share of the memory and of the processors (--jobs), and
with --time-limit for itself. A job that fails is a line with the reason, and the others go on.
Everything but seconds is the same for any number of jobs at once. A batch that was stopped, by
whatever, goes on with --resume. --shard I/N does one of N parts; conetune batch merge puts the parts together.

Exit status: 0 all jobs are done; 1 some failed (not with --shard, where the merge tells); 2 the list
or a flag is at fault; 130 interrupted.`

func (a *app) batchCommand() *cobra.Command {
	var f batchFlags
	var defaults tuneFlags
	cmd := &cobra.Command{
		Use:   "batch JOBS.csv|PATTERN... --out DIR",
		Short: "Tune many tables, and go on where it was stopped",
		Long:  batchHelp,
		Example: `  conetune batch jobs.csv --out results --folds 5 --save
  conetune batch 'tables/*.csv' --model elastic-net --target y --out results --time-limit 1m
  conetune batch jobs.csv --out results --folds 5 --save --resume
  conetune batch jobs.csv --out part2 --shard 2/8
  conetune batch merge part1 part2 --out results`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return badInputf("expected JOBS.csv, or patterns of files such as 'tables/*.csv'")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(args, cmd.Flags())
			if err != nil {
				return err
			}
			o.Command = "conetune batch"
			if f.shard != "" {
				o.Command += " --shard " + f.shard
			}
			return a.batch(cmd.Context(), o)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.out, "out", "", "folder `DIR` for the results")
	fs.StringVar(&f.model, "model", "", "`MODEL` of jobs that do not name one, see conetune tune --help")
	fs.StringVar(&f.config, "config", "", "settings of all jobs that do not say otherwise, from `FILE.yaml`, see conetune tune --config")
	fs.IntVar(&f.atOnce, "jobs", 0, "`N` jobs at once, each with its share of processors and memory (default: as many as there are processors)")
	fs.BoolVar(&f.resume, "resume", false, "go on with the results in --out")
	fs.BoolVar(&f.retry, "retry-failed", false, "with --resume: do jobs that failed once more")
	fs.StringVar(&f.shard, "shard", "", "do part `I/N` of the jobs, I from 1 to N")
	for k, o := range batch.Outputs {
		fs.BoolVar(&f.outputs[k], o.Flag, false, "write a file for each job as conetune tune --"+o.Flag+" does, to "+o.Folder+"/JOB"+o.Ending)
	}
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.SortFlags = false
	defaults.register(all)
	all.VisitAll(func(flag *pflag.Flag) {
		if jobFlag(flag.Name) == nil {
			fs.AddFlag(flag)
		}
	})
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && all.Lookup(unknown.GetSpecifiedName()) != nil {
			if why := jobFlag(unknown.GetSpecifiedName()); why != nil {
				return badInput(why)
			}
		}
		return badInput(flagError(cmd.Flags(), err))
	})
	cmd.AddCommand(a.batchMergeCommand())
	return cmd
}

// jobFlag says why a flag of conetune tune is none of a job; nil if it is one.
func jobFlag(name string) error {
	for _, o := range batch.Outputs {
		if name == o.Flag {
			return fmt.Errorf("--%s is given on the command line: each job has its file in %s/", name, o.Folder)
		}
	}
	switch name {
	case "json", "verbose", "trace", "plot-trace", "config", "save-config":
		return fmt.Errorf("--%s is not for jobs of a batch", name)
	}
	return nil
}

// jobFlags are the flags of conetune tune as one job has them.
func jobFlags() (*tuneFlags, *pflag.FlagSet) {
	f, fs := new(tuneFlags), pflag.NewFlagSet("", pflag.ContinueOnError)
	f.register(fs)
	return f, fs
}

// options checks the flags and reads the list of jobs.
func (f *batchFlags) options(args []string, flags *pflag.FlagSet) (o batch.Options, err error) {
	switch {
	case f.out == "":
		return o, badInputf("--out DIR is missing")
	case f.atOnce < 0 || f.atOnce > mostThreads:
		return o, badInputf("--jobs is %d, expected a positive number, at most %d", f.atOnce, mostThreads)
	case f.retry && !f.resume:
		return o, badInputf("--retry-failed goes with --resume")
	}
	if err := checkFolder(f.out); err != nil {
		return o, err
	}
	if o.Shard, err = worklist.ParseShard(f.shard); err != nil {
		return o, badInputf("--shard: %w", err)
	}
	_, known := jobFlags()
	defaults := map[string]string{}
	if f.config != "" {
		list, err := readConfig(f.config, known)
		if err != nil {
			return o, badInput(err)
		}
		for _, s := range list {
			if err := jobFlag(s.name); err != nil {
				return o, badInputf("%s: line %d: %w", f.config, s.line, err)
			}
			defaults[s.name] = s.value
		}
	}
	if f.model != "" {
		defaults["model"] = f.model
	}
	flags.Visit(func(flag *pflag.Flag) {
		if known.Lookup(flag.Name) != nil && jobFlag(flag.Name) == nil {
			defaults[flag.Name] = flag.Value.String()
		}
	})
	if o.Plan, err = planOf(args, defaults, known); err != nil {
		return o, badInput(err)
	}
	if err := checkJobs(o.Plan); err != nil {
		return o, badInput(err)
	}
	for k, out := range batch.Outputs {
		if f.outputs[k] {
			o.Outputs = append(o.Outputs, out)
		}
	}
	o.Dir, o.Resume, o.Retry, o.Version, o.Machine = f.out, f.resume, f.retry, version(), machine()
	jobs := 0
	for k := range o.Plan.Jobs {
		if k%o.Shard.Count == o.Shard.Index-1 {
			jobs++
		}
	}
	share := newShare(f.atOnce, jobs, defaults)
	o.Workers, o.Program = share.jobs, share.program
	return o, nil
}

// planOf reads a list of jobs, or makes one of files.
func planOf(args []string, defaults map[string]string, known *pflag.FlagSet) (batch.Plan, error) {
	if len(args) == 1 && !strings.ContainsAny(args[0], "*?[") {
		return batch.ReadJobs(args[0], defaults, func(name string) error {
			if known.Lookup(name) == nil {
				hint := didYouMean(name, append(flagNames(known), "job", "model"))
				if hint == "" {
					hint = " (to tune one table, use conetune tune, or a pattern in quotes)"
				}
				return fmt.Errorf("%q is no flag of conetune tune%s", name, hint)
			}
			return jobFlag(name)
		})
	}
	var paths []string
	for _, arg := range args {
		list, err := filepath.Glob(arg)
		if err != nil {
			return batch.Plan{}, fmt.Errorf("%s: %w", arg, err)
		}
		if _, err := os.Stat(arg); err == nil { // the shell may have expanded a pattern to names with such characters
			list = []string{arg}
		}
		if list == nil {
			return batch.Plan{}, fmt.Errorf("%s: no such file", arg)
		}
		paths = append(paths, list...)
	}
	slices.Sort(paths)
	return batch.OfFiles(slices.Compact(paths), defaults)
}

// checkJobs is an error where no job can be done, the first one's: then the flags for all are at fault.
func checkJobs(p batch.Plan) error {
	var first error
	for k := range p.Jobs {
		err := checkJob(&p.Jobs[k])
		if err == nil {
			return nil
		}
		if first == nil {
			first = fmt.Errorf("no job can be done; job %s: %w", p.Jobs[k].ID, err)
		}
	}
	return first
}

// checkJob checks what can be checked of a job without reading its data.
func checkJob(j *batch.Job) error {
	f, fs := jobFlags()
	var args []string
	for _, arg := range j.Args()[1:] {
		if !strings.HasPrefix(arg, "--memory=") { // which would be set for this process
			args = append(args, arg)
		}
	}
	if err := fs.Parse(args); err != nil {
		return flagError(fs, err)
	}
	for _, path := range f.data.files() {
		if path == standardStream {
			return errors.New("standard input is not for jobs of a batch")
		}
	}
	_, err := newTuneJob(j.Settings["model"], f, fs)
	return err
}

// batch does the jobs and prints the summary.
func (a *app) batch(ctx context.Context, o batch.Options) error {
	bar := a.newStatus(false)
	o.Observe = bar.work
	out, err := batch.Run(ctx, o)
	bar.clear()
	var damage *worklist.DamageError
	var file *fs.PathError
	switch {
	case errors.Is(err, worklist.ErrExists), errors.Is(err, batch.ErrOther), errors.As(err, &damage):
		return badInput(err)
	case errors.As(err, &file) && (file.Op == "mkdir" || errors.Is(err, fs.ErrPermission)):
		return badInputf("--out: %w", err)
	case err != nil:
		return failed(err)
	}
	if err := a.reportBatch(out, o.Dir); err != nil {
		return err
	}
	if ctx.Err() != nil {
		a.note("conetune: interrupted; what was done is kept, --resume goes on")
		return &exitError{code: exitInterrupted}
	}
	if n := batch.Failures(out); n > 0 && o.Shard.Count == 1 {
		return failed(fmt.Errorf("%s failed; --resume --retry-failed does them once more", count(n, "job")))
	}
	return nil
}

func (a *app) reportBatch(out *batch.Outcome, dir string) error {
	for _, n := range out.Notes {
		a.note("conetune: %s", n)
	}
	return a.print(batch.Describe(out) + "results in " + dir + "\n")
}

const batchMergeHelp = `Put the parts of conetune batch --shard together: the folders must be of the same list of jobs. --out gets
results, manifest, summary.csv, times.csv and the files of all jobs. summary.csv is the same as if the work had been
done in one piece. Exit status 1 says that jobs are missing still.`

func (a *app) batchMergeCommand() *cobra.Command {
	return merging[batch.Record, batch.Plan]{
		of: "conetune batch", long: batchMergeHelp, example: "  conetune batch merge part1 part2 --out results",
		merge: batch.Merge, report: a.reportBatch,
		missing: func(n int) string { return count(n, "job") + " of the list" },
	}.command()
}
