package predict

import (
	"math"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/table/input"
)

// predictEntries predicts the entries of a table, or all of them where there is none.
func predictEntries(m *model.Model, dataPath string, form predictionForm) (*predictions, error) {
	rows, cols := len(m.Matrix.RowEffects), len(m.Matrix.ColEffects)
	p := &predictions{Model: m.Model, Target: m.Target, Rows: rows, unit: "half the mean squared error", form: form}
	if dataPath == "" {
		const each = 32 // a number, and its text
		if size := each * float64(rows) * float64(cols); size > float64(memory.Default()) {
			return nil, cli.BadInputf("the completed matrix of %d x %d takes about %s of memory, but the budget is %s: give --data FILE with the entries wanted, or --memory SIZE",
				rows, cols, memory.Format(int64(min(size, 1e18))), memory.Format(memory.Default()))
		}
		for i := range rows {
			line := make([]float64, cols)
			for j := range line {
				var err error
				if line[j], err = m.Entry(i, j); err != nil {
					return nil, cli.BadInputf("entry (%d, %d) of the matrix: %w", i, j, err)
				}
			}
			if form.json {
				p.Matrix = append(p.Matrix, line)
			} else {
				p.writeRow(line, nil, "", nil)
			}
		}
		return p, nil
	}
	table, err := input.ReadColumns(dataPath, []string{"row", "col"}, m.Target)
	if err != nil {
		return nil, cli.BadInput(err)
	}
	p.Rows, _ = table.Dims()
	score := m.NewScore()
	for k := range p.Rows {
		i, j := table.X.At(k, 0), table.X.At(k, 1)
		if i != math.Trunc(i) || j != math.Trunc(j) || i < 0 || j < 0 || i >= float64(rows) || j >= float64(cols) {
			return nil, cli.BadInputf("%s: entry %d is (%v, %v), expected whole numbers from (0, 0) to (%d, %d)", dataPath, k+1, i, j, rows-1, cols-1)
		}
		v, err := m.Entry(int(i), int(j))
		if err != nil {
			return nil, cli.BadInputf("%s: row %d: %w", dataPath, k+1, err)
		}
		if form.json {
			p.keep([]float64{v}, nil, "")
		} else {
			p.writeRow([]float64{v}, nil, "", nil)
		}
		if table.Y != nil {
			score.Add(v, table.Y[k])
		}
	}
	if table.Y != nil {
		p.score(score.Error(), score.Rows)
	}
	return p, nil
}
