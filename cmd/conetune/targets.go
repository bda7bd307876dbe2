package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/multitask"
	"github.com/conetune/conetune/table/split"
)

// targetTables are the tables of a model of several targets, taken apart.
type targetTables struct {
	names            []string
	train, val, test *multitask.Data // test may be nil, and val is with folds
	folds            []split.Fold    // of train
	gaps             *dataset.Gaps   // of train, by folds; nil for none
}

// generatedTarget are the names of targets in a folder.
var generatedTarget = regexp.MustCompile(`^y[0-9]+$`)

// splitTargets takes the targets out of the features of a split whose target is the first of them. In a folder they
// are the columns y1, y2, .. The split that is left has the features alone, and the first target.
func (d *dataFlags) splitTargets(s *dataset.Split) (*dataset.Split, *targetTables, error) {
	t := &targetTables{names: d.targets}
	if t.names == nil {
		for _, name := range append([]string{s.Train.Target}, s.Train.Features...) {
			if generatedTarget.MatchString(name) {
				t.names = append(t.names, name)
			}
		}
		if len(t.names) < 2 || t.names[0] != s.Train.Target {
			return nil, nil, badInputf("%s: expected several targets, columns y1, y2, .. of which y1 comes first", d.dir)
		}
	}
	out := &dataset.Split{}
	for _, set := range []struct {
		from   *dataset.Data
		rows   **dataset.Data
		values **multitask.Data
	}{{s.Train, &out.Train, &t.train}, {s.Val, &out.Val, &t.val}, {s.Test, &out.Test, &t.test}} {
		if set.from == nil {
			continue
		}
		var err error
		if *set.rows, *set.values, err = takeTargets(set.from, t.names); err != nil {
			return nil, nil, badInputf("%s: %w", strings.Join(d.files(), ", "), err)
		}
	}
	return out, t, nil
}

// takeTargets takes targets out of the features of a table whose target is the first of them.
func takeTargets(d *dataset.Data, names []string) (*dataset.Data, *multitask.Data, error) {
	n, p := d.Dims()
	column := make([]int, len(names)) // of the features; the first target is none of them
	for k, name := range names[1:] {
		if column[k+1] = slices.Index(d.Features, name); column[k+1] < 0 {
			return nil, nil, fmt.Errorf("there is no column %q for a target", name)
		}
	}
	var keep []int
	rest := &dataset.Data{Y: d.Y, Target: d.Target}
	for j, name := range d.Features {
		if !slices.Contains(column[1:], j) {
			keep = append(keep, j)
			rest.Features = append(rest.Features, name)
		}
	}
	if len(keep) == 0 {
		return nil, nil, fmt.Errorf("all %d columns are targets, none is left for a feature", p+1)
	}
	x, full := mat.NewDense(n, len(keep), nil), d.Dense()
	y := mat.NewDense(n, len(names), nil)
	for i := range n {
		row := full.RawRowView(i)
		for k, j := range keep {
			x.Set(i, k, row[j])
		}
		y.Set(i, 0, d.Y[i])
		for k := 1; k < len(names); k++ {
			y.Set(i, k, row[column[k]])
		}
	}
	rest.X = x
	return rest, &multitask.Data{X: x, Y: y}, nil
}

// mostTargets bounds the columns of that table.
const mostTargets = 6

// predictTargetsOfRow predicts all targets of row k of a block, and scores it where it has all of them: by
// the mean over the targets.
func (p *predictions) predictTargetsOfRow(m *model.Model, block *dataset.Data, k int, actual []float64, _ placed, score *model.Score) error {
	features := make([]float64, len(m.Features))
	block.Fill(features, k)
	line, err := m.PredictTargets(features)
	if err != nil {
		return err
	}
	p.Lines = append(p.Lines, line)
	square := 0.0
	for j, y := range actual {
		square += (line[j] - y) * (line[j] - y)
	}
	if len(actual) > 0 {
		score.AddSquare(square / float64(len(line)))
	}
	return nil
}

// generatedTargets is how many targets are generated.
const generatedTargets = 3

// severalTargets puts generated targets y1, y2, .. into the tables, the first one as their target and the others before the features.
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
