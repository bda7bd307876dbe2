package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// entriesAsRows is a table of the entries, for what counts rows.
func entriesAsRows(d *matcomp.Data) *dataset.Split {
	table := func(entries []matcomp.Entry) *dataset.Data {
		if len(entries) == 0 {
			return nil
		}
		x := mat.NewDense(len(entries), 2, nil)
		t := &dataset.Data{X: x, Features: []string{"row", "col"}, Target: "value"}
		for k, e := range entries {
			x.SetRow(k, []float64{float64(e.Row), float64(e.Col)})
			t.Y = append(t.Y, e.Value)
		}
		return t
	}
	return &dataset.Split{Train: table(d.Train), Val: table(d.Val), Test: table(d.Test)}
}

// describeMatrixData says what is known of the matrix.
func describeMatrixData(job *tuneJob) string {
	d := job.entries
	var b strings.Builder
	fmt.Fprintf(&b, "data      %s\n", job.data.describe(job.rows))
	sets := fmt.Sprintf("%d training, %d validation", len(d.Train), len(d.Val))
	if len(d.Test) > 0 {
		sets += fmt.Sprintf(", %d test", len(d.Test))
	}
	fmt.Fprintf(&b, "          matrix of %d x %d; %s entries\n", d.Rows, d.Cols, sets)
	for _, side := range []struct {
		name string
		f    *matcomp.Features
	}{{"row", &d.Row}, {"column", &d.Col}} {
		if side.f.X != nil {
			fmt.Fprintf(&b, "          %s in %s\n", count(len(side.f.Names), side.name+" feature"), count(side.f.Groups.Len(), "group"))
		}
	}
	prepared := []string{"values as they are", "no intercept"}
	if job.model.Standardize {
		prepared[0] = "values standardised on the training entries, features on all rows and columns"
	}
	if job.model.Intercept {
		prepared[1] = "with intercept"
	}
	fmt.Fprintf(&b, "          %s\n", strings.Join(prepared, ", "))
	return b.String()
}

// describeMatrix describes a completed matrix.
func describeMatrix(fit tune.Fit, intercept bool) string {
	m := fit.Matrix
	rows, cols := m.Dims()
	var b bytes.Buffer
	fmt.Fprintf(&b, "the completed matrix of %d x %d: a part of rank %d", rows, cols, m.Rank())
	used := model.Effects(fit, model.Sizes(fit, nil))
	if len(fit.Coefficients) > 0 {
		fmt.Fprintf(&b, " and %d of %d features", len(used), len(fit.Coefficients))
	}
	b.WriteString("\n")
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	if k := m.Rank(); k > 0 {
		sizes := make([]string, min(k, mostHyperparameters))
		for i := range sizes {
			sizes[i] = number(floats.Norm(mat.Col(nil, i, m.Left), 2) * floats.Norm(mat.Col(nil, i, m.Right), 2))
		}
		fmt.Fprintf(w, "singular values\t%s\n", strings.Join(sizes, ", "))
	}
	if len(used) > 0 {
		fmt.Fprint(w, "feature\tcoefficient\n")
	}
	for _, e := range used[:min(len(used), mostFeatures)] {
		fmt.Fprintf(w, "%s\t%s\n", e.Feature, number(e.Coefficient))
	}
	if intercept {
		fmt.Fprintf(w, "intercept\t%s\n", number(fit.Intercept))
	}
	w.Flush()
	if rest := len(used) - mostFeatures; rest > 0 {
		fmt.Fprintf(&b, "and %d more that are smaller\n", rest)
	}
	return b.String()
}

// predictEntries predicts the entries of a table, or all of them where there is none.
func predictEntries(m *model.Model, dataPath string) (*predictions, error) {
	rows, cols := len(m.Matrix.RowEffects), len(m.Matrix.ColEffects)
	p := &predictions{Model: m.Model, Target: m.Target, Rows: rows, unit: "half the mean squared error"}
	if dataPath == "" {
		const each = 32 // a number, and its text
		if size := each * float64(rows) * float64(cols); size > float64(memory.Default()) {
			return nil, badInputf("the completed matrix of %d x %d takes about %s of memory, but the budget is %s: give --data FILE with the entries wanted, or --memory SIZE",
				rows, cols, memory.Format(int64(min(size, 1e18))), memory.Format(memory.Default()))
		}
		for i := range rows {
			line := make([]float64, cols)
			for j := range line {
				var err error
				if line[j], err = m.Entry(i, j); err != nil {
					return nil, badInputf("entry (%d, %d) of the matrix: %w", i, j, err)
				}
			}
			p.Matrix = append(p.Matrix, line)
		}
		return p, nil
	}
	table, err := input.ReadColumns(dataPath, []string{"row", "col"}, m.Target)
	if err != nil {
		return nil, badInput(err)
	}
	p.Rows, _ = table.Dims()
	for k := range p.Rows {
		i, j := table.X.At(k, 0), table.X.At(k, 1)
		if i != math.Trunc(i) || j != math.Trunc(j) || i < 0 || j < 0 || i >= float64(rows) || j >= float64(cols) {
			return nil, badInputf("%s: entry %d is (%v, %v), expected whole numbers from (0, 0) to (%d, %d)", dataPath, k+1, i, j, rows-1, cols-1)
		}
		v, err := m.Entry(int(i), int(j))
		if err != nil {
			return nil, badInputf("%s: row %d: %w", dataPath, k+1, err)
		}
		p.Predictions = append(p.Predictions, v)
	}
	if table.Y != nil {
		score := m.NewScore()
		for k, y := range table.Y {
			score.Add(p.Predictions[k], y)
		}
		p.score(score.Error(), score.Rows)
	}
	return p, nil
}

// writeMatrix draws and writes a matrix, and says what it is.
func writeMatrix(ctx context.Context, config matcomp.Config, seed uint64, out string) (string, error) {
	data, err := matcomp.Generate(config, seed)
	if err != nil {
		return "", badInput(err)
	}
	if ctx.Err() != nil {
		return "", errInterrupted
	}
	if err := matcomp.WriteDir(data, out); err != nil {
		return "", badInput(err)
	}
	return fmt.Sprintf("a matrix of %d x %d; %d training, %d validation, %d test entries; %s, seed %d\n",
		data.Rows, data.Cols, len(data.Train), len(data.Val), len(data.Test), "features of rows and columns in 12 groups each", seed), nil
}
