package main

import (
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// tuneFlags are the flags of conetune tune as they were given.
type tuneFlags struct {
	data dataFlags

	method, backend, engine, preset string
	crossCheck                      bool
	tol, gapTol, rho, delta, cAlpha float64
	epsilon, eps                    float64
	init                            string
	maxIter, threads                int
	nested                          int
	oneSE                           bool
	final, rung                     string
	evaluations, workers            int
	ranges, scope                   string
	chain                           bool
	timeLimit                       time.Duration
	standardize, intercept          bool
	scale                           string
	groups                          string
	classWeights                    string
	model                           modelFlags
	trace, plot, plotTrace          string
	save, coefficients              string
	report, config, saveConfig      string
	asJSON, verbose                 bool
}

func (a *app) tuneCommand() *cobra.Command {
	var f tuneFlags
	var helpAll bool
	cmd := &cobra.Command{
		Use:       "tune MODEL|--config FILE",
		Short:     "Choose hyperparameters for a table",
		Example:   tuneExample,
		ValidArgs: model.Names(),
		Args: func(cmd *cobra.Command, args []string) error {
			if helpAll {
				return nil
			}
			if k := slices.IndexFunc(args, isWhole); len(args) == 2 && k >= 0 && cmd.Flags().Changed("nested") {
				return badInputf("--nested takes its number as --nested=%s", args[k])
			}
			if len(args) > 1 || len(args) == 0 && f.config == "" {
				return badInputf("expected one model, got %d arguments; known models are: %s", len(args), joined(model.Names()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if helpAll {
				return printTuneHelp(cmd, true)
			}
			f.data.Stdin = a.stdin
			defer f.data.Close()
			model, err := f.configured(args, cmd.Flags())
			if err != nil {
				return err
			}
			job, err := newTuneJob(model, &f, cmd.Flags())
			if err != nil {
				return err
			}
			if job.settings, err = settingsOf(model, cmd.Flags()); err != nil {
				return err
			}
			for _, out := range f.outputs() {
				if err := a.claimOutput(out.flag, out.path, f.asJSON); err != nil {
					return err
				}
			}
			if f.threads > 0 && f.threads < runtime.GOMAXPROCS(0) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(f.threads))
			}
			return a.tune(cmd.Context(), job)
		},
	}
	cmd.Flags().SortFlags = false
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&helpAll, "help-all", false, "help for tune, with all flags")
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _ = printTuneHelp(cmd, false) }) // what is not written is known
	return cmd
}

// configured takes the settings of --config, and returns the model, which may be one of them.
func (f *tuneFlags) configured(args []string, fs *pflag.FlagSet) (name string, err error) {
	if len(args) > 0 {
		name = args[0]
	}
	if f.config == "" {
		return name, nil
	}
	list, err := readConfig(f.config, fs)
	if err != nil {
		return "", badInput(err)
	}
	if name, err = apply(list, f.config, name, fs); err == nil && name == "" {
		err = badInputf("%s: no model is set; give one, or the line model: NAME; known models are: %s", f.config, joined(model.Names()))
	}
	return name, err
}

// register adds the flags.
func (f *tuneFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.config, "config", "", "take settings from `FILE.yaml`, a line for each flag, such as folds: 5, and model: NAME; the command line goes first")
	f.data.register(fs)
	fs.BoolVar(&f.standardize, "standardize", false, "bring features to one unit, that of --scale, on the training rows (default: on with --data and --train)")
	fs.StringVar(&f.scale, "scale", "", "`UNIT` of standardised features: deviation, mean 0 (of dense tables) and standard deviation 1, largest, the largest absolute value 1, or common, all divided by one number (default: deviation, largest for sparse tables of 1000 features or more; svm has common where the sizes of sparse columns are comparable)")
	fs.BoolVar(&f.intercept, "intercept", false, "fit an intercept (default: on with --data and --train)")
	fs.StringVar(&f.groups, "groups", "", "groups of features, for models that have them: `M` equal consecutive ones, or a FILE with columns feature and group (default: groups.csv of --dir)")
	fs.StringVar(&f.classWeights, "class-weights", "", "weights of the losses of the two labels, for svm: `W1,W2`, or balanced (default: 1,1)")
	f.model.register(fs)
	fs.StringVar(&f.method, "method", "vf-idca", "`METHOD` of selection, or several: "+joined(tune.Methods()))
	fs.BoolVar(&f.chain, "chain", false, "begin each of several methods at the choice of the one before")
	fs.IntVar(&f.evaluations, "evaluations", 0, "`N` points for a search to try (default 100)")
	fs.StringVar(&f.ranges, "range", "", "bounds of a search, `LOW:HIGH` for all axes or NAME=LOW:HIGH[,..] (default: by the data; the paper's with --preset paper)")
	fs.StringVar(&f.scope, "scope", "", "`SCOPE` of a search: common, one value for hyperparameters of a kind, or each, one for each (default: the method's)")
	fs.IntVar(&f.workers, "workers", 0, "`N` fits of a search at once; results do not depend on it (default: one for each core)")
	fs.StringVar(&f.backend, "backend", "native", "conic solver, `NAME`, see conetune backends; auto for those that suit the programs")
	fs.BoolVar(&f.crossCheck, "cross-check", false, "with --backend A,B: solve every conic program by both, which must agree")
	fs.StringVar(&f.engine, "engine", tune.EngineAuto, "`NAME` of what solves the programs: auto, the fits that models bring, and conic programs for the rest, or conic, these alone")
	fs.StringVar(&f.preset, "preset", "", "`NAME` of settings: paper, those of the paper instead of ours")
	fs.Float64Var(&f.tol, "tol", 0, "stop when the relative step and the violation are below `T` (default: the preset's)")
	fs.Float64Var(&f.gapTol, "gap-tol", 0, "go on until (l(x) - v(r)) / max(1, |v(r)|) <= `G`, so that iterate and refit agree; 0 is off (default: the preset's; off with --preset paper)")
	fs.IntVar(&f.maxIter, "max-iter", 0, "at most `N` iterations (default: the preset's)")
	fs.BoolVar(&f.oneSE, "one-se", false, "take the simplest model whose validation error is within one standard error of the least: that with all weights larger by the same factor")
	fs.IntVar(&f.nested, "nested", 0, "estimate the error of the whole choice: make it anew without each of `T` outer folds, and score it there (--nested alone: 5)")
	fs.Lookup("nested").NoOptDefVal = strconv.Itoa(input.DefaultFolds)
	fs.StringVar(&f.rung, "rung", "", "vf-idca: take the rung `NAME` of the ladder of a model with a weight for each feature or group: common, adaptive, adaptive-twice, or free for weights without one (default: the simplest whose error is within one standard error of the least)")
	fs.StringVar(&f.final, "final", "", "`ROWS` on which the reported refit is trained: train, or all for training and validation rows (default: all; train with --preset paper)")
	fs.DurationVar(&f.timeLimit, "time-limit", 0, "at most `TIME`, such as 90s or 5m (default: no limit)")
	fs.StringVar(&f.init, "init", "", "start of the radii, `R0[,R1..]`; the last one repeats (default: the preset's)")
	fs.Float64Var(&f.rho, "rho", 0, "weight `R` of the proximal term (default: the preset's)")
	fs.Float64Var(&f.delta, "delta", 0, "growth `D` of the penalty (default: the preset's)")
	fs.Float64Var(&f.cAlpha, "c-alpha", 0, "constant `C` of the rule by which the penalty grows (default: the preset's)")
	fs.Float64Var(&f.epsilon, "epsilon", 0, "relax l(x) - v(r) <= 0 to <= `E` (default 0)")
	fs.Float64Var(&f.eps, "eps", 1e-8, "tolerance `E` of every conic solve, relative, at most 0.01")
	fs.Uint64Var(&f.data.Seed, "seed", 1, "seed `N` of the division into rows and of random draws")
	fs.IntVar(&f.threads, "threads", 0, "at most `N` threads in all; results do not depend on it (default: one for each core)")
	registerMemory(fs)
	fs.BoolVar(&f.asJSON, "json", false, "print one JSON object instead of a table")
	fs.StringVar(&f.trace, "trace", "", "write one JSON object for each iteration to `FILE.jsonl`, while the run goes on")
	fs.StringVar(&f.plot, "plot", "", "draw the validation error and the coefficients over lambda, and the predictions, into `FILE.png` or .svg")
	fs.StringVar(&f.plotTrace, "plot-trace", "", "draw how the method went into `FILE.png` or .svg: errors, penalty, gap, step and coefficients over the iterations, or several methods over time")
	fs.StringVar(&f.report, "report", "", "write a page about the choice to `FILE.html`: how good it is, coefficients, predictions, data; it needs no other file")
	fs.StringVar(&f.saveConfig, "save-config", "", "write the settings to `FILE.yaml`, for --config")
	fs.StringVar(&f.save, "save", "", "write the refit to `MODEL.json`, for conetune predict")
	fs.StringVar(&f.coefficients, "coefficients", "", "write the coefficients of the refit that are not zero, with the effects of one standard deviation, to `FILE.csv`")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "log the solver's iterations to standard error, and report radii and iterate")
}

// isWhole says whether a text is a whole number.
func isWhole(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}
