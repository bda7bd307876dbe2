package batch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/process"
	"github.com/conetune/conetune/internal/cli/tune"
	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/internal/words"
)

// batchFlags are the flags of conetune batch beside those of conetune tune, which are defaults for all jobs.
type batchFlags struct {
	Options
	shard, model, config string
	outputs              [5]bool // as [Outputs]
}

const batchHelp = `Tune many tables: JOBS.csv has a row for each job and a column for each flag of conetune tune, such
as data, target, method, and a column model; a column job names the jobs, which otherwise have the numbers of their
rows. Empty cells leave a flag out. Or give patterns of files, 'tables/*.csv', or several files: one job for each.
Flags on the command line are defaults for all jobs.

The folder --out gets results.jsonl, one line for each job as it ends: settings, status, errors, measures, chosen
weights, seconds, message; manifest.json; and at the end summary.csv and times.csv. With --save there is a model of
each job in models/, with --report a page in reports/, with --coefficients a table in coefficients/, with --plot a
figure in figures/.

Each job is a process of its own, with its share of the memory and of the processors (--jobs), and with --time-limit
for itself. A job that fails is a line with the reason, and the others go on. Everything but seconds is the same for
any number of jobs at once. A batch that was stopped, by whatever, goes on with --resume. --shard I/N does one of N
parts; conetune batch merge puts the parts together.

Exit status: 0 all jobs are done; 1 some failed (not with --shard, where the merge tells); 2 the list or a flag is at
fault; 130 interrupted.`

// Command is the command.
func Command(a *cli.App) *cobra.Command {
	var f batchFlags
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
				return cli.BadInputf("expected JOBS.csv, or patterns of files such as 'tables/*.csv'")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.complete(args, cmd.Flags()); err != nil {
				return err
			}
			return runBatch(a, cmd.Context(), f.Options)
		},
	}
	cli.AddFlags(cmd,
		cli.NewFlag("out", &f.Dir, "folder `DIR` for the results"),
		cli.NewFlag("model", &f.model, "`MODEL` of jobs that do not name one, see conetune tune --help"),
		cli.NewFlag("config", &f.config,
			"settings of all jobs that do not say otherwise, from `FILE.yaml`, see conetune tune --config"),
		cli.NewFlag("jobs", &f.Workers,
			"`N` jobs at once, each with its share of processors and memory (default: as many as there are processors)",
			cli.Traits{Most: cli.MostThreads, Zero: true}),
		cli.NewFlag("resume", &f.Resume, "go on with the results in --out"),
		cli.NewFlag("retry-failed", &f.Retry, "with --resume: do jobs that failed once more"),
		cli.NewFlag("shard", &f.shard, "do part `I/N` of the jobs, I from 1 to N"),
	)
	fs := cmd.Flags()
	for k, o := range Outputs {
		fs.BoolVar(&f.outputs[k], o.Flag, false,
			"write a file for each job as conetune tune --"+o.Flag+" does, to "+o.Folder+"/JOB"+o.Ending)
	}
	_, all := tune.JobFlags()
	all.VisitAll(func(flag *pflag.Flag) {
		if jobFlag(flag.Name) == nil {
			fs.AddFlag(flag)
		}
	})
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && all.Lookup(unknown.GetSpecifiedName()) != nil {
			if why := jobFlag(unknown.GetSpecifiedName()); why != nil {
				return cli.BadInput(why)
			}
		}
		return cli.BadInput(cli.FlagError(cmd.Flags(), err))
	})
	cmd.AddCommand(mergeCommand(a))
	return cmd
}

// jobFlag says why a flag of conetune tune is none of a job; nil if it is one.
func jobFlag(name string) error {
	for _, o := range Outputs {
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

// complete checks the flags and reads the list of jobs.
func (f *batchFlags) complete(args []string, flags *pflag.FlagSet) (err error) {
	command := "conetune batch"
	if f.shard != "" {
		command += " --shard " + f.shard
	}
	if err = cli.CompleteWork(&f.Options.Options, f.shard, command); err != nil {
		return err
	}
	if f.Retry && !f.Resume {
		return cli.BadInputf("--retry-failed goes with --resume")
	}
	_, known := tune.JobFlags()
	defaults := map[string]string{}
	if f.config != "" {
		list, err := tune.ReadConfig(f.config, known)
		if err != nil {
			return cli.BadInput(err)
		}
		for _, s := range list {
			if err := jobFlag(s.Name); err != nil {
				return cli.BadInputf("%s: line %d: %w", f.config, s.Line, err)
			}
			defaults[s.Name] = s.Value
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
	if f.Plan, err = planOf(args, defaults, known); err != nil {
		return cli.BadInput(err)
	}
	if err := checkJobs(f.Plan); err != nil {
		return cli.BadInput(err)
	}
	for k, out := range Outputs {
		if f.outputs[k] {
			f.Options.Outputs = append(f.Options.Outputs, out)
		}
	}
	jobs := (len(f.Plan.Jobs) - f.Shard.Index + f.Shard.Count) / f.Shard.Count // of the shard
	f.share = newShare(f.Workers, jobs, defaults)
	f.Workers = f.share.jobs
	return nil
}

// planOf reads a list of jobs, or makes one of files.
func planOf(args []string, defaults map[string]string, known *pflag.FlagSet) (Plan, error) {
	if len(args) == 1 && !strings.ContainsAny(args[0], "*?[") {
		return ReadJobs(args[0], defaults, func(name string) error {
			if known.Lookup(name) == nil {
				hint := cli.DidYouMean(name, append(cli.FlagNames(known), "job", "model"))
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
			return Plan{}, fmt.Errorf("%s: %w", arg, err)
		}
		if _, err := os.Stat(arg); err == nil { // the shell may have expanded a pattern to names with such characters
			list = []string{arg}
		}
		if list == nil {
			return Plan{}, fmt.Errorf("%s: no such file", arg)
		}
		paths = append(paths, list...)
	}
	slices.Sort(paths)
	return OfFiles(slices.Compact(paths), defaults)
}

// checkJobs is an error where no job can be done, the first one's: then the flags for all are at fault.
func checkJobs(p Plan) error {
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
func checkJob(j *Job) error {
	f, fs := tune.JobFlags()
	var args []string
	for _, arg := range j.Args()[1:] {
		if !strings.HasPrefix(arg, "--memory=") { // which would be set for this process
			args = append(args, arg)
		}
	}
	if err := fs.Parse(args); err != nil {
		return cli.FlagError(fs, err)
	}
	for _, path := range f.Data.AllFiles() {
		if path == cli.StandardStream {
			return errors.New("standard input is not for jobs of a batch")
		}
	}
	_, err := tune.NewJob(j.Settings["model"], f, fs)
	return err
}

// batch does the jobs and prints the summary.
func runBatch(a *cli.App, ctx context.Context, o Options) error {
	bar := a.NewStatus(false)
	o.Observe = bar.Work
	out, err := Run(ctx, o)
	bar.Clear()
	if file, ok := errors.AsType[*fs.PathError](err); ok && (file.Op == "mkdir" || errors.Is(err, fs.ErrPermission)) {
		return cli.BadInputf("--out: %w", err)
	} else if err != nil {
		return cli.WorkError(err, ErrOther)
	}
	if err := reportBatch(a, out, o.Dir); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return a.InterruptedWork("what was done is kept, --resume goes on")
	}
	if n := Failures(out); n > 0 && o.Shard.Count == 1 {
		return cli.Failed(fmt.Errorf("%s failed; --resume --retry-failed does them once more", words.Count(n, "job")))
	}
	return nil
}

func reportBatch(a *cli.App, out *Outcome, dir string) error {
	return a.ReportWork(out.Notes, Describe(out)+"results in "+dir+"\n")
}

const batchMergeHelp = `Put the parts of conetune batch --shard together: the folders must be of the same list of
jobs. --out gets results, manifest, summary.csv, times.csv and the files of all jobs. summary.csv is the same as if
the work had been done in one piece. Exit status 1 says that jobs are missing still.`

func mergeCommand(a *cli.App) *cobra.Command {
	return cli.Merging[Record, Plan]{
		Of: "conetune batch", Long: batchMergeHelp, Example: "  conetune batch merge part1 part2 --out results",
		Merge: Merge, Report: func(out *Outcome, dir string) error { return reportBatch(a, out, dir) },
		Missing: func(n int) string { return words.Count(n, "job") + " of the list" },
	}.Command()
}

// share is what each of several jobs at once has of the machine.
type share struct {
	jobs, threads int
	memory        int64
}

// newShare divides the machine: atOnce jobs of so many in all, or with 0 as many as there are processors.
func newShare(atOnce, all int, defaults map[string]string) share {
	cores := runtime.GOMAXPROCS(0)
	s := share{jobs: atOnce}
	if s.jobs == 0 {
		s.jobs = cores
		var threads int
		if n, _ := fmt.Sscan(defaults["threads"], &threads); n == 1 && threads > 0 {
			s.jobs = cores / threads
		}
	}
	s.jobs = max(1, min(s.jobs, all))
	s.threads = max(1, cores/s.jobs)
	s.memory = memory.Default() / int64(s.jobs)
	return s
}

// program is this program for a job: with its share, as a process that ends when its standard input does.
func (s share) program(ctx context.Context, j *Job, args []string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), process.JobProcess+"=1")
	if j.Settings["threads"] == "" {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOMAXPROCS=%d", s.threads))
	}
	if j.Settings["memory"] == "" {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOMEMLIMIT=%d", s.memory))
	}
	return cmd
}
