// Package predict has the commands about saved models: conetune predict and conetune show.
package predict

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/tune"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/input"
)

const predictHelp = `Predict the target for the rows of a table with a model that conetune tune --save
wrote: one number a line, for a classifier the label, in the order of the rows.

The columns of a table are found by name, in any order; others may be there too. Texts and missing values are taken as
in training: a level that the training rows do not have as the reference, a missing number as their median. In a
LIBSVM file, index 1 is the model's first feature (index 0 where its features are x0, x1, ..). Where rows have targets
(in a table the column that the model was trained on), the mean of the model's loss is told on standard error, as
conetune tune tells it of test rows: half the squared error, the Huber, pinball or logistic loss, half the Poisson
deviance, for svm the share of wrong labels.

--prob writes what logistic makes of a row, the probability of the second label (of poisson, the mean; of cox, whose
predictions are logarithms of hazards, the relative risk; of multinomial, those of all labels, separated by commas),
with --labels after the label. --id COLUMN makes a CSV table: id as it is in the file, target where it is there,
prediction, and with --prob probability. So does --out FILE.csv, of classifiers with the probability of each label. Of
cox, target is the time and event 1 or 0, --survival T1,T2 writes the probabilities that the event comes after these
times, and the error is the deviance of the rows for each event.

With a model of several targets a line has a number for each, separated by commas.

With a model of matrix-completion the table has the columns row and col, with indices from 0, and
perhaps value. Without --data the completed matrix is written, a row a line, separated by commas.`

// predictions is the outcome of conetune predict, as JSON has it; else lines of text are held in the place of lists.
type predictions struct {
	Model  string   `json:"model"`
	Target string   `json:"target"`
	Rows   int      `json:"rows"`
	Error  *float64 `json:"error"` // the mean of the model's loss, or the error rate; null without targets
	// Predictions are numbers, or texts of labels.
	Predictions any `json:"predictions"`
	// Loss and ErrorRate are those of a classifier, the mean of the loss that it was fitted by and the share of wrong
	// labels.
	Loss      *float64 `json:"mean_loss,omitempty"`
	ErrorRate *float64 `json:"error_rate,omitempty"`
	// Positive is the second of two labels, and Probabilities are its, with --prob.
	Positive      string    `json:"positive,omitempty"`
	Probabilities []float64 `json:"probabilities,omitempty"`
	// ClassProbabilities are those of all labels, in the order of Labels, of a model of several, with --prob.
	Labels             []string    `json:"labels,omitempty"`
	ClassProbabilities [][]float64 `json:"probabilities_of_labels,omitempty"`
	// Survival are the probabilities that the event comes after each of the Times, for each row, with --survival.
	Times    []float64   `json:"times,omitempty"`
	Survival [][]float64 `json:"survival,omitempty"`
	// Concordance is that of the rows, of a model of times.
	Concordance *float64 `json:"concordance,omitempty"`
	// IDs are the cells of the column of --id.
	IDs []string `json:"ids,omitempty"`
	// Findings are what the user should know about the table.
	Findings []table.Finding `json:"findings,omitempty"`
	// Matrix is the completed matrix, where no entries were asked for.
	Matrix [][]float64 `json:"matrix,omitempty"`
	// Targets are the names of several targets, and Lines the predictions of all for each row.
	Targets []string    `json:"targets,omitempty"`
	Lines   [][]float64 `json:"predictions_of_targets,omitempty"`
	// Lower and Upper are bounds between which the targets are at this level, with --interval.
	Level float64   `json:"interval,omitempty"`
	Lower []float64 `json:"lower,omitempty"`
	Upper []float64 `json:"upper,omitempty"`

	bounds *model.Intervals // nil without
	unit   string
	times  bool     // the model is of times
	scored int      // rows that have targets
	labels []string // texts of labels, nil where they are numbers
	form   predictionForm
	text   heldText
	csv    *csv.Writer // to it
}

// predictionForm says what is written for a row.
type predictionForm struct {
	prob, labels bool
	threshold    *float64  // in the place of the model's; nil for that
	times        []float64 // at which survival is written
	interval     float64   // the level; 0 for none
	id           string    // a column; empty for none
	file         bool      // a CSV table is asked for, with a header and all probabilities by the names of their labels
	json         bool
}

// table says that lines are those of a CSV table with a header.
func (f predictionForm) table() bool { return f.id != "" || f.file }

// check rejects what a model does not have.
func (f predictionForm) check(m *model.Model) error {
	logistic := m.Classes() || m.Loss != nil && m.Loss.Kind == model.Logistic
	switch {
	case f.prob && !logistic && !m.LogLink && !m.Times():
		return cli.BadInputf("--prob: %s gives no probabilities; logistic and multinomial do", m.Model)
	case f.times != nil && !m.Times():
		return cli.BadInputf("--survival: %s has no times until an event; cox has", m.Model)
	case f.times != nil && f.prob:
		return cli.BadInputf("--survival and --prob: one of them, the probabilities at times or the relative risk")
	case f.threshold != nil && m.Labels == nil:
		return cli.BadInputf("--threshold: %s predicts numbers; %s predict labels", m.Model,
			words.Joined(model.Taking("Decisions")))
	case f.threshold != nil && m.Classes() && m.Threshold == nil:
		return cli.BadInputf("--threshold: the model has no label that is to be found; conetune tune --positive LABEL " +
			"--decide RULE gives it one")
	case f.threshold != nil && m.Loss.Kind != model.Hinge && !(*f.threshold >= 0 && *f.threshold <= 1):
		return cli.BadInputf("--threshold is %v, expected a probability from 0 to 1", *f.threshold)
	case f.labels && m.Labels == nil:
		return cli.BadInputf("--labels: %s predicts numbers", m.Model)
	case f.id != "" && m.Encoding == nil:
		return cli.BadInputf("--id goes with a model that was trained on tables of columns by --data or --train")
	}
	return nil
}

// Command is conetune predict.
func Command(a *cli.App) *cobra.Command {
	var modelPath, out, times string
	var threshold float64
	data := tableToPredict{in: input.Input{Stdin: a.Stdin}}
	form := &data.form
	cmd := &cobra.Command{
		Use:   "predict --model MODEL.json --data FILE",
		Short: "Predict the rows of a table with a saved model",
		Long:  predictHelp,
		Example: `  conetune predict --model model.json --data new.csv > predictions.txt
  conetune predict --model model.json --data new.csv.gz --id patient --prob --out risks.csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.BadInputf("expected no arguments, got %q; the model is given as --model FILE, rows as --data FILE",
					strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if modelPath == "" {
				return cli.BadInputf("--model FILE is missing")
			}
			if modelPath == cli.StandardStream && data.path == cli.StandardStream {
				return cli.BadInputf("--data -: standard input is for --model")
			}
			if err := cli.CheckOutput("--out", out, "the model or the data", modelPath, data.path); err != nil {
				return err
			}
			if err := tune.CheckDialect(&data.options); err != nil {
				return err
			}
			var err error
			positive := func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
			if form.times, err = cli.NumbersOf("survival", "time", times, "positive numbers", positive); err != nil {
				return err
			}
			if cmd.Flags().Changed("interval") && !(form.interval > 0 && form.interval < 1) {
				return cli.BadInputf("--interval is %v, expected a share of rows between 0 and 1, such as 0.9", form.interval)
			}
			form.file = strings.HasSuffix(out, ".csv") && !form.json
			if cmd.Flags().Changed("threshold") {
				if form.threshold = &threshold; math.IsNaN(threshold) || math.IsInf(threshold, 0) {
					return cli.BadInputf("--threshold is %v, expected a finite number", threshold)
				}
			}
			return predictTable(a, cmd.Context(), modelPath, data, out)
		},
	}
	cli.AddFlags(cmd, slices.Concat([]cli.Flag{
		cli.NewFlag("model", &modelPath, "`MODEL.json` of conetune tune --save, or - for standard input"),
		cli.NewFlag("data", &data.path,
			"table, `FILE`, or - for standard input, plain or compressed (a model of matrix-completion can do without)"),
	}, tune.DialectFlags(&data.options), []cli.Flag{
		cli.NewFlag("prob", &form.prob, "write the probability of the second label in the place of the label, for "+
			"logistic; those of all labels for multinomial"),
		cli.NewFlag("labels", &form.labels,
			"write labels, for classifiers: what is written without --prob, and in front of the probability with it"),
		cli.NewFlag("threshold", &threshold, "predict the second label, or that of --positive, where its probability, "+
			"for svm the value, is above `T` (default: that of --decide, or the label of even odds)"),
		cli.NewFlag("survival", &times, "write the probabilities that the event comes after each of the times "+
			"`T1,T2,..` in the place of the logarithm of the hazard, for cox"),
		cli.NewFlag("interval", &form.interval, "write behind a prediction the bounds between which a share `Q` of "+
			"targets is to be, such as 0.9, for models of numbers"),
		cli.NewFlag("id", &form.id,
			"write a CSV table with the cells of this `COLUMN` as id, the target where it is there, and the prediction"),
		cli.NewFlag("out", &out, "write the predictions to `FILE` instead of standard output; "+
			"as a CSV table with a header where it ends with .csv"),
		cli.MemoryFlag(),
		cli.NewFlag("json", &form.json, "print one JSON object"),
	})...)
	return cmd
}

func predictTable(a *cli.App, ctx context.Context, modelPath string, data tableToPredict, out string) error {
	p, err := cli.Interruptible(ctx, func() (*predictions, error) { return predictFile(a, modelPath, data) })
	if err != nil {
		return err
	}
	defer p.text.close()
	a.Tell(p.Findings)
	write := p.text.writeTo
	if data.form.json {
		write = func(w io.Writer) error { return cli.WriteJSON(w, p) }
	}
	out = cmp.Or(out, cli.StandardStream)
	if err := a.WriteFile("--out", out, write); err != nil {
		return err
	}
	if data.form.json && out == cli.StandardStream {
		return nil
	}
	also := ""
	if p.ErrorRate != nil && (p.Error == nil || *p.ErrorRate != *p.Error) {
		also = ", share of wrong labels " + words.Number(*p.ErrorRate)
	}
	if p.Concordance != nil {
		also = ", concordance " + words.Number(*p.Concordance)
	}
	switch {
	case p.Error != nil:
		a.Note("error %s on %s (%s)%s", words.Number(*p.Error), words.Count(p.scored, "row"), p.unit, also)
	case p.scored > 0 && p.times:
		a.Note("no error: no event of the %s has others at risk", words.Count(p.scored, "row"))
	case p.scored > 0:
		a.Note("error too large for a number on %s (%s)%s", words.Count(p.scored, "row"), p.unit, also)
	}
	return nil
}

// predictFile reads both files and predicts.
func predictFile(a *cli.App, modelPath string, data tableToPredict) (*predictions, error) {
	m, err := a.ReadModel(modelPath)
	if err != nil {
		return nil, cli.BadInput(err)
	}
	if err := data.form.check(m); err != nil {
		return nil, err
	}
	if data.form.threshold != nil {
		m.Threshold = data.form.threshold
	}
	var bounds *model.Intervals
	if data.form.interval > 0 {
		if bounds, err = m.Intervals(data.form.interval); err != nil {
			return nil, cli.BadInputf("--interval: %w", err)
		}
	}
	if data.form.file && data.form.times == nil && m.Labels != nil && m.Loss.Kind != model.Hinge {
		data.form.prob = true
	}
	if m.Matrix != nil {
		return predictEntries(m, data.path, data.form)
	}
	if data.path == "" {
		return nil, cli.BadInputf("--data FILE is missing")
	}
	defer data.in.Close()
	if bounds == nil && !data.in.IsLIBSVM(data.path) {
		m = m.Needed()
	}
	var p *predictions
	var score *model.Score
	begin := func() {
		if p != nil {
			p.text.close()
		}
		p, score = newPredictions(m, data.form), m.NewScore()
		p.bounds = bounds
	}
	findings, err := data.read(m, begin, func(rows *rowsToPredict) error { return p.add(m, data.path, rows, score) })
	if err != nil {
		if p != nil {
			p.text.close()
		}
		if _, known := errors.AsType[*cli.ExitError](err); !known {
			err = cli.BadInput(err)
		}
		return nil, err
	}
	p.Findings = cli.Flagged(a.Flags, findings)
	if score.Strange > 0 {
		p.Findings = append(p.Findings, table.Finding{File: data.path, Kind: "target", Text: words.Count(
			score.Strange, "row") + " with a label that the model does not have, which the error leaves out"})
	}
	if score.Rows > 0 {
		p.score(score.Error(), score.Rows)
		if c, _ := score.Concordance(); m.Times() {
			p.Concordance = words.FiniteOrNull(c)
		}
		if m.Labels != nil {
			p.ErrorRate = words.FiniteOrNull(score.ErrorRate())
			p.Loss = words.FiniteOrNull(score.Loss())
		}
	}
	return p, nil
}

// newPredictions are those of no rows yet.
func newPredictions(m *model.Model, form predictionForm) *predictions {
	p := &predictions{Model: m.Model, Target: m.Target, unit: unitOfModel(m), times: m.Times(), form: form,
		Times: form.times, Level: form.interval}
	if m.Loss != nil && m.Loss.Kind == model.Hinge {
		p.unit = "share of wrong labels"
	}
	if m.Encoding != nil {
		p.labels = m.Encoding.Labels
	}
	if m.Labels != nil && !m.Classes() {
		p.Positive = m.LabelTexts()[1]
	}
	switch {
	case (m.Classes() || m.Labels != nil && form.file) && form.prob:
		p.Labels = m.LabelTexts()
	case m.Targets != nil && !m.Classes():
		p.Target, p.Targets = words.Joined(m.Targets), m.Targets
	}
	return p
}

// add predicts a part of the rows.
func (p *predictions) add(m *model.Model, path string, rows *rowsToPredict, score *model.Score) error {
	if err := p.text.spill(); err != nil {
		return cli.Failed(err)
	}
	if p.Rows == 0 && !p.form.json {
		p.writeHead(rows.targets != nil)
	}
	actual := make([]float64, len(rows.targets))
	weight, offset := 1.0, 0.0
	for from := 0; from < rows.n; from += rows.step {
		block := rows.block(from, min(rows.n, from+rows.step))
		height, _ := block.Dims()
		for k := range height {
			i := from + k
			for j, column := range rows.targets {
				actual[j] = column[i]
			}
			if rows.weights != nil {
				weight = rows.weights[i]
			}
			if rows.offset != nil {
				offset = rows.offset[i]
			}
			id := ""
			values, more, err := p.predictRow(m, block, k, offset, weight, actual, score)
			if err != nil {
				return fmt.Errorf("%s: row %d: %w", path, p.Rows+i+1, err)
			}
			if rows.id != nil {
				if id, err = rows.id(i); err != nil {
					return err
				}
			}
			p.put(values, more, id, actual)
		}
	}
	p.Rows += rows.n
	return nil
}

// predictRow predicts row k of a block, which has an offset, and scores it with its weight where it has a target: the
// prediction, or those of several targets, and the probabilities that are asked for.
func (p *predictions) predictRow(m *model.Model, block *dataset.Data, k int, offset, weight float64, actual []float64,
	score *model.Score) (values, more []float64, err error) {
	if m.Targets != nil {
		features := make([]float64, len(m.Features))
		block.Fill(features, k)
		if values, err = m.PredictTargets(features); err != nil {
			return nil, nil, err
		}
		if len(actual) > 0 {
			score.AddTargets(values, actual, weight)
		}
		if !m.Classes() {
			return values, nil, nil
		}
		if p.form.prob {
			more = evaluate.Softmax(values)
		}
		return []float64{m.Class(values)}, more, nil
	}
	index, row := block.Row(k)
	value, err := m.Value(index, row, offset)
	if err != nil {
		return nil, nil, err
	}
	v, err := m.Prediction(value)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case p.form.prob && m.Times():
		more = []float64{math.Min(math.MaxFloat64, math.Exp(value))}
	case p.Labels != nil:
		more = []float64{evaluate.Probability(-value), evaluate.Probability(value)}
	case p.form.prob && m.Labels != nil:
		more = []float64{evaluate.Probability(value)}
	case p.form.prob:
		more = []float64{v}
	}
	for _, t := range p.form.times {
		more = append(more, m.Baseline.Survival(value, t))
	}
	if len(actual) > 0 {
		score.AddTargets([]float64{value}, actual, weight)
	}
	if p.bounds != nil {
		low, high, err := p.bounds.Of(func(coefficients []float64) float64 { return block.Dot(k, coefficients) }, offset)
		if err != nil {
			return nil, nil, err
		}
		more = append(more, low, high)
	}
	return []float64{v}, more, nil
}

// keep adds a row to the lists of JSON.
func (p *predictions) keep(values, more []float64, id string) {
	switch {
	case p.Targets != nil:
		p.Lines = append(p.Lines, values)
	case p.labels != nil:
		texts, _ := p.Predictions.([]string)
		p.Predictions = append(texts, p.label(values[0]))
	default:
		numbers, _ := p.Predictions.([]float64)
		p.Predictions = append(numbers, values[0])
	}
	if n := len(more) - 2; p.bounds != nil {
		p.Lower, p.Upper, more = append(p.Lower, more[n]), append(p.Upper, more[n+1]), more[:n]
	}
	switch {
	case p.form.times != nil:
		p.Survival = append(p.Survival, more)
	case p.Labels != nil:
		p.ClassProbabilities = append(p.ClassProbabilities, more)
	default:
		p.Probabilities = append(p.Probabilities, more...)
	}
	if p.form.id != "" {
		p.IDs = append(p.IDs, id)
	}
}

// score notes the error of the predictions of so many rows; one that is too large for a number is none.
func (p *predictions) score(e float64, rows int) { p.Error, p.scored = words.FiniteOrNull(e), rows }
