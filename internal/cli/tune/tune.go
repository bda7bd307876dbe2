// Package tune is the command conetune tune: its flags, what they ask for, and the run.
package tune

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/tune"
)

// Command is the command.
func Command(a *cli.App) *cobra.Command {
	f := newTuneFlags()
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
			if k := slices.IndexFunc(args, func(s string) bool { _, err := strconv.Atoi(s); return err == nil }); len(
				args) == 2 && k >= 0 && cmd.Flags().Changed("nested") {
				return cli.BadInputf("--nested takes its number as --nested=%s", args[k])
			}
			if len(args) > 1 && slices.Contains(model.Names(), args[0]) {
				return cli.BadInputf("expected one model, got %d arguments; a table is given as --data %s", len(args), args[1])
			}
			if len(args) > 1 || len(args) == 0 && f.configFile == "" {
				return cli.BadInputf("expected one model, got %d arguments; known models are: %s", len(args),
					words.Joined(model.Names()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if helpAll {
				return f.printHelp(cmd, true)
			}
			f.Data.Stdin = a.Stdin
			defer f.Data.Close()
			model, err := f.configured(args, cmd.Flags())
			if err != nil {
				return err
			}
			job, err := NewJob(model, f, cmd.Flags())
			if err != nil {
				return err
			}
			if job.run.Settings, err = f.settings(model, cmd.Flags()); err != nil {
				return err
			}
			for _, out := range f.outputs() {
				if err := a.ClaimOutput(out.flag, out.path, f.asJSON); err != nil {
					return err
				}
			}
			if f.Config.Threads > 0 && f.Config.Threads < runtime.GOMAXPROCS(0) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(f.Config.Threads))
			}
			return tuneData(a, cmd.Context(), job)
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&helpAll, "help-all", false, "help for tune, with all flags")
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _ = f.printHelp(cmd, false) }) // what is not written is known
	return cmd
}

// configured takes the settings of --config, and returns the model, which may be one of them.
func (f *tuneFlags) configured(args []string, fs *pflag.FlagSet) (name string, err error) {
	if len(args) > 0 {
		name = args[0]
	}
	if f.configFile == "" {
		return name, nil
	}
	list, err := ReadConfig(f.configFile, fs)
	if err != nil {
		return "", cli.BadInput(err)
	}
	if name, err = apply(list, f.configFile, name, fs); err == nil && name == "" {
		err = cli.BadInputf("%s: no model is set; give one, or the line model: NAME; known models are: %s", f.configFile,
			words.Joined(model.Names()))
	}
	return name, err
}

const tuneHelp = `Choose the hyperparameters of a model: those of the smallest error on rows that the model is not
fitted to, by cross-validation or on validation rows.

Models:
%s
Data, one of
  --data FILE                     one table, split into folds (--folds T), with --test FILE for a last look or a part
                                  set aside by --split 0.75/rest --folds 5
  --data FILE --split 0.5/0.25/rest    one table, divided into rows for training, validation and perhaps test
  --train FILE --val FILE         tables that are divided already, with --test FILE for a last look
  --dir DIR                       a folder with train, val and perhaps test as .csv or .csv.gz (or .svm), or with data,
                                  folds (columns fold, row, role) and perhaps test
svm always chooses by folds, matrix-completion never. --group, --time and --fold-column name a column that divides the
rows.

A table is taken as it comes (docs/tables.md): CSV of any dialect, plain or compressed, or LIBSVM (label index:value
...); - is standard input. The target is the column y, or --target NAME, for multi-task --target A,B,.. In lists a
name with a comma stands in double quotes, as in CSV: --drop 'age,"height, cm"'. Texts are categories, a feature for
each level but the first; missing numbers become the median of the training rows. Splines, polynomials, interactions,
ordered levels, other references and parts of dates are under --help-all.

The report says first what was chosen and how good it is, beside the mean and the fit without penalty, on rows that
the fits have not seen. The model is then trained once more, on training and validation rows or all rows of the folds
(--final train leaves that out); --save keeps it for conetune predict. Errors are half the mean squared error; for
huber, quantile, logistic and poisson they are the mean of the loss.`

const tuneHelpAll = `

With --data and --train the features are standardised on the training rows, or all rows of the folds, and an intercept
is fitted; coefficients are reported in the units of the table all the same. Columns are brought to mean 0 and
standard deviation 1; those of a sparse table of 1000 features or more are divided by their largest absolute value
(--scale). With --dir and with --preset paper both are off, as in the paper. --standardize=false and
--intercept=false, or =true, override that. In a folder of --dir tables are CSV of numbers, with the target in the
column y or the first.

There are two vectors of coefficients. The refit is the model with the chosen hyperparameters: the one that is
reported and saved. Its validation error is that of the fit to the training rows, with folds the mean over these (for
svm, of the hinge loss); its test error is that of the model trained once more, for svm the share of wrong labels. The
iterate (-v, --json) is the last point of the method, which the paper reports; it may fit the validation rows better
than any choice of hyperparameters can, unless --gap-tol brings the two together. --nested says how good the choice is
where there are no rows for a test.

Methods:
  vf-idca      difference-of-convex algorithm on the value function of the fit (vf-idca-t: to --tol 0.1)
  grid         points in even steps of the logarithms
  random       points drawn evenly in the logarithms
  tpe          tree-structured Parzen estimator, which learns where to draw (tpe2: with --scope common)
  cma-es       evolution strategy with covariance matrix adaptation
  igjo         gradient of the validation error by implicit differentiation, line search
  ifdm         the same with derivatives of the coordinate descent, 50 steps
  hoag         gradient steps on fits that become more accurate on the way
  ldmma        fits, and least validation errors within a small lower-level gap around them, by the conic solver
grid, random, tpe and cma-es are searches: they fit the model at --evaluations points between the bounds of --range.
igjo and hoag follow a gradient, for the models %s (ifdm: %s), which they fit without the conic solver; --evaluations
bounds the fits, --max-iter the steps. All of these take the fit of least validation error, so that the iterate is a
fit to the training rows. Several methods, --method grid,random,vf-idca, give a table; with --json an array with an
object for each; --plot draws the best validation error over time, too, and --save writes the model of the method
whose refit has the least validation error. With --chain each method begins at the choice of the one before: vf-idca
at its radii, a search around its lambda.`

const tuneExample = `  conetune tune elastic-net --data table.csv --target price --plot table.png --save model.json
  conetune tune logistic --data patients.csv --target outcome --drop name --group ward
  conetune tune elastic-net --data sales.csv --target sold --time day --split 0.75/rest --folds 5
  conetune tune svm --data table.svm --folds 3 --split 0.5/rest --json
  conetune tune elastic-net --dir DIR --preset paper --trace run.jsonl
  conetune tune elastic-net --data table.csv --method grid,random,tpe,vf-idca --plot methods.png`

// printHelp prints the help of conetune tune, with all flags or those that most need.
func (f *tuneFlags) printHelp(cmd *cobra.Command, all bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, tuneHelp, cli.ModelList())
	if all {
		fmt.Fprintf(&b, tuneHelpAll, words.Joined(model.Able(tune.MethodIGJO)), words.Joined(model.Able(tune.MethodIFDM)))
	}
	fmt.Fprintf(&b, "\n\nUsage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
	for _, g := range append(f.table(), flagGroup{"Help", false, []cli.Flag{cli.NewFlag("help-all", nil, ""),
		cli.NewFlag("help", nil, "")}}) {
		if !g.shown && !all {
			continue
		}
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		fs.SortFlags = false
		for _, r := range g.rows {
			fs.AddFlag(cmd.Flags().Lookup(r.Name))
		}
		fmt.Fprintf(&b, "\n%s:\n%s", g.title, fs.FlagUsages())
	}
	if !all {
		b.WriteString("\n--help-all lists all flags, those of tables, single models, methods and solvers among them.\n")
	}
	_, err := io.WriteString(cmd.OutOrStdout(), b.String())
	return err
}
