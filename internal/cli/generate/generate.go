// Package generate is the command conetune generate, which writes the synthetic data of the experiments.
package generate

import (
	"cmp"
	"fmt"
	"math"
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
			draw, err := drawing(spec, preset, seed)
			if err != nil {
				return cli.BadInputf("--preset: %w", err)
			}
			made, err := cli.Interruptible(cmd.Context(), draw)
			if err != nil {
				return err
			}
			if err := made.write(out); err != nil {
				return cli.BadInput(err)
			}
			return a.Print(out + ": " + made.text)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&preset, "preset", "", "sizes, `TRAIN-VAL-TEST-pFEATURES`, with groups also -mGROUPS (default: the first)")
	fs.Uint64Var(&seed, "seed", 1, "seed `N`; the same seed gives the same data")
	fs.StringVar(&out, "out", "", "folder `DIR`, which must be new or empty")
	return cmd
}

// generated are data that were drawn: what they are in words, and how they are written into a folder.
type generated struct {
	text  string
	write func(dir string) error
}

// generatedTargets is how many targets there are in a model of several.
const generatedTargets = 3

// drawing is how the data of a preset of a model are drawn; an empty name means its first one.
func drawing(spec model.Spec, preset string, seed uint64) (draw func() (generated, error), err error) {
	var config dataset.Config
	folds, parts := 0, 0
	switch {
	case spec.Matrix:
		sizes, err := matcomp.Preset(cmp.Or(preset, matcomp.Presets()[0]))
		return func() (generated, error) { return drawMatrix(sizes, seed) }, err
	case spec.Takes("Groups"):
		config, parts, err = dataset.GroupedPreset(cmp.Or(preset, dataset.GroupedPresets()[0]))
	case spec.Folds, strings.Contains(preset, "-t") && !spec.Several:
		config, folds, err = dataset.LabelledPreset(cmp.Or(preset, dataset.LabelledPresets()[0]))
	default:
		config, err = dataset.Preset(cmp.Or(preset, dataset.Presets()[0]))
	}
	var g *groups.Groups // nil for models without them
	if err == nil && parts > 0 {
		g, err = groups.Equal(config.Features, parts)
	}
	if folds > 0 {
		return func() (generated, error) { return drawFolds(&spec, config, folds, seed) }, err
	}
	return func() (generated, error) { return drawSplit(&spec, config, g, seed) }, err
}

// retarget puts what a model predicts in the place of the numbers that were drawn: signs, counts whose mean is the
// exponential of a quarter of them, or times that fall with them, of which every third one is censored.
func retarget(spec *model.Spec, sets ...*dataset.Data) {
	for _, set := range sets {
		for i := 0; set != nil && i < len(set.Y); i++ {
			switch y := &set.Y[i]; {
			case spec.Labels:
				*y = math.Copysign(1, *y)
			case spec.LogLink:
				*y = math.Round(math.Exp(*y / 4))
			case spec.Survival:
				*y = survival.Row(math.Exp(-*y/4), i%3 != 2)
			}
		}
	}
}

// drawFolds draws rows in folds, in which there are both labels.
func drawFolds(spec *model.Spec, c dataset.Config, folds int, seed uint64) (out generated, err error) {
	cv, b, err := dataset.GenerateFolds(c, folds, seed, spec.Labels)
	if err != nil {
		return out, cli.BadInput(err)
	}
	retarget(spec, cv.Data, cv.Test)
	out.text = fmt.Sprintf("%d rows in %s, %d test rows of %s, seed %d\ncoefficients are 1 for %s, 0 for the others\n", c.Train,
		words.Count(folds, "fold"), c.Test, words.Count(c.Features, "feature"), seed, strings.Join(support(cv.Data.Features, b, nil), " "))
	out.write = func(dir string) error { return dataset.WriteFoldsDir(cv, dir) }
	return out, nil
}

// drawSplit draws training, validation and test rows, with groups where there are some.
func drawSplit(spec *model.Spec, c dataset.Config, g *groups.Groups, seed uint64) (out generated, err error) {
	split, b, err := dataset.Generate(c, seed)
	if err != nil {
		return out, cli.BadInput(err)
	}
	retarget(spec, split.Train, split.Val, split.Test)
	written, features := split, split.Train.Features
	coefficients := "coefficients are 1 for "
	switch {
	case g != nil:
		coefficients = words.Count(g.Len(), "group") + "; coefficients are "
	case spec.Several:
		coefficients = fmt.Sprintf("%d targets use ", generatedTargets)
		if written, err = severalTargets(c, generatedTargets, seed); err != nil {
			return out, cli.BadInput(err)
		}
	}
	coefficients += strings.Join(support(features, b, g), " ")
	if spec.Several {
		coefficients += "; coefficients are 1 for y1"
	}
	out.text = fmt.Sprintf("%d training, %d validation, %d test rows of %s, seed %d\n%s, 0 for the others\n", c.Train, c.Val, c.Test,
		words.Count(c.Features, "feature"), seed, coefficients)
	out.write = func(dir string) error {
		err := dataset.WriteDir(written, dir)
		if err == nil && g != nil {
			err = groups.WriteDir(dir, g, features)
		}
		return err
	}
	return out, nil
}

// support names the features whose coefficients are not zero, with groups with these.
func support(features []string, b []float64, g *groups.Groups) (list []string) {
	for j, v := range b {
		switch {
		case v != 0 && g != nil:
			list = append(list, fmt.Sprintf("%s=%g", features[j], v))
		case v != 0:
			list = append(list, features[j])
		}
	}
	return list
}

// severalTargets puts generated targets y1, y2, .. into the tables, the first one as their target and the others before
// the features.
func severalTargets(c dataset.Config, q int, seed uint64) (*dataset.Split, error) {
	s, _, err := dataset.GenerateTargets(c, q, seed)
	if err != nil {
		return nil, err
	}
	var names []string
	for k := range q {
		names = append(names, fmt.Sprintf("y%d", k+1))
	}
	table := func(d *dataset.Data) *dataset.Data {
		if d == nil {
			return nil
		}
		n, p := d.Dims()
		x := mat.NewDense(n, q-1+p, nil)
		for i := range n {
			x.SetRow(i, append(slices.Clone(d.Targets.RawRowView(i)[1:]), d.Dense().RawRowView(i)...))
		}
		return &dataset.Data{X: x, Y: d.Y, Target: names[0], Features: append(slices.Clone(names[1:]), d.Features...)}
	}
	return &dataset.Split{Train: table(s.Train), Val: table(s.Val), Test: table(s.Test)}, nil
}

// drawMatrix draws a matrix.
func drawMatrix(c matcomp.Config, seed uint64) (out generated, err error) {
	data, err := matcomp.Generate(c, seed)
	if err != nil {
		return out, cli.BadInput(err)
	}
	out.text = fmt.Sprintf("a matrix of %d x %d; %d training, %d validation, %d test entries; features of rows and columns in 12 groups each, seed %d\n",
		data.Rows, data.Cols, len(data.Train), len(data.Val), len(data.Test), seed)
	out.write = func(dir string) error { return matcomp.WriteDir(data, dir) }
	return out, nil
}
