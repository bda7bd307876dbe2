package main

import (
	"slices"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// judge scores predictors on rows that they were not trained on.
type judge struct {
	rows  *input.Rows
	model tune.Model
	spec  model.Spec
	level float64 // of quantile
	ties  string  // of cox
	// intercept says that the model has one.
	intercept bool
	// plain are the fits without penalty to what predictors were compared on, see [judge.unpenalised].
	plain map[string]unpenalisedFits
	// known are the results that were judged.
	known map[*tune.Result]*judged
}

// newJudge judges the predictors of a model.
func (job *tuneJob) newJudge(rows *input.Rows, model tune.Model) *judge {
	return &judge{rows: rows, model: model, spec: job.spec, level: job.model.Level, ties: job.model.ties, intercept: job.model.Intercept, plain: map[string]unpenalisedFits{}, known: map[*tune.Result]*judged{}}
}

// The rows that a predictor is judged by, the best that there are.
const (
	onTest       = "test"             // used for nothing else
	onFolds      = "cross-validation" // each by the fits of folds that it does not train, with hyperparameters chosen by them
	onValidation = "validation"       // by the fit to the training rows; hyperparameters were chosen by them
)

// judged are predictions for the rows that a predictor is judged by.
type judged struct {
	evaluate.Sample
	on      string
	entries bool // of a matrix, not rows
	rows    int  // distinct ones
	metrics []evaluate.Metric
	// folds are the fits of folds, nil without; fit is the refit.
	folds []tune.Fit
	fit   tune.Fit
	// probability are those of the labels, and share those of the training rows, of a model with a value for each label, whose Y are their numbers.
	probability, share [][]float64
	// learned are the parts that the predictions are made of, and whyNotPlain says why there are none without penalty.
	learned     []learned
	whyNotPlain error
	// ends are where the rows of each part end, of a model of times, whose Y are negative where these are censored.
	ends []int
}

// of judges the refit of a result, once. It is nil where there is no refit, where there are no rows with what they need, and for several targets, see [judge.ofTargets].
func (j *judge) of(r *tune.Result) *judged {
	if j == nil || r.Refit == nil {
		return nil
	}
	out, known := j.known[r]
	if !known {
		out = j.judge(r)
		j.known[r] = out
	}
	return out
}

func (j *judge) judge(r *tune.Result) *judged {
	if r.RefitFit.Matrix != nil {
		return j.ofMatrix(r)
	}
	if r.RefitFit.Targets != nil && !r.RefitFit.Classes() {
		return nil
	}
	split, out := j.rows.Split, &judged{}
	var parts []tune.Fit
	if m, ok := j.model.(interface {
		FoldFits(x [][]float64) []tune.Fit
	}); ok && r.Selection != nil && r.Selection.X != nil {
		parts = m.FoldFits(r.Selection.X)
	}
	if j.rows.CV != nil {
		out.folds = parts
	}
	switch {
	case split.Test != nil:
		train := split.Train
		if r.TrainedOn == tune.FinalAll && split.Val != nil {
			train = dataset.Stack(split.Train, split.Val)
		}
		out.on = onTest
		out.add(j, split.Test, r.RefitFit, train)
	case parts == nil:
		return nil
	case j.rows.CV != nil:
		out.on = onFolds
		for t, s := range j.rows.CV.Parts() {
			out.add(j, s.Val, parts[t], s.Train)
			out.Row = append(out.Row, j.rows.CV.Folds[t].Val...)
		}
	case split.Val != nil:
		out.on = onValidation
		out.add(j, split.Val, parts[0], split.Train)
	}
	if len(out.Y) == 0 {
		return nil
	}
	out.rows = len(out.Y)
	if out.Row != nil {
		seen := map[int]bool{}
		for _, i := range out.Row {
			seen[i] = true
		}
		out.rows = len(seen)
	}
	out.fit = r.RefitFit
	j.addUnpenalised(out, r.TrainedOn)
	out.measure(j, r.RefitFit)
	return out
}

// targetsOf are the targets, weights and offsets of rows of both.
func targetsOf(a, b *dataset.Data) *dataset.Data {
	return &dataset.Data{Y: slices.Concat(a.Y, b.Y), Weights: slices.Concat(a.Weights, b.Weights), Offset: slices.Concat(a.Offset, b.Offset)}
}

// add adds the predictions of a fit for rows; from are the targets that it learned from.
func (d *judged) add(j *judge, rows *dataset.Data, f tune.Fit, from *dataset.Data) {
	if f.Classes() {
		d.addClasses(rows, f, from)
		return
	}
	if f.Hazard {
		d.addTimes(rows, f)
		return
	}
	d.Weight = append(d.Weight, rows.Weights...)
	d.learned = append(d.learned, learned{rows, from})
	d.Value = append(d.Value, predicted(rows, f)...)
	y := rows.Y
	if f.Labels != nil {
		y = is(y, f.Labels[1])
	}
	d.Y = append(d.Y, y...)
	base := j.baseline(from, f)
	for i := range rows.Y {
		offset := 0.0
		if rows.Offset != nil {
			offset = rows.Offset[i]
		}
		d.Base = append(d.Base, base(offset))
	}
}

// measure fills in the measures that fit the model.
func (d *judged) measure(j *judge, f tune.Fit) {
	switch {
	case f.Hazard:
		d.metrics = d.times(j.ties)
	case f.Classes():
		d.metrics = d.Classes(d.probability, d.share)
	case f.Labels != nil:
		d.metrics = d.Labels(j.logOdds())
	case f.LogLink:
		d.metrics = d.Counts()
	case j.spec.Name == "quantile":
		d.metrics = d.Quantile(j.level)
	default:
		d.metrics = d.Regression()
	}
}

// logOdds says that the values of the classifier are log odds, so that it has probabilities.
func (j *judge) logOdds() bool { return j.spec.Name == "logistic" }
