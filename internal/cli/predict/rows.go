package predict

import (
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/input"
)

// tableToPredict is the table of conetune predict.
type tableToPredict struct {
	path    string
	options table.Options
	in      input.Input
	form    predictionForm
}

// rowsToPredict are rows of a table with the features of a model, in blocks.
type rowsToPredict struct {
	n, step int // rows in all, and in a block
	block   func(from, to int) *dataset.Data
	targets [][]float64 // one list for each, NaN in rows without; nil where they are not there
	weights []float64   // of the rows; nil without
	offset  []float64   // of the rows; nil without
	id      func(i int) (string, error)
}

// RowsInBlock bounds the features in memory.
const RowsInBlock = 4096

// read reads a table for a model: through its encoding, a part of the rows after another, or by the names of its
// features. It calls begin, and again where it begins anew, and then part.
func (t *tableToPredict) read(m *model.Model, begin func(), part func(*rowsToPredict) error) ([]table.Finding, error) {
	names := m.Predicted()
	if m.Encoding != nil && m.Encoding.Event != nil {
		names = append(names, m.Encoding.Event.Column)
	}
	if t.in.IsLIBSVM(t.path) {
		if m.Offset != "" {
			return nil, fmt.Errorf(
				"%s: has no column %q, the offset that the model adds to the value of a row: a table of columns has", t.path,
				m.Offset)
		}
		begin()
		rows, findings, err := t.readNumbers(m, names)
		if err != nil {
			return nil, err
		}
		return findings, part(rows)
	}
	encoding := m.Encoder()
	if m.Encoding == nil {
		t.options = input.Numbers
	}
	if id := t.form.id; id != "" && !slices.Contains(names, id) && id != m.Weights && id != m.Offset &&
		!slices.ContainsFunc(encoding.Columns, func(c table.Coding) bool { return c.Column == id }) {
		t.options.Verbatim = []string{id}
	}
	t.options.Missing = slices.Concat(encoding.Spellings, t.options.Missing)
	var last *table.Reading
	var name string
	findings, err := t.in.Parts(t.path, t.options, func() { last = nil; begin() }, func(columns *table.Table) error {
		if m.Offset != "" && columns.Index(m.Offset) < 0 {
			return fmt.Errorf("%s: has no column %q, the offset that the model adds to the value of a row; the columns are: %s",
				columns.Name(), m.Offset, words.Joined(columns.Names()))
		}
		r, err := encoding.Read(columns, names, true)
		if err != nil {
			return err
		}
		rows, err := t.rowsOf(m, columns, r)
		if err == nil {
			err = part(rows)
		}
		if last != nil {
			r.Follow(last)
		}
		last, name = r, columns.Name()
		return err
	})
	if err != nil {
		return nil, err
	}
	notes := slices.Concat(findings, last.Findings())
	for k := range notes {
		notes[k].File = name
	}
	return notes, nil
}

// rowsOf are the rows of a part of a table.
func (t *tableToPredict) rowsOf(m *model.Model, columns *table.Table, r *table.Reading) (*rowsToPredict, error) {
	index, compressed := r.Rows(), r.Sparse()
	out := &rowsToPredict{n: len(index), step: RowsInBlock, targets: r.Targets(index)}
	if y := r.Survival(index); y != nil {
		out.targets = [][]float64{y}
	}
	var err error
	if out.targets != nil && columns.Index(m.Weights) >= 0 {
		if out.weights, err = r.Numbers(m.Weights, index, true); err != nil {
			return nil, err
		}
	}
	if out.offset, err = r.Numbers(m.Offset, index, false); err != nil {
		return nil, err
	}
	out.block = func(from, to int) *dataset.Data { return r.Encode(index[from:to], compressed) }
	if t.form.id != "" {
		j := columns.Index(t.form.id)
		if j < 0 {
			return nil, fmt.Errorf("%s: has no column %q for --id; the columns are: %s", columns.Name(), t.form.id,
				words.Joined(columns.Names()))
		}
		out.id = func(i int) (string, error) { return columns.Text(index[i], j) }
	}
	return out, nil
}

// readNumbers reads a file of LIBSVM, whose features are those of the model.
func (t *tableToPredict) readNumbers(m *model.Model, targets []string) (*rowsToPredict, []table.Finding, error) {
	if t.form.id != "" {
		return nil, nil, fmt.Errorf("%s: --id goes with a table of columns", t.path)
	}
	data, findings, err := t.in.Numbers(t.path, targets[0], m.Features)
	if err != nil {
		return nil, nil, err
	}
	n, _ := data.Dims()
	out := &rowsToPredict{n: n, step: max(1, n), block: func(_, _ int) *dataset.Data { return data }}
	if len(targets) == 1 {
		out.targets = [][]float64{data.Y}
	}
	return out, findings, nil
}

// predictEntries predicts the entries of a table, or all of them where there is none.
func predictEntries(m *model.Model, dataPath string, form predictionForm) (*predictions, error) {
	rows, cols := len(m.Matrix.RowEffects), len(m.Matrix.ColEffects)
	p := &predictions{Model: m.Model, Target: m.Target, Rows: rows, unit: "half the mean squared error", form: form}
	if dataPath == "" {
		const each = 32 // a number, and its text
		if size := each * float64(rows) * float64(cols); size > float64(memory.Default()) {
			return nil, cli.BadInputf("the completed matrix of %d x %d takes about %s of memory, but the budget is %s: give "+
				"--data FILE with the entries wanted, or --memory SIZE",
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
			return nil, cli.BadInputf("%s: entry %d is (%v, %v), expected whole numbers from (0, 0) to (%d, %d)", dataPath, k+1,
				i, j, rows-1, cols-1)
		}
		v, err := m.Entry(int(i), int(j))
		if err != nil {
			return nil, cli.BadInputf("%s: row %d: %w", dataPath, k+1, err)
		}
		p.put([]float64{v}, nil, "", nil)
		if table.Y != nil {
			score.Add(v, table.Y[k])
		}
	}
	if table.Y != nil {
		p.score(score.Error(), score.Rows)
	}
	return p, nil
}
