package input

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/problems/dataset"
)

// Targets are those of a model of several: a column for each name and a row for each of the rows.
type Targets struct {
	Names            []string
	Train, Val, Test *mat.Dense // nil where there are no rows
}

// newTargets puts lists of the values of training, validation and test rows together, one list for each target.
func newTargets(names []string, values [][][]float64) *Targets {
	return &Targets{Names: names, Train: matrixOf(values[0]), Val: matrixOf(values[1]), Test: matrixOf(values[2])}
}

func matrixOf(columns [][]float64) *mat.Dense {
	if columns == nil {
		return nil
	}
	y := mat.NewDense(len(columns[0]), len(columns), nil)
	for q, column := range columns {
		y.SetCol(q, column)
	}
	return y
}

// Column are the values of target k in some of the sets, one set after the other.
func (t *Targets) Column(k int, sets ...*mat.Dense) []float64 {
	var out []float64
	for _, y := range sets {
		if y != nil {
			out = append(out, mat.Col(nil, k, y)...)
		}
	}
	return out
}

// generatedTarget are the names of targets in a folder.
var generatedTarget = regexp.MustCompile(`^y[0-9]+$`)

// takeTargets takes several targets out of the features of rows whose target is the first of them. In a folder they are
// the columns y1, y2, .. The split that is left has the features alone, and the first target.
func (s *Source) takeTargets(r *Rows) error {
	t := &Targets{Names: s.Wanted.Targets}
	from := r.Split
	if t.Names == nil {
		for _, name := range append([]string{from.Train.Target}, from.Train.Features...) {
			if generatedTarget.MatchString(name) {
				t.Names = append(t.Names, name)
			}
		}
		if len(t.Names) < 2 || t.Names[0] != from.Train.Target {
			return fmt.Errorf("%s: expected several targets, columns y1, y2, .. of which y1 comes first", s.Dir)
		}
	}
	r.Split, r.Targets = &dataset.Split{}, t
	for _, set := range []struct {
		from   *dataset.Data
		rows   **dataset.Data
		values **mat.Dense
	}{{from.Train, &r.Split.Train, &t.Train}, {from.Val, &r.Split.Val, &t.Val}, {from.Test, &r.Split.Test, &t.Test}} {
		if set.from == nil {
			continue
		}
		var err error
		if *set.rows, *set.values, err = take(set.from, t.Names); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(s.Files(), ", "), err)
		}
	}
	if r.CV != nil {
		r.CV = &dataset.CrossValidation{Data: r.Split.Train, Folds: r.CV.Folds, Test: r.Split.Test}
	}
	return nil
}

// take takes targets out of the features of a table whose target is the first of them.
func take(d *dataset.Data, names []string) (*dataset.Data, *mat.Dense, error) {
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
	return rest, y, nil
}
