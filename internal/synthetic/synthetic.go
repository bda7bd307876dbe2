// Package synthetic draws the data of the experiments for each model: as rows to build it of, and as the folder that
// conetune tune --dir reads.
package synthetic

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/table/input"
)

// Data are rows for a model, or the entries of a matrix.
type Data struct {
	spec    model.Spec
	rows    *input.Rows    // nil for a matrix
	entries *matcomp.Data  // nil for rows
	groups  *groups.Groups // nil for models without them

	config       dataset.Config
	coefficients []float64
	seed         uint64
}

// severalTargets is how many targets there are in a model of several.
const severalTargets = 3

// Draw draws the data of a preset of a model; an empty name means its first one. Rows are those of [dataset.Generate],
// with what the model predicts in the place of their targets: signs, counts whose mean is the exponential of a quarter
// of them, times that fall with them, of which every third one is censored, or three targets.
func Draw(spec model.Spec, preset string, seed uint64) (d *Data, err error) {
	d = &Data{spec: spec, seed: seed, rows: &input.Rows{}}
	switch {
	case spec.Matrix:
		sizes, err := matcomp.Preset(cmp.Or(preset, matcomp.Presets()[0]))
		if err != nil {
			return nil, err
		}
		d.entries, err = matcomp.Generate(sizes, seed)
		return d, err
	case spec.Takes("Groups"):
		if d.config, err = dataset.InGroups.Preset(cmp.Or(preset, dataset.InGroups.Presets()[0])); err == nil {
			d.groups, err = groups.Equal(d.config.Features, d.config.Groups)
		}
	case spec.Folds, strings.Contains(preset, "-t") && !spec.Several:
		d.config, err = dataset.InFolds.Preset(cmp.Or(preset, dataset.InFolds.Presets()[0]))
	default:
		d.config, err = dataset.InSets.Preset(cmp.Or(preset, dataset.InSets.Presets()[0]))
	}
	if err != nil {
		return nil, err
	}
	switch {
	case d.config.Folds > 0:
		cv, b, err := dataset.GenerateFolds(d.config, seed, spec.Labels)
		if err != nil {
			return nil, err
		}
		d.rows.CV, d.rows.Split, d.coefficients = cv, &dataset.Split{Train: cv.Data, Test: cv.Test}, b
	case spec.Several:
		split, b, err := dataset.GenerateTargets(d.config, severalTargets, seed)
		if err != nil {
			return nil, err
		}
		d.rows.Split, d.coefficients = split, mat.Col(nil, 0, b)
		return d, nil
	default:
		if d.rows.Split, d.coefficients, err = dataset.Generate(d.config, seed); err != nil {
			return nil, err
		}
	}
	for _, set := range []*dataset.Data{d.rows.Split.Train, d.rows.Split.Val, d.rows.Split.Test} {
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
	return d, nil
}

// Model is the model of the data, on the features and targets as they are.
func (d *Data) Model(intercept bool) (problems.Model, error) {
	if d.entries != nil {
		return matcomp.New(d.entries, matcomp.Options{Intercept: intercept})
	}
	of := func([]string, bool) (*groups.Groups, error) { return d.groups, nil }
	return d.spec.Build(d.rows, model.Options{Intercept: intercept, Groups: of})
}

// Write writes the data into a folder, which is new or empty.
func (d *Data) Write(dir string) error {
	switch {
	case d.entries != nil:
		return matcomp.WriteDir(d.entries, dir)
	case d.config.Folds > 0:
		return dataset.WriteFoldsDir(d.rows.CV, dir)
	case d.spec.Several:
		s := d.rows.Split
		return dataset.WriteDir(&dataset.Split{Train: joined(s.Train), Val: joined(s.Val), Test: joined(s.Test)}, dir)
	}
	err := dataset.WriteDir(d.rows.Split, dir)
	if err == nil && d.groups != nil {
		err = groups.WriteDir(dir, d.groups, d.rows.Split.Train.Features)
	}
	return err
}

// joined is a table with the targets y1, y2, .., the first one as its target and the others before the features.
func joined(d *dataset.Data) *dataset.Data {
	if d == nil {
		return nil
	}
	n, p := d.Dims()
	names := d.NamesOfTargets()
	x := mat.NewDense(n, len(names)-1+p, nil)
	for i := range n {
		d.Fill(x.RawRowView(i)[copy(x.RawRowView(i), d.Targets.RawRowView(i)[1:]):], i)
	}
	return &dataset.Data{X: x, Y: mat.Col(nil, 0, d.Targets), Target: names[0], Features: slices.Concat(names[1:],
		d.Features)}
}

// String says what was drawn.
func (d *Data) String() string {
	c := d.config
	if e := d.entries; e != nil {
		return fmt.Sprintf("a matrix of %d x %d; %d training, %d validation, %d test entries; features of rows and columns "+
			"in 12 groups each, seed %d\n",
			e.Rows, e.Cols, len(e.Train), len(e.Val), len(e.Test), d.seed)
	}
	var support []string
	for j, v := range d.coefficients {
		switch name := d.rows.Split.Train.Features[j]; {
		case v != 0 && d.groups != nil:
			support = append(support, fmt.Sprintf("%s=%g", name, v))
		case v != 0:
			support = append(support, name)
		}
	}
	rows := fmt.Sprintf("%d training, %d validation, %d test rows of ", c.Train, c.Val, c.Test)
	if d.config.Folds > 0 {
		rows = fmt.Sprintf("%d rows in %s, %d test rows of ", c.Train, words.Count(d.config.Folds, "fold"), c.Test)
	}
	before, after := "coefficients are 1 for ", ""
	switch {
	case d.groups != nil:
		before = words.Count(d.groups.Len(), "group") + "; coefficients are "
	case d.spec.Several:
		before, after = fmt.Sprintf("%d targets use ", severalTargets), "; coefficients are 1 for y1"
	}
	return fmt.Sprintf("%s%s, seed %d\n%s%s%s, 0 for the others\n", rows, words.Count(c.Features, "feature"), d.seed,
		before, strings.Join(support, " "), after)
}
