package main

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
)

// tableToPredict is the table of conetune predict.
type tableToPredict struct {
	path    string
	options table.Options
	in      dataInput
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

// rowsInBlock bounds the features in memory.
const rowsInBlock = 4096

// read reads a table for a model: through its encoding, a part of the rows after another, or by the names of its features. It calls begin, and again where it begins anew, and then part.
func (t *tableToPredict) read(m *model.Model, begin func(), part func(*rowsToPredict) error) ([]note, error) {
	names := m.Targets
	if names == nil || m.Classes() {
		names = []string{m.Target}
	}
	if m.Encoding != nil && m.Encoding.Event != nil {
		names = append(names, m.Encoding.Event.Column)
	}
	if m.Encoding == nil || t.in.isLIBSVM(t.path) {
		if m.Offset != "" {
			return nil, fmt.Errorf("%s: has no column %q, the offset that the model adds to the value of a row: a table of columns has", t.path, m.Offset)
		}
		begin()
		rows, err := t.readNumbers(m, names)
		if err != nil {
			return nil, err
		}
		return nil, part(rows)
	}
	if id := t.form.id; id != "" && !slices.Contains(names, id) && id != m.Weights && id != m.Offset && !slices.ContainsFunc(m.Encoding.Columns, func(c table.Coding) bool { return c.Column == id }) {
		t.options.Verbatim = []string{id}
	}
	t.options.Missing = slices.Concat(m.Encoding.Spellings, t.options.Missing)
	var last *table.Reading
	var name string
	findings, err := t.in.tableParts(t.path, t.options, func() { last = nil; begin() }, func(columns *table.Table) error {
		if m.Offset != "" && columns.Index(m.Offset) < 0 {
			return fmt.Errorf("%s: has no column %q, the offset that the model adds to the value of a row; the columns are: %s", columns.Name(), m.Offset, joined(columns.Names()))
		}
		r, err := m.Encoding.Read(columns, names, true)
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
	var notes []note
	for _, f := range slices.Concat(findings, last.Findings()) {
		notes = append(notes, note{name, f})
	}
	return notes, nil
}

// rowsOf are the rows of a part of a table.
func (t *tableToPredict) rowsOf(m *model.Model, columns *table.Table, r *table.Reading) (*rowsToPredict, error) {
	index, compressed := r.Rows(), r.Sparse()
	out := &rowsToPredict{n: len(index), step: rowsInBlock, targets: r.Targets(index)}
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
			return nil, fmt.Errorf("%s: has no column %q for --id; the columns are: %s", columns.Name(), t.form.id, joined(columns.Names()))
		}
		out.id = func(i int) (string, error) { return columns.Text(index[i], j) }
	}
	return out, nil
}

// readNumbers reads a table of numbers, whose columns are the features of the model, or a file of LIBSVM.
func (t *tableToPredict) readNumbers(m *model.Model, targets []string) (*rowsToPredict, error) {
	read := func(o formats.Options) (*formats.Table, error) {
		s, err := t.in.source(t.path)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		return formats.ReadTableSource(s, o)
	}
	table, err := read(formats.Options{Target: targets[0], TargetOptional: true, Columns: m.Features})
	if err != nil {
		return nil, err
	}
	if t.form.id != "" {
		return nil, fmt.Errorf("%s: --id goes with a table of columns", t.path)
	}
	data := dataset.FromTable(table)
	n, _ := data.Dims()
	out := &rowsToPredict{n: n, step: max(1, n), block: func(_, _ int) *dataset.Data { return data }}
	if table.Y == nil {
		return out, nil
	}
	if len(targets) == 1 {
		out.targets = [][]float64{table.Y}
		return out, nil
	}
	// A table without the other targets is one to predict, not an error.
	full, err := read(formats.Options{Target: targets[0], Columns: slices.Concat(m.Features, targets[1:])})
	if err != nil {
		return out, nil
	}
	out.targets = [][]float64{full.Y}
	for k := range targets[1:] {
		out.targets = append(out.targets, mat.Col(nil, len(m.Features)+k, full.X))
	}
	return out, nil
}
