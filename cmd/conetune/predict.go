package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/modelfile"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
)

const predictHelp = `Predict the target for the rows of a table with a model that conetune tune --save
wrote: one number a line, for a classifier the label, in the order of the rows.

The columns of a table are found by name, in any order; others may be there too. Texts and
missing values are taken as in training: a level that the training rows do not have as the
reference, a missing number as their median. In a LIBSVM file, index 1 is the model's first
feature. Where rows have targets (in a table the column that the model was trained on), half
the mean squared error, for a classifier the share of wrong labels, is told on standard error.

With a model of several targets a line has a number for each, separated by commas.

With a model of matrix-completion the table has the columns row and col, with indices from 0, and
perhaps value. Without --data the completed matrix is written, a row a line, separated by commas.`

// predictions is the outcome of conetune predict as JSON.
type predictions struct {
	Model       string    `json:"model"`
	Target      string    `json:"target"`
	Rows        int       `json:"rows"`
	Error       *float64  `json:"error"` // half the mean squared error, or the error rate of a classifier; null without targets
	Predictions []float64 `json:"predictions"`
	// Findings are what the user should know about the table.
	Findings []note `json:"findings,omitempty"`
	// Matrix is the completed matrix, where no entries were asked for.
	Matrix [][]float64 `json:"matrix,omitempty"`
	// Targets are the names of several targets, and Lines the predictions of all for each row.
	Targets []string    `json:"targets,omitempty"`
	Lines   [][]float64 `json:"predictions_of_targets,omitempty"`
	unit    string
	scored  int      // rows that have targets
	labels  []string // texts of labels, nil where they are numbers
}

func (a *app) predictCommand() *cobra.Command {
	var modelPath, dataPath, out string
	var asJSON bool
	var dialect dialectFlags
	cmd := &cobra.Command{
		Use:     "predict --model MODEL.json --data FILE",
		Short:   "Predict the rows of a table with a saved model",
		Long:    predictHelp,
		Example: "  conetune predict --model model.json --data new.csv > predictions.txt",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if modelPath == "" {
				return badInputf("--model FILE is missing")
			}
			if modelPath == standardStream && dataPath == standardStream {
				return badInputf("--data -: standard input is for --model")
			}
			if out != "" {
				if same := absolute(out); out != standardStream && same == absolute(modelPath) || dataPath != "" && same == absolute(dataPath) {
					return badInputf("--out %s: would overwrite the model or the data", out)
				}
				if err := checkOutput(out); err != nil {
					return badInputf("--out: %w", err)
				}
			}
			if err := dialect.check(); err != nil {
				return err
			}
			return a.predict(cmd.Context(), modelPath, tableToPredict{path: dataPath, options: dialect.Options, in: dataInput{stdin: a.stdin}}, out, asJSON)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&modelPath, "model", "", "`MODEL.json` of conetune tune --save, or - for standard input")
	fs.StringVar(&dataPath, "data", "", "table, `FILE`, or - for standard input, plain or compressed (a model of matrix-completion can do without)")
	dialect.register(fs)
	fs.StringVar(&out, "out", "", "write the predictions to `FILE` instead of standard output")
	registerMemory(fs)
	fs.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// tableToPredict is the table of conetune predict.
type tableToPredict struct {
	path    string
	options table.Options
	in      dataInput
}

func (a *app) predict(ctx context.Context, modelPath string, data tableToPredict, out string, asJSON bool) error {
	p, err := interruptible(ctx, func() (*predictions, error) { return a.predictFile(modelPath, data) })
	if err != nil {
		return err
	}
	a.tell(&reading{notes: p.Findings})
	write := p.write
	if asJSON {
		write = func(w io.Writer) error { return writeJSON(w, p.shown()) }
	}
	if out == "" {
		out = standardStream
	}
	if err := a.writeFile(out, write); err != nil {
		return failed(fileError("--out", err))
	}
	if asJSON && out == standardStream {
		return nil
	}
	switch {
	case p.Error != nil:
		a.note("error %s on %s (%s)", number(*p.Error), count(p.scored, "row"), p.unit)
	case p.scored > 0:
		a.note("error too large for a number on %s (%s)", count(p.scored, "row"), p.unit)
	}
	return nil
}

// predictFile reads both files and predicts.
func (a *app) predictFile(modelPath string, data tableToPredict) (*predictions, error) {
	dataPath := data.path
	m, err := a.readModel(modelPath)
	if err != nil {
		return nil, badInput(err)
	}
	if m.Matrix != nil {
		return predictEntries(m, dataPath)
	}
	if dataPath == "" {
		return nil, badInputf("--data FILE is missing")
	}
	rows, err := data.read(m)
	if err != nil {
		return nil, badInput(err)
	}
	if m.Targets != nil {
		return predictTargets(m, dataPath, rows)
	}
	n, _ := rows.Dims()
	p := &predictions{Model: m.Model, Target: m.Target, Rows: n, Predictions: make([]float64, n), unit: "half the mean squared error"}
	switch {
	case m.Labels != nil:
		p.unit = "share of wrong labels"
	case m.LogLink:
		p.unit = "half the mean Poisson deviance"
	}
	p.Findings = rows.notes
	if m.Encoding != nil {
		p.labels = m.Encoding.Labels
	}
	for i := range n {
		if p.Predictions[i], err = m.PredictSum(rows.Dot(i, m.Coefficients)); err != nil {
			return nil, badInputf("%s: row %d: %w", dataPath, i+1, err)
		}
	}
	var predicted, targets []float64 // of rows that have targets
	for i, y := range rows.Y {
		if y == y {
			predicted, targets = append(predicted, p.Predictions[i]), append(targets, y)
		}
	}
	if len(targets) > 0 {
		p.score(m.Error(predicted, targets), len(targets))
	}
	return p, nil
}

// rowsToPredict are the features of a table as a model has them, with its targets where there are any, NaN in rows without.
type rowsToPredict struct {
	dataset.Data
	targets [][]float64 // of a model of several
	notes   []note
}

// read reads a table for a model: through its encoding, or by the names of its features.
func (t *tableToPredict) read(m *modelfile.Model) (*rowsToPredict, error) {
	names := m.Targets
	if names == nil {
		names = []string{m.Target}
	}
	if m.Encoding == nil || t.in.isLIBSVM(t.path) {
		return t.readNumbers(m, names)
	}
	columns, err := t.in.table(t.path, t.options)
	if err != nil {
		return nil, err
	}
	r, err := m.Encoding.Read(columns, names, true)
	if err != nil {
		return nil, err
	}
	out := &rowsToPredict{Data: *r.Encode(r.Rows(), r.Sparse())}
	if m.Targets != nil {
		out.targets = r.Targets(r.Rows())
	}
	for _, f := range slices.Concat(columns.Findings(), r.Findings()) {
		out.notes = append(out.notes, note{columns.Name(), f})
	}
	return out, nil
}

// readNumbers reads a table of numbers, whose columns are the features of the model, or a file of LIBSVM.
func (t *tableToPredict) readNumbers(m *modelfile.Model, targets []string) (*rowsToPredict, error) {
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
	out := &rowsToPredict{Data: dataset.Data(*table)}
	if len(targets) == 1 || table.Y == nil {
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

// shown is what JSON shows: the texts of labels in the place of their numbers.
func (p *predictions) shown() any {
	if p.labels == nil {
		return p
	}
	words := make([]string, len(p.Predictions))
	for i, v := range p.Predictions {
		words[i] = p.labels[int(v)]
	}
	return struct {
		*predictions
		Predictions []string `json:"predictions"`
	}{p, words}
}

// readModel reads a model file, which must be that of a model of the command line, with what such a model has.
func (a *app) readModel(path string) (m *modelfile.Model, err error) {
	if path == standardStream {
		path = "standard input"
		m, err = modelfile.ReadFrom(a.stdin, path, modelNames())
	} else {
		m, err = modelfile.Read(path, modelNames())
	}
	if err != nil {
		return nil, err
	}
	spec, err := findModel(m.Model)
	if err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name        string
		has, should bool
	}{
		{"labels", m.Labels != nil, spec.labels}, {"log_link", m.LogLink, spec.logLink}, {"targets", m.Targets != nil, spec.several != nil}, {"matrix", m.Matrix != nil, spec.matrix != nil},
	} {
		switch {
		case part.should && !part.has:
			return nil, fmt.Errorf("%s: field %q is missing: the model is %s", path, part.name, m.Model)
		case part.has && !part.should:
			return nil, fmt.Errorf("%s: field %q does not belong to a model of %s", path, part.name, m.Model)
		}
	}
	return m, nil
}

// score notes the error of the predictions of so many rows; one that is too large for a number is none.
func (p *predictions) score(e float64, rows int) { p.Error, p.scored = finiteOrNull(e), rows }

// write writes one number a line, with as many digits as it takes to read it back.
func (p *predictions) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	var line []byte
	for _, row := range append(slices.Clip(p.Matrix), p.Lines...) {
		line = line[:0]
		for j, v := range row {
			if j > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendFloat(line, v, 'g', -1, 64)
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	for _, v := range p.Predictions {
		if line = line[:0]; p.labels != nil {
			line = append(append(line, p.labels[int(v)]...), '\n')
		} else {
			line = append(strconv.AppendFloat(line, v, 'g', -1, 64), '\n')
		}
		if _, err := b.Write(line); err != nil {
			return err
		}
	}
	return b.Flush()
}
