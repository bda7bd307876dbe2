package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/modelfile"
	"github.com/conetune/conetune/problems/dataset"
)

const predictHelp = `Predict the target for the rows of a table with a model that conetune tune --save
wrote: one number a line, for a classifier the label, in the order of the rows.

The columns of a CSV file are found by name; others may be there too. In a LIBSVM
file, index 1 is the model's first feature. Where the table has targets (in CSV the
column that the model was trained on), half the mean squared error, for a classifier
the share of wrong labels, is told on standard error.

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
	// Matrix is the completed matrix, where no entries were asked for.
	Matrix [][]float64 `json:"matrix,omitempty"`
	// Targets are the names of several targets, and Lines the predictions of all for each row.
	Targets []string    `json:"targets,omitempty"`
	Lines   [][]float64 `json:"predictions_of_targets,omitempty"`
	unit    string
	scored  bool // the table has targets
}

func (a *app) predictCommand() *cobra.Command {
	var modelPath, dataPath, out string
	var asJSON bool
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
			return a.predict(cmd.Context(), modelPath, dataPath, out, asJSON)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&modelPath, "model", "", "`MODEL.json` of conetune tune --save, or - for standard input")
	fs.StringVar(&dataPath, "data", "", "table, `FILE`, CSV or LIBSVM, plain or gzipped (a model of matrix-completion can do without)")
	fs.StringVar(&out, "out", "", "write the predictions to `FILE` instead of standard output")
	registerMemory(fs)
	fs.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) predict(ctx context.Context, modelPath, dataPath, out string, asJSON bool) error {
	p, err := interruptible(ctx, func() (*predictions, error) { return a.predictFile(modelPath, dataPath) })
	if err != nil {
		return err
	}
	write := p.write
	if asJSON {
		write = func(w io.Writer) error { return writeJSON(w, p) }
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
		a.note("error %s on %s (%s)", number(*p.Error), count(p.Rows, "row"), p.unit)
	case p.scored:
		a.note("error too large for a number on %s (%s)", count(p.Rows, "row"), p.unit)
	}
	return nil
}

// predictFile reads both files and predicts.
func (a *app) predictFile(modelPath, dataPath string) (*predictions, error) {
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
	if m.Targets != nil {
		return predictTargets(m, dataPath)
	}
	table, err := formats.ReadTable(dataPath, formats.Options{Target: m.Target, TargetOptional: true, Columns: m.Features})
	if err != nil {
		return nil, badInput(err)
	}
	n, _ := table.X.Dims()
	p := &predictions{Model: m.Model, Target: m.Target, Rows: n, Predictions: make([]float64, n), unit: "half the mean squared error"}
	switch {
	case m.Labels != nil:
		p.unit = "share of wrong labels"
	case m.LogLink:
		p.unit = "half the mean Poisson deviance"
	}
	rows := (*dataset.Data)(table)
	for i := range n {
		if p.Predictions[i], err = m.PredictSum(rows.Dot(i, m.Coefficients)); err != nil {
			return nil, badInputf("%s: row %d: %w", dataPath, i+1, err)
		}
	}
	if table.Y != nil {
		p.score(m.Error(p.Predictions, table.Y))
	}
	return p, nil
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

// score notes the error of the predictions; one that is too large for a number is none.
func (p *predictions) score(e float64) { p.Error, p.scored = finiteOrNull(e), true }

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
		line = append(strconv.AppendFloat(line[:0], v, 'g', -1, 64), '\n')
		if _, err := b.Write(line); err != nil {
			return err
		}
	}
	return b.Flush()
}
