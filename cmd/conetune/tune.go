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

const tuneHelp = `Choose the hyperparameters of a model: those of the smallest error on rows that the model is not
fitted to, by cross-validation or on validation rows.

Models:
%s
Data, one of
  --data FILE                     one table, dealt out to 5 folds (--folds T); with --test FILE for a last look, or a part set aside by --split 0.75/rest --folds 5
  --data FILE --split 0.5/0.25/rest    one table, divided into rows for training, validation and perhaps test
  --train FILE --val FILE         tables that are divided already, with --test FILE for a last look
  --dir DIR                       a folder with train, val and perhaps test as .csv or .csv.gz (or .svm), or with data, folds (columns fold, row,
                                  role) and perhaps test
svm always chooses by folds, matrix-completion never. --group, --time and --fold-column name a column that divides the rows.

A table is taken as it comes (docs/tables.md): CSV of any dialect, plain or compressed, or LIBSVM (label index:value ...); - is
standard input. The target is the column y, or --target NAME, for multi-task --target A,B,.. Texts are categories, a
feature for each level but the first; missing numbers become the median of the training rows. In a folder of --dir tables are
CSV of numbers, with the target in the column y or the first.

With --data and --train the features are standardised on the training rows, or all rows of the folds, and an
intercept is fitted; coefficients are reported in the units of the table all the
same. Columns are brought to mean 0 and standard deviation 1; those of a sparse table of 1000 features or more
are divided by their largest absolute value (--scale). With --dir and with --preset paper both are off, as in the paper.
--standardize=false and --intercept=false, or =true, override that.

The report says first what was chosen and how good it is, beside the mean and the fit without penalty, on rows that the
fits have not seen; -v adds what the method had reached.

There are two vectors of coefficients. The refit is the model with the chosen
hyperparameters: the one that is reported and saved. Its validation error is that of
the fit to the training rows; then it is trained once more, on training and validation
rows, which its test error is for (--final train leaves that out). The iterate (-v, --json) is the last point of the method, which the paper reports; it
may fit the validation rows better than any choice of hyperparameters can, unless
--gap-tol brings the two together. Errors are half the mean squared error; for huber,
quantile, logistic and poisson they are the mean of the loss.

With folds the two have a fit for each, which share the hyperparameters, and their validation error is the mean
over the folds (for svm, of the hinge loss). The model to use is trained once more, on all rows of the folds with the chosen
hyperparameters; the test error is its, for svm the share of wrong labels. --nested says how good the choice is where there are no rows for a test.

Methods:
  vf-idca      difference-of-convex algorithm on the value function of the fit (vf-idca-t: to --tol 0.1)
  grid         points in even steps of the logarithms
  random       points drawn evenly in the logarithms
  tpe          tree-structured Parzen estimator, which learns where to draw (tpe2: with --scope common)
  cma-es       evolution strategy with covariance matrix adaptation
  igjo         gradient of the validation error by implicit differentiation, line search
  ifdm         the same with derivatives of the coordinate descent, 50 steps
  hoag         gradient steps on fits that become more accurate on the way
grid, random, tpe and cma-es are searches: they fit the model at --evaluations points between
the bounds of --range. igjo and hoag follow a gradient, for the models %s
(ifdm: %s), which they fit without the conic solver;
--evaluations bounds the fits, --max-iter the steps. All of these
take the fit of least validation error, so that the iterate is a fit to the training rows.
Several methods, --method grid,random,vf-idca, give a table; with --json an array with an
object for each; --plot-trace draws the best validation error over time, and --save
writes the model of the method whose refit has the least validation error. With --chain each
method begins at the choice of the one before: vf-idca at its radii, a search around its lambda.`

const tuneExample = `  conetune tune elastic-net --data table.csv --target price --plot table.png --save model.json
  conetune tune logistic --data patients.csv --target outcome --drop name --group ward
  conetune tune elastic-net --data sales.csv --target sold --time day --split 0.75/rest --folds 5
  conetune tune elastic-net --train train.svm --val val.svm --test test.svm.gz --json
  conetune tune elastic-net --dir DIR --preset paper --trace run.jsonl
  conetune tune elastic-net --data table.csv --method grid,random,tpe,vf-idca --plot-trace methods.png
  conetune tune elastic-net --data table.csv --method grid,vf-idca --chain --evaluations 25
  conetune tune elastic-net --data table.csv --method random --range lambda1=1e-3:1,lambda2=1e-5:0.1
  conetune tune elastic-net --data table.csv --folds 10 --split 0.8/rest
  conetune tune svm --data table.svm --folds 3 --split 0.5/rest --json
  conetune tune weighted-lasso --data table.csv --split 0.6/0.2/rest --target price --gap-tol 1e-4`

func (a *app) tuneCommand() *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:       "tune MODEL|--config FILE",
		Short:     "Choose hyperparameters for a table",
		Long:      sprintf(tuneHelp, modelList(), joined(model.Able(tune.MethodIGJO)), joined(model.Able(tune.MethodIFDM))),
		Example:   tuneExample,
		ValidArgs: model.Names(),
		Args: func(cmd *cobra.Command, args []string) error {
			if k := slices.IndexFunc(args, isWhole); len(args) == 2 && k >= 0 && cmd.Flags().Changed("nested") {
				return badInputf("--nested takes its number as --nested=%s", args[k])
			}
			if len(args) > 1 || len(args) == 0 && f.config == "" {
				return badInputf("expected one model, got %d arguments; known models are: %s", len(args), joined(model.Names()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
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
