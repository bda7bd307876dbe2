// Package generate is the command conetune generate, which writes the synthetic data of the experiments.
package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/problems/multitask"
)

// app is that of the command line, with what this command does.
type app struct{ *cli.App }

// Command is the command.
func Command(a *cli.App) *cobra.Command { return (&app{a}).generateCommand() }

const generateHelp = `Write synthetic data as in the paper's experiments, in the form that
conetune tune MODEL --dir DIR reads: train.csv.gz, val.csv.gz, test.csv.gz.

Rows are normal with correlation 0.5^|j-k| between features j and k, 15 coefficients
at random places are 1 and the others 0, and the noise has half the norm of the
signal. All models without groups have these data; classifiers the sign of the target.
--preset is one of
%s,
or any name of that form: rows for training, validation and test, then p and the
number of features.

For sparse-group-lasso and group-lasso the features are independent, the coefficients begin with
1, 2, 3, 4, 5 in each third of the features and are 0 else, and groups.csv names M
equal consecutive groups; --preset is one of
%s.

For multi-task there are three targets, y1 to y3, which use the same features: the
coefficients are 1 for y1, and 1 plus a random number for the others.

For svm the rows are those of elastic-net, the label is the sign of what would be
their target, and the folder has data.csv.gz, folds.csv and test.csv.gz; --preset is
ROWS-TEST-pFEATURES-tFOLDS, such as %s. Other models without groups take
this form too.

For matrix-completion a matrix is the sum of effects of 36 row and 36 column features in 12
groups each, of which the first 4 and the first 2 matter, a part of rank one, and noise of half
its norm; all its entries are in observations.csv, most of them for the test. --preset is ROWS-COLS, such
as %s, or ROWS-COLS-TRAIN-VAL with the entries of each row and column that train and validate.`

func (a *app) generateCommand() *cobra.Command {
	var preset, out string
	var seed uint64
	cmd := &cobra.Command{
		Use:   "generate MODEL --out DIR",
		Short: "Write synthetic data with known coefficients",
		Long: cli.Sprintf(generateHelp, words.Joined(dataset.Presets()), words.Joined(dataset.GroupedPresets()), words.Joined(dataset.LabelledPresets()),
			words.Joined(matcomp.Presets())),
		Example:   "  conetune generate elastic-net --preset 100-20-250-p250 --seed 1 --out data",
		ValidArgs: model.Names(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.BadInputf("expected one model, got %d arguments; known models are: %s", len(args), words.Joined(model.Names()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := cli.FindModel(args[0])
			if err != nil {
				return err
			}
			if out == "" {
				return cli.BadInputf("--out DIR is missing")
			}
			if err := cli.CheckFolder(out); err != nil {
				return err
			}
			ctx := cmd.Context()
			if spec.Matrix {
				config, err := matcomp.Preset(cmp.Or(preset, matcomp.Presets()[0]))
				if err != nil {
					return cli.BadInputf("--preset: %w", err)
				}
				return a.generate(ctx, out, func() (string, error) { return writeMatrix(ctx, config, seed, out) })
			}
			recipe, err := newRecipe(spec, preset)
			if err != nil {
				return cli.BadInputf("--preset: %w", err)
			}
			return a.generate(ctx, out, func() (string, error) { return recipe.write(ctx, seed, out) })
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&preset, "preset", "", "sizes, `TRAIN-VAL-TEST-pFEATURES`, with groups also -mGROUPS (default: the first)")
	fs.Uint64Var(&seed, "seed", 1, "seed `N`; the same seed gives the same data")
	fs.StringVar(&out, "out", "", "folder `DIR`, which must be new or empty")
	return cmd
}

// recipe is what to generate.
type recipe struct {
	config dataset.Config
	groups *groups.Groups // nil for models without them
	labels bool           // the target is the sign of what is drawn
	counts bool           // the target is the exponential of a quarter of it, rounded
	times  bool           // it is the time until an event, which falls with what is drawn; every third one is censored, and negative
	folds  int            // 0 for models without them
	// targets is how many there are in a model of several, else 0.
	targets int
}

// newRecipe looks a preset up; an empty name means the first one of the model.
func newRecipe(spec model.Spec, preset string) (r recipe, err error) {
	r.labels, r.counts, r.times = spec.Labels, spec.LogLink, spec.Survival
	if spec.Several {
		r.targets = generatedTargets
	}
	first := func(presets []string) string { return cmp.Or(preset, presets[0]) }
	if !spec.Takes("Groups") {
		if spec.Folds || strings.Contains(preset, "-t") && !spec.Several {
			r.config, r.folds, err = dataset.LabelledPreset(first(dataset.LabelledPresets()))
		} else {
			r.config, err = dataset.Preset(first(dataset.Presets()))
		}
		return r, err
	}
	var m int
	if r.config, m, err = dataset.GroupedPreset(first(dataset.GroupedPresets())); err != nil {
		return r, err
	}
	r.groups, err = groups.Equal(r.config.Features, m)
	return r, err
}

// count makes counts of targets where the recipe says so. Sets may be nil.
func (r *recipe) count(sets ...*dataset.Data) {
	for _, set := range sets {
		for i := 0; r.counts && set != nil && i < len(set.Y); i++ {
			set.Y[i] = math.Round(math.Exp(set.Y[i] / 4))
		}
		for i := 0; r.times && set != nil && i < len(set.Y); i++ {
			set.Y[i] = survival.Row(math.Exp(-set.Y[i]/4), i%3 != 2)
		}
	}
}

// generate has data drawn and written into a folder, which is as before where it is interrupted, and prints what they
// are.
func (a *app) generate(ctx context.Context, out string, draw func() (text string, err error)) error {
	entries, err := os.ReadDir(out)
	created, empty := errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0
	text, err := cli.Interruptible(ctx, draw)
	if errors.Is(err, cli.ErrInterrupted) && (created || empty) {
		discard(out, created)
	}
	if err != nil {
		return err
	}
	return a.Print(out + ": " + text)
}

// write draws and writes the data, and says what they are.
func (r *recipe) write(ctx context.Context, seed uint64, out string) (string, error) {
	write, rows := r.writeSplit, fmt.Sprintf("%d training, %d validation, %d test rows", r.config.Train, r.config.Val, r.config.Test)
	if r.folds > 0 {
		write, rows = r.writeFolds, fmt.Sprintf("%d rows in %s, %d test rows", r.config.Train, words.Count(r.folds, "fold"), r.config.Test)
	}
	d, err := write(ctx, seed, out)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s of %s, seed %d\n%s, 0 for the others\n", rows, words.Count(r.config.Features, "feature"), seed, r.coefficients(d)), nil
}

// drawn are data, with the coefficients that they were drawn with.
type drawn struct {
	features []string
	b        []float64
}

// writeFolds writes rows in folds.
func (r *recipe) writeFolds(ctx context.Context, seed uint64, out string) (drawn, error) {
	cv, b, err := dataset.GenerateFolds(r.config, r.folds, seed, r.labels)
	if err != nil {
		return drawn{}, cli.BadInput(err)
	}
	r.count(cv.Data, cv.Test)
	if ctx.Err() != nil {
		return drawn{}, cli.ErrInterrupted
	}
	if err := dataset.WriteFoldsDir(cv, out); err != nil {
		return drawn{}, cli.BadInput(err)
	}
	return drawn{cv.Data.Features, b}, nil
}

// writeSplit writes training, validation and test rows, and groups.
func (r *recipe) writeSplit(ctx context.Context, seed uint64, out string) (drawn, error) {
	split, b, err := dataset.Generate(r.config, seed)
	if err != nil {
		return drawn{}, cli.BadInput(err)
	}
	for _, set := range []*dataset.Data{split.Train, split.Val, split.Test} {
		for i := 0; r.labels && set != nil && i < len(set.Y); i++ {
			set.Y[i] = math.Copysign(1, set.Y[i])
		}
	}
	r.count(split.Train, split.Val, split.Test)
	written := split
	if r.targets > 0 {
		if written, err = severalTargets(split, r.config, r.targets, seed); err != nil {
			return drawn{}, cli.BadInput(err)
		}
	}
	if ctx.Err() != nil {
		return drawn{}, cli.ErrInterrupted
	}
	if err := dataset.WriteDir(written, out); err != nil {
		return drawn{}, cli.BadInput(err)
	}
	if r.groups != nil {
		if err := groups.WriteDir(out, r.groups, split.Train.Features); err != nil {
			return drawn{}, cli.Failed(err)
		}
	}
	return drawn{split.Train.Features, b}, nil
}

// coefficients says which are not zero.
func (r *recipe) coefficients(d drawn) string {
	var support []string
	for j, v := range d.b {
		switch {
		case v != 0 && r.groups != nil:
			support = append(support, fmt.Sprintf("%s=%g", d.features[j], v))
		case v != 0:
			support = append(support, d.features[j])
		}
	}
	list := strings.Join(support, " ")
	switch {
	case r.groups != nil:
		return fmt.Sprintf("%s; coefficients are %s", words.Count(r.groups.Len(), "group"), list)
	case r.targets > 0:
		return fmt.Sprintf("%d targets use %s; coefficients are 1 for y1", r.targets, list)
	}
	return "coefficients are 1 for " + list
}

// discard takes away what an interrupted run has written into a folder that was
// empty or not there before. What cannot be removed stays: the program ends anyway.
func discard(dir string, created bool) {
	if created {
		_ = os.RemoveAll(dir)
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		_ = os.Remove(filepath.Join(dir, e.Name()))
	}
}

// generatedTargets is how many targets are generated.
const generatedTargets = 3

// severalTargets puts generated targets y1, y2, .. into the tables, the first one as their target and the others before
// the features.
func severalTargets(s *dataset.Split, c dataset.Config, q int, seed uint64) (*dataset.Split, error) {
	train, val, test, _, err := multitask.Generate(c, q, seed)
	if err != nil {
		return nil, err
	}
	var names []string
	for k := range q {
		names = append(names, fmt.Sprintf("y%d", k+1))
	}
	table := func(d *multitask.Data) *dataset.Data {
		if d == nil {
			return nil
		}
		n, p := d.X.Dims()
		x := mat.NewDense(n, q-1+p, nil)
		out := &dataset.Data{X: x, Y: mat.Col(nil, 0, d.Y), Target: names[0], Features: append(slices.Clone(names[1:]), s.Train.Features...)}
		for i := range n {
			x.SetRow(i, append(slices.Clone(d.Y.RawRowView(i)[1:]), d.X.RawRowView(i)...))
		}
		return out
	}
	return &dataset.Split{Train: table(train), Val: table(val), Test: table(test)}, nil
}

// writeMatrix draws and writes a matrix, and says what it is.
func writeMatrix(ctx context.Context, config matcomp.Config, seed uint64, out string) (string, error) {
	data, err := matcomp.Generate(config, seed)
	if err != nil {
		return "", cli.BadInput(err)
	}
	if ctx.Err() != nil {
		return "", cli.ErrInterrupted
	}
	if err := matcomp.WriteDir(data, out); err != nil {
		return "", cli.BadInput(err)
	}
	return fmt.Sprintf("a matrix of %d x %d; %d training, %d validation, %d test entries; %s, seed %d\n",
		data.Rows, data.Cols, len(data.Train), len(data.Val), len(data.Test), "features of rows and columns in 12 groups each", seed), nil
}
