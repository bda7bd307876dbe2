package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/report"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// tuneJob is a checked command line of conetune tune.
type tuneJob struct {
	*tuneFlags
	run     *report.Run
	built   problems.Model      // of the rows
	sampled *evaluate.Bootstrap // nil without
}

// NewJob checks everything that can be checked without reading the data.
func NewJob(name string, f *tuneFlags, fs *pflag.FlagSet) (*tuneJob, error) {
	spec, err := cli.FindModel(name)
	if err != nil {
		return nil, err
	}
	job := &tuneJob{tuneFlags: f, run: &report.Run{Spec: spec, Options: &f.model.Options, Source: &f.Data.Source,
		Choice: &f.Choice, Verbose: f.verbose}}
	if f.Data.matrix = spec.Matrix; f.Data.matrix && f.Data.Data != "" && f.Data.Split == "" {
		f.Data.Split = input.DefaultRule(f.Data.Test != "")
	}
	if f.Config.Preset == tune.PresetPaper {
		f.Data.Repeats = cmp.Or(f.Data.Repeats, 1)
	}
	spec.Prepare(&f.Data.Source)
	job.Build, job.Methods = job.build, strings.Split(f.method, ",")
	c := &f.Config
	c.Seed, c.IgnoreGap = int64(f.Data.Seed), fs.Changed("gap-tol") && c.GapTol == 0
	if f.groups != groupsByColumn && (f.groups != "" || f.Data.Dir != "") {
		f.model.Groups = f.readGroups
	}
	rows := f.rows()
	for _, step := range []func() error{
		func() error { return f.checkNames(fs) },
		func() error { return f.checkModel(spec, fs, rows) },
		func() error { return cli.CheckValues(fs, rows) },
		func() error { return f.Data.check(fs) },
		f.checkOutputs,
		f.Data.checkTargets,
		func() error { return f.checkUse(spec, fs) },
		f.parseInit, f.parseRanges, f.parseFixed,
		func() error { return cli.BadInput(c.Validate()) },
		f.parseClassWeights,
		func() error { return job.parseDecisions(spec) },
		func() error { return f.parseScaling(spec, fs) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return job, nil
}

// checkUse looks at flags beside each other.
func (f *tuneFlags) checkUse(spec model.Spec, fs *pflag.FlagSet) error {
	fold, folds := f.Data.Wanted.Division.Fold, f.Data.CrossValidates()
	return cli.CheckUse(fs,
		cli.When("nested", f.nested < 2, fmt.Sprintf(" is %d, expected at least 2", f.nested)),
		cli.When("nested", f.Data.matrix || f.Data.Data == "" || !folds, " goes with the folds of --data FILE"),
		cli.When("bootstrap", f.bootstrap < 2, fmt.Sprintf(" is %d, expected at least 2", f.bootstrap)),
		cli.When("bootstrap", f.Data.matrix || f.Data.Data == "" || !folds, " goes with the folds of --data FILE"),
		cli.When("bootstrap", f.Data.Wanted.Division.Time != "", " draws rows as if they were independent of each other; "+
			"those of --time are not"),
		cli.When("fold-column", f.nested != 0 && f.nested != input.DefaultFolds,
			" "+fold+" says how many outer folds there are: give --nested without a number"),
		cli.When("path-coefficients", f.path == "", " goes with --path FILE.csv"),
		cli.When("coefficients", spec.Matrix, ": "+spec.Name+" predicts by a matrix; --save has it"),
		cli.When("folds", f.Data.matrix, ": "+spec.Name+" has no folds, its entries are for training, validation or test"),
		cli.When("final", folds,
			": with folds the refit is trained on all of their rows; leave it out, or divide the rows by --split"),
	)
}

// checkModel rejects flags of other models, and numbers without meaning.
func (f *tuneFlags) checkModel(spec model.Spec, fs *pflag.FlagSet, rows []cli.Flag) (err error) {
	for _, r := range rows {
		if r.Of != "" && fs.Changed(r.Name) && !spec.Takes(r.Of) {
			return cli.BadInputf("--%s is not for %s; it is for %s", r.Name, spec.Name, words.Joined(model.Taking(r.Of)))
		}
	}
	m := &f.model
	m.Terms = m.terms.terms
	if err := cli.CheckUse(fs,
		cli.When("level", !(m.Level > 0 && m.Level < 1), fmt.Sprintf(" is %v, expected a number between 0 and 1", m.Level)),
		cli.When("order", m.Order < 1, fmt.Sprintf(" is %d, expected at least 1", m.Order)),
		cli.When("event", !spec.Survival, ": "+spec.Name+" has no times until an event; cox has"),
		cli.When("intercept", spec.Survival, ": "+spec.Name+" has none, as a constant changes nothing"),
		cli.When("intercept", spec.Folds && !f.intercept, "=false: "+spec.Name+" always has one"),
		cli.When("scale", spec.Matrix, ": "+spec.Name+" always divides by standard deviations"),
		cli.When("scale", fs.Changed("standardize") && !f.standardize,
			" is about what --standardize=false turns off; leave one of them out"),
	); err != nil {
		return err
	}
	return m.terms.check(fs)
}

// parseScaling finds the unit of features and whether there is an intercept: those that are asked for, or those of
// tables of users, which have columns in units of their own; the paper's data have not.
func (f *tuneFlags) parseScaling(spec model.Spec, fs *pflag.FlagSet) (err error) {
	o, raw := &f.model.Options, f.Data.Dir == "" && f.Config.Preset == ""
	o.Standardize, o.Intercept = raw, raw
	if fs.Changed("scale") {
		if o.Scaling, err = dataset.ParseScaling(f.scale); err != nil {
			return cli.BadInputf("--scale: %w", err)
		}
		o.Standardize = true
	}
	if fs.Changed("standardize") {
		o.Standardize = f.standardize
	}
	if fs.Changed("intercept") {
		o.Intercept = f.intercept
	}
	o.Intercept = (o.Intercept || spec.Folds) && !spec.Survival
	f.Intercept = o.Intercept
	return nil
}

// groupsByColumn is the value of --groups for a group of all features of a column.
const groupsByColumn = "columns"

// readGroups returns the groups that --groups names or counts, by default those of the folder.
func (f *tuneFlags) readGroups(features []string, overlap bool) (*groups.Groups, error) {
	if f.groups == "" {
		return groups.ReadDir(f.Data.Dir, features, overlap)
	}
	m, err := strconv.Atoi(f.groups)
	if err != nil && !isFile(f.groups) {
		return nil, fmt.Errorf("--groups is %q, which is no file; expected one, a number of groups, or columns", f.groups)
	} else if err != nil {
		return groups.Read(f.groups, features, overlap)
	}
	g, err := groups.Equal(len(features), m)
	if err != nil {
		return nil, fmt.Errorf("--groups: %w", err)
	}
	return g, nil
}

// parseClassWeights reads "balanced", "1,3" or "ill=3".
func (f *tuneFlags) parseClassWeights() error {
	if f.model.Balanced = f.classWeights == "balanced"; f.model.Balanced || f.classWeights == "" {
		return nil
	}
	const least = 1 / cli.MostWeight
	for _, field := range cli.Names(f.classWeights) {
		at := strings.LastIndex(field, "=")
		w, err := strconv.ParseFloat(strings.TrimSpace(field[at+1:]), 64)
		if named := at >= 0; err != nil || !(w >= least && w <= cli.MostWeight) ||
			len(f.model.ClassWeights) > 0 && named != (f.model.ClassWeights[0].Label != "") {
			return cli.BadInputf("--class-weights is %q, expected balanced, LABEL=W,.. or a positive number for the rows of "+
				"each label, the smaller one first, from %g to %g", f.classWeights, least, cli.MostWeight)
		}
		f.model.ClassWeights = append(f.model.ClassWeights, model.ClassWeight{Label: field[:max(0, at)], Weight: w})
	}
	return nil
}

// parseDecisions reads --decide.
func (job *tuneJob) parseDecisions(spec model.Spec) (err error) {
	d := &job.Decisions
	d.Unequal = job.Data.Wanted.Positive != "" || job.classWeights != ""
	if job.decide == "" {
		return nil
	}
	if d.Rule, err = evaluate.ParseRule(job.decide); err != nil {
		return cli.BadInputf("--decide: %w", err)
	}
	switch at := d.Rule.At; {
	case spec.Classes && job.Data.Wanted.Positive == "":
		return cli.BadInputf("--decide: %s has several labels; --positive LABEL says which one is to be found", spec.Name)
	case spec.Loss != model.Hinge && !(at >= 0 && at <= 1):
		return cli.BadInputf("--decide is %v, expected a probability from 0 to 1", at)
	}
	return nil
}

// checkNames rejects unknown methods and backends, and names those there are.
func (f *tuneFlags) checkNames(fs *pflag.FlagSet) error {
	c := &f.Config
	_, err := cli.NamesOf("method", f.method, func(name string) error {
		if slices.Contains(tune.Methods(), name) {
			return nil
		}
		return fmt.Errorf("unknown method %q; known are: %s", name, words.Joined(tune.Methods()))
	})
	if err != nil {
		return err
	}
	if _, err := cli.OpenBackend(c.Backend, c.CrossCheck); err != nil {
		return err
	}
	return cli.CheckUse(fs,
		cli.When("chain", f.Chain && !strings.Contains(f.method, ","),
			" needs several methods, such as --method grid,vf-idca"),
		cli.When("backend", !c.CrossCheck && strings.Contains(c.Backend, ","),
			" "+c.Backend+": the first answer of several depends on the time, and a run on it: add --cross-check, or "+
				"name one, or auto"),
		cli.When("seed", f.Data.Seed > math.MaxInt64, fmt.Sprintf(" is %d, expected at most %d", f.Data.Seed,
			int64(math.MaxInt64))),
	)
}

// parseInit reads the radii of --init.
func (f *tuneFlags) parseInit() (err error) {
	least := fmt.Sprintf("a finite number that is not negative, at most %.10g", float64(cli.MostWeight))
	within := func(v float64) bool { return v >= 0 && v <= cli.MostWeight }
	f.Config.Init, err = cli.NumbersOf("init", "radius", f.init, least, within)
	return err
}

// parseRanges reads "1e-5:1e-2" or "lambda1=1e-5:1e-2,lambda2=..".
func (f *tuneFlags) parseRanges() error {
	if f.ranges == "" {
		return nil
	}
	for _, field := range cli.Names(f.ranges) {
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
			return cli.BadInputf("--range: %q found, expected LOW:HIGH or NAME=LOW:HIGH, such as lambda1=1e-5:1e-2", field)
		}
		if r.Low > 0 && r.Low < cli.LeastRange || r.High > cli.MostRange {
			return cli.BadInputf("--range: %q found, expected numbers from %g to %g", field, cli.LeastRange, cli.MostRange)
		}
		f.Config.Ranges = append(f.Config.Ranges, r)
	}
	return nil
}

// parseFixed reads "0.1", the value of lambda, or "l1=0.1,fusion=0.2", and the ratio.
func (f *tuneFlags) parseFixed() error {
	if f.lambda == "" && f.ratio == "" {
		return nil
	}
	fixed := map[string]float64{}
	add := func(flag, name, text string) error {
		v, err := strconv.ParseFloat(text, 64)
		if _, twice := fixed[name]; err != nil || twice || name == "" {
			return cli.BadInputf("--%s: %q found, expected a number, or NAME=NUMBER for different names", flag, text)
		}
		fixed[name] = v
		return nil
	}
	if f.ratio != "" {
		if err := add("l1-ratio", "l1_ratio", f.ratio); err != nil {
			return err
		}
	}
	for _, field := range cli.Names(f.lambda) {
		name, value := "lambda", field
		if i := strings.LastIndex(field, "="); i >= 0 {
			name, value = field[:i], field[i+1:]
		}
		if err := add("lambda", name, value); err != nil {
			return err
		}
	}
	f.Config.Fixed = fixed
	return nil
}

// checkOutputs finds out before the work whether its files can be written, and
// that none of them would replace another one or the data.
func (f *tuneFlags) checkOutputs() error {
	for _, out := range []fileFlag{{"--plot", f.plot}, {"--plot-trace", f.plotTrace}} {
		if out.path == "" {
			continue
		}
		if _, err := figure.Format(out.path); err != nil {
			return cli.BadInputf("%s: %w", out.flag, err)
		}
	}
	taken := map[string]string{}
	for _, in := range f.Data.AllFiles() {
		taken[cli.Absolute(in)] = "the data"
	}
	if f.groups != "" && f.groups != groupsByColumn {
		taken[cli.Absolute(f.groups)] = "the groups"
	}
	if f.configFile != "" {
		taken[cli.Absolute(f.configFile)] = "the file of --config"
	}
	if in := f.model.terms.factors; in != "" && isFile(in) {
		taken[cli.Absolute(in)] = "the penalty factors"
	}
	for _, out := range f.outputs() {
		if out.path == "" || out.path == cli.StandardStream {
			continue
		}
		if other, ok := taken[cli.Absolute(out.path)]; ok {
			return cli.BadInputf("%s %s: would overwrite %s", out.flag, out.path, other)
		}
		taken[cli.Absolute(out.path)] = "the file of " + out.flag
		if err := cli.CheckOutput(out.flag, out.path, ""); err != nil {
			return err
		}
	}
	return nil
}

// fileFlag is a flag that names a file.
type fileFlag struct{ flag, path string }

// outputs are the files to write, those without a name among them.
func (f *tuneFlags) outputs() []fileFlag {
	return []fileFlag{{"--trace", f.trace}, {"--plot", f.plot}, {"--plot-trace", f.plotTrace}, {"--save", f.save},
		{"--coefficients", f.coefficients}, {"--path", f.path}, {"--report", f.report}, {"--save-config", f.saveConfig}}
}
