package tune

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// tuneFlags are the flags of conetune tune as they were given.
type tuneFlags struct {
	Data            dataFlags
	model           modelFlags
	evaluate.Choice // without what is read of the next three

	method, ranges, init        string
	lambda, ratio               string
	nested, bootstrap           int
	standardize, intercept      bool
	scale, groups, classWeights string
	decide                      string
	trace, plot, plotTrace      string
	path                        string
	pathCoefficients            bool
	save, coefficients, report  string
	configFile, saveConfig      string
	asJSON, verbose             bool
}

// modelFlags are the options of models, and the flags of single ones.
type modelFlags struct {
	model.Options
	terms termFlags
}

// mostGamma bounds the exponent of the weights of adaptive-lasso: beyond it one feature is left.
const mostGamma = 100

// newTuneFlags has the defaults.
func newTuneFlags() *tuneFlags {
	f := &tuneFlags{method: tune.MethodVFiDCA}
	f.Config = tune.Config{Backend: "native", Engine: tune.EngineAuto, Eps: 1e-8}
	f.Data.Seed = 1
	f.model.Options = model.Options{Level: 0.5, Order: 1, Gamma: 1, Pilot: "ridge", Ties: "breslow"}
	return f
}

// flagGroup are flags about one thing; those of --help are shown, the others with --help-all.
type flagGroup struct {
	title string
	shown bool
	rows  []cli.Flag
}

// table has all flags, in the order of --help-all.
func (f *tuneFlags) table() []flagGroup {
	d, w, m, c := &f.Data, &f.Data.Wanted, &f.model, &f.Config
	return []flagGroup{
		{"Data", true, []cli.Flag{
			cli.NewFlag("data", &d.Data, "one table, `FILE`, that is split into folds, or divided by --split"),
			cli.NewFlag("test", &d.Test,
				"test table, `FILE`, with --train or --data (default: none, or the part of --data that --split leaves)",
				cli.Traits{Option: "Source.Test"}),
			cli.NewFlag("train", &d.Train, "training table, `FILE`"),
			cli.NewFlag("val", &d.Val, "validation table, `FILE`"),
			cli.NewFlag("dir", &d.Dir, "folder `DIR` with train, val and perhaps test"),
			cli.NewFlag("target", &d.target,
				"`NAME` of the target column (default: y); for multi-task those of all targets, A,B,..",
				cli.Traits{Option: "Wanted.Targets", List: true}),
			cli.NewFlag("drop", &w.Drop, "columns `A,B,..` to leave out", cli.Traits{Option: "Wanted.Drop", List: true}),
			cli.NewFlag("features", &w.Features, "columns `A,B,..` to use as features (default: all that can be)",
				cli.Traits{Option: "Wanted.Features", List: true}),
			cli.NewFlag("categorical", &w.Categorical, "columns `A,B,..` whose numbers are names of categories",
				cli.Traits{Option: "Wanted.Categorical", List: true}),
			cli.NewFlag("missing", &w.Missing, "`RULE` for missing values of features: "+words.Joined(
				table.MissingRules())+" (default: median, that of the training rows)", cli.Traits{Option: "Wanted.Missing",
				Known: table.MissingRules()}),
			cli.NewFlag("weights", &w.Weights,
				"column `A` of weights of rows, in fits and errors, for all models but multi-task and matrix-completion",
				cli.Traits{Option: "Wanted.Weights", Of: "Weights"}),
		}},
		{"Validation", true, []cli.Flag{
			cli.NewFlag("split", &d.Split, "rows for `TRAIN/VAL/TEST`, or with --folds FOLDS/TEST: numbers (50), shares (0.5 "+
				"or 50%) or the word rest (default: all, folds of all rows; for entries of a matrix "+input.DefaultSplit+
				", with --test "+input.DefaultSplitTested+")", cli.Traits{Option: "Source.Split"}),
			cli.NewFlag("folds", &foldCount{&d.Source}, fmt.Sprintf("choose by cross-validation: split the rows of --data "+
				"into `T` folds, or all: each row, or group of --group, is one (default: %d, or %d up to 1000 rows, as "+
				"many as there are rows for, unless --split divides the rows)", input.DefaultFolds, 2*input.DefaultFolds)),
			cli.NewFlag("repeats", &d.Repeats, "split the rows into folds `R` times, and choose by the mean (default: 1, or "+
				"2 up to 250 rows; 1 for svm and with --preset paper)"),
			cli.NewFlag("group", &w.Division.Group,
				"column `A` whose rows of the same value stay together, in folds and in --split",
				cli.Traits{Option: "Division.Group"}),
			cli.NewFlag("time", &w.Division.Time, "column `A` of numbers or dates: no fold is trained on rows that come later "+
				"than those it validates, and --split takes the last rows for the test; with --group, "+
				"groups are whole, too", cli.Traits{Option: "Division.Time"}),
			cli.NewFlag("nested", &f.nested, "estimate the error of the whole choice: make it anew without each of `T` outer "+
				"folds, and score it there (--nested alone: 5)"),
			cli.NewFlag("seed", &d.Seed, "seed `N` of the division into rows and of random draws"),
		}},
		{"Model", true, []cli.Flag{
			cli.NewFlag("groups", &f.groups, "groups of features, for models that have them: `M` equal consecutive ones, a "+
				"FILE of features and the numbers of their groups (columns feature and group), or the word columns, for the "+
				"features of each column (default: columns, or groups.csv of --dir)", cli.Traits{Of: "Groups"}),
			cli.NewFlag("standardize", &f.standardize,
				"bring features to one unit, that of --scale, on the training rows (default: on with --data and --train)"),
			cli.NewFlag("intercept", &f.intercept, "fit an intercept (default: on with --data and --train)"),
			cli.NewFlag("positive", &w.Positive, "`LABEL` that classifiers give the probability of, and whose rows they are to "+
				"find (default: the larger number, or the text that is later by its bytes: no comes after Yes)",
				cli.Traits{Option: "Wanted.Positive", Of: "Decisions"}),
			cli.NewFlag("decide", &f.decide, "`RULE` by which classifiers call a row positive: balanced-error or f1, at the "+
				"threshold that is best in cross-validation, FP:FN, at that of the least costs of false positives and "+
				"negatives, or a threshold of the probability, of svm of the value", cli.Traits{Of: "Decisions"}),
			cli.NewFlag("lambda", &f.lambda, "do not choose the weight of the penalty, it is `L`, or of several weights those "+
				"of NAME=L,..; in the units that reports have", cli.Traits{Option: "Config.Fixed", List: true}),
			cli.NewFlag("l1-ratio", &f.ratio, "do not choose the share of the 1-norm in the penalty, it is `R`"),
			cli.NewFlag("one-se", &c.OneSE, "take the simplest model whose validation error is within one standard error of "+
				"the least: the fewest features, the largest weights"),
		}},
		{"Output", true, []cli.Flag{
			cli.NewFlag("report", &f.report, "write a page about the choice to `FILE.html`: how good it is, coefficients, "+
				"predictions, data; it needs no other file", cli.Traits{Unsaved: true}),
			cli.NewFlag("plot", &f.plot,
				"draw the validation error and the coefficients over lambda, and the predictions, into `FILE.png` or .svg",
				cli.Traits{Unsaved: true}),
			cli.NewFlag("coefficients", &f.coefficients, "write the coefficients of the refit that are not zero, with the "+
				"effects of one standard deviation, to `FILE.csv`", cli.Traits{Unsaved: true}),
			cli.NewFlag("save", &f.save, "write the refit to `MODEL.json`, for conetune predict", cli.Traits{Unsaved: true}),
			cli.NewFlag("json", &f.asJSON, "print one JSON object instead of a table", cli.Traits{Unsaved: true}),
			cli.NewFlag("config", &f.configFile, "take settings from `FILE.yaml`, a line for each flag, such as folds: 5, and "+
				"model: NAME; the command line goes first", cli.Traits{Unsaved: true}),
			cli.NewFlag("verbose", &f.verbose, "log the solver's iterations to standard error, and report radii and iterate",
				cli.Traits{Short: "v", Unsaved: true}),
			cli.NewFlag("time-limit", &c.TimeLimit, "at most `TIME`, such as 90s or 5m (default: no limit)",
				cli.Traits{Most: cli.AnyNumber}),
			cli.MemoryFlag(),
		}},
		{"Features", false, FormFlags(&w.Forms)},
		{"Tables", false, append(DialectFlags(&d.Options),
			cli.NewFlag("id", &w.Labels, "columns `A,B,..` that name the rows and are no features, beside "+
				"row names and numbers of rows, which are found; none: no column does", cli.Traits{Option: "Wanted.Labels",
				List: true}),
			cli.NewFlag("fold-column", &w.Division.Fold, "column `A` that says in which fold a row validates",
				cli.Traits{Option: "Division.Fold"}),
			cli.NewFlag("row-features", &d.rowFeatures,
				"table with a line of features for each row of the matrix, `FILE`, for matrix-completion with --data"),
			cli.NewFlag("col-features", &d.colFeatures, "the same for each column, `FILE`"),
			cli.NewFlag("offset", &w.Offset, "column `A` of a known term of the value of rows, in fits, errors and "+
				"predictions: the logarithm of an exposure for poisson, for example", cli.Traits{Option: "Wanted.Offset",
				Of: "Offset"}),
			cli.NewFlag("event", &w.Event, "column `A` that says whether the time of a row is that of its event, for cox: 0 "+
				"and 1, 1 and 2, or two texts, or A=VALUE with the value of events; none where all rows have one (default: event "+
				"or status)", cli.Traits{Option: "Wanted.Event"}),
		)},
		{"Single models", false, []cli.Flag{
			cli.NewFlag("level", &m.Level, "share `Q` of the targets below the predictions, for quantile",
				cli.Traits{Of: "Level"}),
			cli.NewFlag("threshold", &m.Threshold, "residual `D`, in the unit of the target, from which on the loss of huber "+
				"grows linearly (default: by the spread of the targets)", cli.Traits{Of: "Threshold", Most: cli.MostValue}),
			cli.NewFlag("loss", &m.Loss, "`LOSS` that svm is trained by: "+words.Joined(svm.Losses())+
				" (default: chosen by the folds)", cli.Traits{Of: "Loss", Known: svm.Losses()}),
			cli.NewFlag("order", &m.Order,
				"order `K` of the differences of fused-lasso: 1 for coefficients constant in pieces, 2 for linear ones",
				cli.Traits{Of: "Order"}),
			cli.NewFlag("ties", &m.Ties, "`RULE` of cox for events at one time: breslow or efron", cli.Traits{Of: "Ties",
				Known: survival.TieRules()}),
			cli.NewFlag("penalty-factors", &m.terms.factors, "`NAME=F,..`: factors of the penalties of single features, 0 for "+
				"none, or a FILE with the columns feature and factor (default 1)", cli.Traits{Of: "Terms"}),
			cli.NewFlag("nonnegative", &m.terms.nonnegative,
				"no coefficient is negative (bounded-elastic-net does so without --lower and --upper)", cli.Traits{Of: "Terms"}),
			cli.NewFlag("lower", &m.terms.lower,
				"least coefficient `C`, not above 0, of all features, or NAME=C,.. of some (-inf for none)",
				cli.Traits{Of: "Terms"}),
			cli.NewFlag("upper", &m.terms.upper,
				"largest coefficient `C`, not below 0, of all features, or NAME=C,.. of some (default: none)",
				cli.Traits{Of: "Terms"}),
			cli.NewFlag("gamma", &m.Gamma, "exponent `G` of the weights of adaptive-lasso",
				cli.Traits{Of: "Gamma", Most: mostGamma}),
			cli.NewFlag("pilot", &m.Pilot, "`MODEL` that the weights of adaptive-lasso come from: "+words.Joined(
				regression.Pilots()), cli.Traits{Of: "Pilot", Known: regression.Pilots()}),
			cli.NewFlag("class-weights", &f.classWeights,
				"weights of the losses of the labels of classifiers: `LABEL=W,..`, 1 for others, or those of all labels, or "+
					"balanced, all labels alike", cli.Traits{Option: "Options.ClassWeights", Of: "ClassWeights", List: true}),
			cli.NewFlag("scale", &f.scale, "`UNIT` of standardised features: deviation, mean 0 (of dense tables) and standard "+
				"deviation 1, largest, the largest absolute value 1, or common, all divided by one number (default: deviation, "+
				"largest for sparse tables of 1000 features or more; svm has common where the sizes of sparse columns are "+
				"comparable)", cli.Traits{Known: dataset.Scalings()}),
			cli.NewFlag("final", &c.Final, "`ROWS` on which the reported refit is trained: train, or all for training and "+
				"validation rows (default: all; train with --preset paper)"),
			cli.NewFlag("rung", &c.Rung, "vf-idca: take the rung `NAME` of the ladder of a model with a weight for each "+
				"feature or group: common, adaptive, adaptive-twice, or free for weights without one (default: the simplest "+
				"whose error is within one standard error of the least)", cli.Traits{Option: "Config.Rung"}),
		}},
		{"Files and processes", false, []cli.Flag{
			cli.NewFlag("trace", &f.trace, "write one JSON object for each iteration to `FILE.jsonl`, while the run goes on",
				cli.Traits{Unsaved: true}),
			cli.NewFlag("plot-trace", &f.plotTrace, "for developers: draw how the method went into `FILE.png` or .svg: "+
				"errors, penalty, gap, step and coefficients over the iterations, or several methods over time",
				cli.Traits{Unsaved: true}),
			cli.NewFlag("path", &f.path, "write the validation error over lambda, with its standard error, degrees of freedom "+
				"and the number of features, to `FILE.csv`", cli.Traits{Unsaved: true}),
			cli.NewFlag("path-coefficients", &f.pathCoefficients, "put the coefficients into the file of --path, too",
				cli.Traits{Unsaved: true}),
			cli.NewFlag("save-config", &f.saveConfig, "write the settings to `FILE.yaml`, for --config",
				cli.Traits{Unsaved: true}),
			cli.NewFlag("threads", &c.Threads,
				"at most `N` threads in all; results do not depend on it (default: one for each core)",
				cli.Traits{Most: cli.MostThreads}),
			cli.NewFlag("workers", &c.Workers,
				"`N` fits of a search at once; results do not depend on it (default: one for each core)",
				cli.Traits{Most: cli.MostThreads}),
		}},
		{"Methods and solvers", false, []cli.Flag{
			cli.NewFlag("method", &f.method, "`METHOD` of selection, or several: "+words.Joined(tune.Methods()),
				cli.Traits{List: true}),
			cli.NewFlag("bootstrap", &f.bootstrap, "make the choice anew on `B` samples of the rows, drawn with replacement, "+
				"for the stability of the selection and intervals of weights and coefficients, 100 for example",
				cli.Traits{Most: cli.MostEvaluations}),
			cli.NewFlag("chain", &f.Chain, "begin each of several methods at the choice of the one before"),
			cli.NewFlag("evaluations", &c.Evaluations, "`N` points for a search to try (default 100)",
				cli.Traits{Most: cli.MostEvaluations}),
			cli.NewFlag("range", &f.ranges, "bounds of a search, `LOW:HIGH` for all axes or NAME=LOW:HIGH[,..] (default: by "+
				"the data; the paper's with --preset paper)", cli.Traits{List: true}),
			cli.NewFlag("scope", &c.Scope, "`SCOPE` of a search: common, one value for hyperparameters of a kind, "+
				"or each, one for each (default: the method's)"),
			cli.NewFlag("backend", &c.Backend,
				"conic solver, `NAME`, see conetune backends; auto for those that suit the programs"),
			cli.NewFlag("cross-check", &c.CrossCheck, "with --backend A,B: solve every conic program by both, which must agree"),
			cli.NewFlag("engine", &c.Engine, "`NAME` of what solves the programs: auto, the fits that models bring, and conic "+
				"programs for the rest, or conic, these alone", cli.Traits{Known: tune.Engines()}),
			cli.NewFlag("preset", &c.Preset, "`NAME` of settings: paper, those of the paper instead of ours",
				cli.Traits{Known: tune.Presets()}),
			cli.NewFlag("tol", &c.Tol, "stop when the relative step and the violation are below `T` (default: the preset's)",
				cli.Traits{Most: cli.MostTol}),
			cli.NewFlag("gap-tol", &c.GapTol, "go on until (l(x) - v(r)) / max(1, |v(r)|) <= `G`, so that iterate and refit "+
				"agree; 0 is off (default: the preset's; off with --preset paper)", cli.Traits{Most: cli.MostTol, Zero: true}),
			cli.NewFlag("max-iter", &c.MaxIter, "at most `N` iterations (default: the preset's)",
				cli.Traits{Option: "Config.MaxIter", Most: cli.MostIterations}),
			cli.NewFlag("init", &f.init, "start of the radii, `R0[,R1..]`; the last one repeats (default: the preset's)",
				cli.Traits{List: true}),
			cli.NewFlag("rho", &c.Rho, "weight `R` of the proximal term (default: the preset's)",
				cli.Traits{Most: cli.MostWeight}),
			cli.NewFlag("delta", &c.Delta, "growth `D` of the penalty (default: the preset's)",
				cli.Traits{Most: cli.MostWeight}),
			cli.NewFlag("c-alpha", &c.CAlpha, "constant `C` of the rule by which the penalty grows (default: the preset's)",
				cli.Traits{Most: cli.MostWeight}),
			cli.NewFlag("epsilon", &c.Epsilon, "relax l(x) - v(r) <= 0 to <= `E` (default 0)", cli.Traits{Most: cli.MostWeight,
				Zero: true}),
			cli.NewFlag("eps", &c.Eps, "tolerance `E` of every conic solve, relative, at most 0.01",
				cli.Traits{Most: cli.MostEps}),
		}},
	}
}

// FormFlags say what columns become.
func FormFlags(f *table.Forms) []cli.Flag {
	row := func(name string, list *[]string, option, help string) cli.Flag {
		return cli.NewFlag(name, list, help, cli.Traits{Option: "Forms." + option, List: true})
	}
	return []cli.Flag{
		row("reference", &f.Reference, "Reference", "`NAME=LEVEL,..`: the level that others of a category are compared with "+
			"(default: the first)"),
		row("ordered", &f.Ordered, "Ordered", "`NAME=LOW:..:HIGH,..`: categories in this order, or NAME alone in that of "+
			"numbers and texts, with a feature from each level but the first on"),
		row("spline", &f.Splines, "Splines", "`NAME=D,..`: natural cubic splines of D degrees of freedom, with knots at "+
			"quantiles of the training rows"),
		row("poly", &f.Polynomials, "Polynomials", "`NAME=D,..`: orthogonal polynomials of degree D"),
		row("dates", &f.Dates, "Dates", "`PARTS` of dates that are features: "+words.Joined(table.DateParts())+
			" (default: days, since 1970-01-01; auto: the year, and what training rows have twice)"),
		row("interact", &f.Interactions, "Interactions", "`A:B,..`, products of columns that are features, too, or A,B,.., "+
			"those of all pairs"),
	}
}

// DialectFlags say how a table is written, where its content does not.
func DialectFlags(o *table.Options) []cli.Flag {
	return []cli.Flag{
		cli.NewFlag("na", &o.Missing, "texts and numbers that stand for missing values, `A,B,..`, -999 "+
			"for example, beside the usual ones (docs/tables.md)", cli.Traits{Option: "Options.Missing"}),
		cli.NewFlag("sep", &o.Separator, "what stands between the cells of a table, `C`: , ; | or tab, space, comma, "+
			"semicolon (default: found from the file)", cli.Traits{Option: "Options.Separator"}),
		cli.NewFlag("decimal", &o.Decimal, "decimal `POINT` of a table, . or , (default: found from the file)",
			cli.Traits{Option: "Options.Decimal"}),
		cli.NewFlag("encoding", &o.Encoding,
			"`NAME` of the encoding of a table: utf-8, latin1, utf-16 (default: found from the file)",
			cli.Traits{Option: "Options.Encoding"}),
		cli.NewFlag("comment", &o.Comment, "character `C` with which lines begin that are passed over, or none (default: #)",
			cli.Traits{Option: "Options.Comment"}),
		cli.NewFlag("header", &o.Header,
			"`YES` or no: whether the first line of a table names its columns (default: found from the file)",
			cli.Traits{Option: "Options.Header"}),
		cli.NewFlag("sheet", &o.Sheet, "`NAME` of the sheet of a workbook (default: the first one)",
			cli.Traits{Option: "Options.Sheet"}),
	}
}

func CheckDialect(o *table.Options) error {
	if err := o.Validate(); err != nil {
		return cli.BadInputf("--sep, --decimal, --encoding, --comment, --header: %w", err)
	}
	return nil
}

// rows are those of all groups.
func (f *tuneFlags) rows() (rows []cli.Flag) {
	for _, g := range f.table() {
		rows = append(rows, g.rows...)
	}
	return rows
}

// register adds the flags.
func (f *tuneFlags) register(fs *pflag.FlagSet) {
	cli.Register(fs, f.rows())
	fs.Lookup("nested").NoOptDefVal = strconv.Itoa(input.DefaultFolds)
}

// FlagsOf puts flags in the place of the options that errors and findings of libraries speak of, by their identifiers.
var FlagsOf = func() *strings.Replacer {
	pairs := []string{
		"Source.Data, Source.Train or Source.Dir says", "--data, --train or --dir says", "Source.Each", "--folds all",
		"(GOMEMLIMIT gives more", "(--memory SIZE or GOMEMLIMIT gives more",
	}
	for _, r := range new(tuneFlags).rows() {
		if r.Option != "" {
			pairs = append(pairs, r.Option, "--"+r.Name)
		}
	}
	return strings.NewReplacer(pairs...)
}()

// foldCount is the value of --folds.
type foldCount struct{ of *input.Source }

// foldsAll is the value for one fold for each row, or for each group.
const foldsAll = "all"

// Set, String and Type implement [pflag.Value].
func (f *foldCount) Set(text string) (err error) {
	f.of.Folds, f.of.Each = 0, text == foldsAll
	if !f.of.Each {
		f.of.Folds, err = strconv.Atoi(text)
	}
	return err
}

func (f *foldCount) String() string {
	switch {
	case f.of == nil:
	case f.of.Each:
		return foldsAll
	case f.of.Folds != 0:
		return strconv.Itoa(f.of.Folds)
	}
	return ""
}

func (f *foldCount) Type() string { return "folds" }

// JobFlags are the flags of conetune tune as one job has them.
func JobFlags() (*tuneFlags, *pflag.FlagSet) {
	f, fs := newTuneFlags(), pflag.NewFlagSet("", pflag.ContinueOnError)
	f.register(fs)
	return f, fs
}
