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
	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/modelfile"
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
			if out != "" {
				if same := absolute(out); same == absolute(modelPath) || dataPath != "" && same == absolute(dataPath) {
					return badInputf("--out %s: would overwrite the model or the data", out)
				}
				if err := atomicfile.Check(out); err != nil {
					return badInputf("--out: %w", err)
				}
			}
			return a.predict(cmd.Context(), modelPath, dataPath, out, asJSON)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&modelPath, "model", "", "`MODEL.json` of conetune tune --save")
	fs.StringVar(&dataPath, "data", "", "table, `FILE`, CSV or LIBSVM, plain or gzipped (a model of matrix-completion can do without)")
	fs.StringVar(&out, "out", "", "write the predictions to `FILE` instead of standard output")
	fs.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) predict(ctx context.Context, modelPath, dataPath, out string, asJSON bool) error {
	p, err := interruptible(ctx, func() (*predictions, error) { return predictFile(modelPath, dataPath) })
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return p.write(w) }
	switch {
	case asJSON && out == "":
		return a.printJSON(p)
	case asJSON:
		write = func(w io.Writer) error { return (&app{stdout: w}).printJSON(p) }
	}
	if out != "" {
		err = atomicfile.Write(out, write)
	} else {
		err = write(a.stdout)
	}
	if err != nil {
		return failed(err)
	}
	if p.Error != nil {
		a.note("error %s on %s (%s)", number(*p.Error), count(p.Rows, "row"), p.unit)
	}
	return nil
}

// predictFile reads both files and predicts.
func predictFile(modelPath, dataPath string) (*predictions, error) {
	m, err := modelfile.Read(modelPath)
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
	if m.Labels != nil {
		p.unit = "share of wrong labels"
	}
	for i := range n {
		p.Predictions[i] = m.Predict(table.X.RawRowView(i))
	}
	if table.Y != nil {
		e := m.Error(p.Predictions, table.Y)
		p.Error = &e
	}
	return p, nil
}

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
			return fmt.Errorf("predictions: %w", err)
		}
	}
	for _, v := range p.Predictions {
		line = append(strconv.AppendFloat(line[:0], v, 'g', -1, 64), '\n')
		if _, err := b.Write(line); err != nil {
			return fmt.Errorf("predictions: %w", err)
		}
	}
	return b.Flush()
}
