package main

import (
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// tuneJob is a checked command line of conetune tune.
type tuneJob struct {
	once      sync.Once // for the next field
	deviation []float64 // of the features over the training rows
	*tuneFlags
	spec    model.Spec
	methods []string
	config  tune.Config   // without the method
	entries *matcomp.Data // of a matrix, once they are read
	rows    *input.Rows   // once they are read
	// groupsOfModel are the groups of features once the model is built; nil without.
	groupsOfModel *groups.Groups
	built         tune.Model       // of the rows
	judge         *evaluate.Judge  // of predictors, once the model is built
	outside       *evaluate.Nested // the error by outer folds, once it is known; nil without --nested
	settings      []byte           // for --config
}

// newTuneJob checks everything that can be checked without reading the data.
func newTuneJob(name string, f *tuneFlags, fs *pflag.FlagSet) (*tuneJob, error) {
	spec, err := findModel(name)
	if err != nil {
		return nil, err
	}
	job := &tuneJob{tuneFlags: f, spec: spec}
	if f.data.matrix = spec.Matrix; f.data.matrix && f.data.Data != "" && f.data.Split == "" {
		f.data.Split = input.DefaultRule(f.data.Test != "")
	}
	f.data.Once = f.preset == tune.PresetPaper
	spec.Prepare(&f.data.Source)
	if err := f.check(spec, fs); err != nil {
		return nil, err
	}
	least := fmt.Sprintf("a finite number that is not negative, at most %.10g", float64(mostWeight))
	radii, err := numbersOf("init", "radius", f.init, least, func(v float64) bool { return v >= 0 && v <= mostWeight })
	if err != nil {
		return nil, err
	}
	ranges, err := parseRanges(f.ranges)
	if err != nil {
		return nil, err
	}
	job.methods = strings.Split(f.method, ",")
	job.config = tune.Config{
		Backend: f.backend, CrossCheck: f.crossCheck, Engine: f.engine, Preset: f.preset,
		Evaluations: f.evaluations, Ranges: ranges, Scope: tune.Scope(f.scope), Workers: f.workers,
		Tol: f.tol, GapTol: f.gapTol, IgnoreGap: fs.Changed("gap-tol") && f.gapTol == 0, Rho: f.rho, Delta: f.delta, CAlpha: f.cAlpha, Epsilon: f.epsilon, Eps: f.eps, Rung: f.rung, OneSE: f.oneSE, Final: f.final,
		Init: radii, MaxIter: f.maxIter, TimeLimit: f.timeLimit, Seed: int64(f.data.Seed), Threads: f.threads,
	}
	if err := job.config.Validate(); err != nil {
		return nil, badInput(err)
	}
	if err := f.parseClassWeights(spec, fs); err != nil {
		return nil, err
	}
	f.model.Groups = f.readGroups
	return job, f.parseScaling(spec, fs)
}

// check looks at the flags for themselves and beside each other.
func (f *tuneFlags) check(spec model.Spec, fs *pflag.FlagSet) error {
	for _, check := range []func() error{
		func() error { return f.checkNames() },
		func() error { return f.checkNumbers(fs) },
		func() error { return f.model.check(spec, fs) },
		func() error { return f.data.check(fs) },
		func() error { return f.checkNestedFlags(fs.Changed("nested")) },
		func() error { return f.checkOutputs() },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := f.data.checkTargets(); err != nil {
		return err
	}
	switch {
	case fs.Changed("coefficients") && spec.Matrix:
		return badInputf("--coefficients: %s predicts by a matrix; --save has it", spec.Name)
	case fs.Changed("weights") && !spec.Takes("Weights"):
		return badInputf("--weights: %s takes no weights of rows; those that do are %s", spec.Name, joined(model.Taking("Weights")))
	case fs.Changed("offset") && !spec.Takes("Offset"):
		return badInputf("--offset: %s takes no offset of rows; those that do are %s", spec.Name, joined(model.Taking("Offset")))
	case fs.Changed("event") && !spec.Survival:
		return badInputf("--event: %s has no times until an event; cox has", spec.Name)
	case fs.Changed("intercept") && spec.Survival:
		return badInputf("--intercept: %s has none, as a constant changes nothing", spec.Name)
	case fs.Changed("groups") && !spec.Takes("Groups"):
		return badInputf("--groups: %s has no groups", spec.Name)
	case !fs.Changed("groups") && spec.Takes("Groups") && !spec.Matrix && f.data.Dir == "":
		return badInputf("--groups is missing: M equal consecutive groups, or a file with the group of each feature")
	case fs.Changed("folds") && f.data.matrix:
		return badInputf("--folds: %s has no folds, its entries are for training, validation or test", spec.Name)
	case fs.Changed("final") && f.data.CrossValidates():
		return badInputf("--final: with folds the refit is trained on all of their rows; leave it out, or divide the rows by --split")
	}
	return nil
}

// parseScaling finds the unit of features and whether there is an intercept: those that are asked for, or those of
// tables of users, which have columns in units of their own; the paper's data have not.
func (f *tuneFlags) parseScaling(spec model.Spec, fs *pflag.FlagSet) (err error) {
	o := &f.model.Options
	raw := f.data.Dir == "" && f.preset == ""
	o.Standardize, o.Intercept = raw, raw
	if fs.Changed("scale") {
		o.Scaling, err = dataset.ParseScaling(f.scale)
		switch {
		case err != nil:
			return badInputf("--scale is %q, expected one of: %s", f.scale, joined(dataset.Scalings()))
		case spec.Matrix:
			return badInputf("--scale: %s always divides by standard deviations", spec.Name)
		case fs.Changed("standardize") && !f.standardize:
			return badInputf("--scale is about what --standardize=false turns off; leave one of them out")
		}
		o.Standardize = true
	}
	if fs.Changed("standardize") {
		o.Standardize = f.standardize
	}
	if fs.Changed("intercept") {
		o.Intercept = f.intercept
	}
	if spec.Survival {
		o.Intercept = false
	}
	if spec.Folds {
		if fs.Changed("intercept") && !f.intercept {
			return badInputf("--intercept=false: %s always has one", spec.Name)
		}
		o.Intercept = true
	}
	return nil
}

// readGroups returns the groups that --groups names or counts, by default those of the folder.
func (f *tuneFlags) readGroups(features []string, overlap bool) (*groups.Groups, error) {
	if f.groups == "" {
		return groups.ReadDir(f.data.Dir, features, overlap)
	}
	m, err := strconv.Atoi(f.groups)
	if err != nil {
		return groups.Read(f.groups, features, overlap)
	}
	g, err := groups.Equal(len(features), m)
	if err != nil {
		return nil, fmt.Errorf("--groups: %w", err)
	}
	return g, nil
}

// parseClassWeights reads "balanced" or "1,3".
func (f *tuneFlags) parseClassWeights(spec model.Spec, fs *pflag.FlagSet) error {
	switch {
	case !fs.Changed("class-weights"):
		return nil
	case !spec.Takes("ClassWeights") && spec.Takes("Weights") && spec.Labels:
		return badInputf("--class-weights goes with svm; %s takes a column of weights of rows, --weights", spec.Name)
	case !spec.Takes("ClassWeights"):
		return badInputf("--class-weights: %s has no classes", spec.Name)
	case f.classWeights == "balanced":
		f.model.Balanced = true
		return nil
	}
	fields := strings.Split(f.classWeights, ",")
	for _, field := range fields {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || !(v >= 1/mostWeight && v <= mostWeight) || len(fields) != 2 {
			return badInputf("--class-weights is %q, expected balanced, or a positive number for the rows of the smaller label and one for those of the larger, from %g to %g",
				f.classWeights, 1/mostWeight, mostWeight)
		}
		f.model.ClassWeights = append(f.model.ClassWeights, v)
	}
	return nil
}

// checkNames rejects unknown methods, presets and backends, and names those there are.
func (f *tuneFlags) checkNames() error {
	seen := map[string]bool{}
	for _, name := range strings.Split(f.method, ",") {
		if !slices.Contains(tune.Methods(), name) {
			return badInputf("--method: unknown method %q; known are: %s", name, joined(tune.Methods()))
		}
		if seen[name] {
			return badInputf("--method %s: %s is named twice", f.method, name)
		}
		seen[name] = true
	}
	if f.chain && len(seen) == 1 {
		return badInputf("--chain needs several methods, such as --method grid,vf-idca")
	}
	if f.preset != "" && !slices.Contains(tune.Presets(), f.preset) {
		return badInputf("--preset: unknown preset %q; known are: %s", f.preset, joined(tune.Presets()))
	}
	if _, err := openBackend(f.backend, f.crossCheck); err != nil {
		return err
	}
	if !f.crossCheck && strings.Contains(f.backend, ",") {
		return badInputf("--backend %s: the first answer of several depends on the time, and a run on it: add --cross-check, or name one, or auto", f.backend)
	}
	if !slices.Contains(tune.Engines(), f.engine) {
		return badInputf("--engine: unknown engine %q; known are: %s", f.engine, strings.Join(tune.Engines(), ", "))
	}
	return nil
}

// checkNumbers rejects numbers without meaning. A flag that was not given keeps
// its zero value, which leaves the preset's.
func (f *tuneFlags) checkNumbers(fs *pflag.FlagSet) error {
	if f.data.Seed > math.MaxInt64 {
		return badInputf("--seed is %d, expected at most %d", f.data.Seed, int64(math.MaxInt64))
	}
	return checkNumbers(fs, []numberFlag{
		{"tol", f.tol, false, mostTol}, {"gap-tol", f.gapTol, true, mostTol}, {"rho", f.rho, false, mostWeight}, {"delta", f.delta, false, mostWeight},
		{"c-alpha", f.cAlpha, false, mostWeight}, {"epsilon", f.epsilon, true, mostWeight}, {"eps", f.eps, false, mostEps},
		{"max-iter", float64(f.maxIter), false, mostIterations},
		{"threads", float64(f.threads), false, mostThreads}, {"time-limit", f.timeLimit.Seconds(), false, 0},
		{"evaluations", float64(f.evaluations), false, mostEvaluations}, {"workers", float64(f.workers), false, mostThreads},
	})
}

// parseRanges reads "1e-5:1e-2" or "lambda1=1e-5:1e-2,lambda2=..".
func parseRanges(text string) ([]tune.Range, error) {
	if text == "" {
		return nil, nil
	}
	var ranges []tune.Range
	for _, field := range strings.Split(text, ",") {
		r := tune.Range{}
		bounds := field
		if i := strings.LastIndex(field, "="); i >= 0 {
			r.Axis, bounds = field[:i], field[i+1:]
		}
		low, high, found := strings.Cut(bounds, ":")
		var errLow, errHigh error
		r.Low, errLow = strconv.ParseFloat(low, 64)
		r.High, errHigh = strconv.ParseFloat(high, 64)
		if !found || errLow != nil || errHigh != nil || strings.HasPrefix(field, "=") {
			return nil, badInputf("--range: %q found, expected LOW:HIGH or NAME=LOW:HIGH, such as lambda1=1e-5:1e-2", field)
		}
		if r.Low > 0 && r.Low < leastRange || r.High > mostRange {
			return nil, badInputf("--range: %q found, expected numbers from %g to %g", field, leastRange, mostRange)
		}
		ranges = append(ranges, r)
	}
	return ranges, nil
}

// checkOutputs finds out before the work whether its files can be written, and
// that none of them would replace another one or the data.
func (f *tuneFlags) checkOutputs() error {
	for _, out := range []fileFlag{{"--plot", f.plot}, {"--plot-trace", f.plotTrace}} {
		if out.path == "" {
			continue
		}
		if _, err := figure.Format(out.path); err != nil {
			return badInputf("%s: %w", out.flag, err)
		}
	}
	taken := map[string]string{}
	for _, in := range f.data.files() {
		taken[absolute(in)] = "the data"
	}
	if f.groups != "" {
		taken[absolute(f.groups)] = "the groups"
	}
	if f.config != "" {
		taken[absolute(f.config)] = "the file of --config"
	}
	for _, in := range f.model.terms.files() {
		taken[absolute(in)] = "the penalty factors"
	}
	for _, out := range f.outputs() {
		if out.path == "" || out.path == standardStream {
			continue
		}
		if other, ok := taken[absolute(out.path)]; ok {
			return badInputf("%s %s: would overwrite %s", out.flag, out.path, other)
		}
		taken[absolute(out.path)] = "the file of " + out.flag
		if err := checkOutput(out.path); err != nil {
			return badInputf("%s: %w", out.flag, err)
		}
	}
	return nil
}

// fileFlag is a flag that names a file.
type fileFlag struct{ flag, path string }

// outputs are the files to write, those without a name among them.
func (f *tuneFlags) outputs() []fileFlag {
	return []fileFlag{{"--trace", f.trace}, {"--plot", f.plot}, {"--plot-trace", f.plotTrace}, {"--save", f.save}, {"--coefficients", f.coefficients}, {"--report", f.report}, {"--save-config", f.saveConfig}}
}

// absolute returns a path by which two names of a file can be compared.
func absolute(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// logger writes the solver's iterations to standard error, if asked to.
func (a *app) logger(verbose bool) *slog.Logger {
	if !verbose {
		return nil
	}
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
