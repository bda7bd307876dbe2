package main

import (
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// ofMatrix is of for a completed matrix, on its test entries, or on those for validation by the completion of the training entries.
func (j *judge) ofMatrix(r *tune.Result) *judged {
	split, fit := j.rows.Split, r.RefitFit
	out := &judged{entries: true, on: onTest, fit: fit}
	rows, from := split.Test, split.Train
	switch {
	case rows != nil && r.TrainedOn == tune.FinalAll:
		from = targetsOf(split.Train, split.Val)
	case rows == nil && (r.Selection == nil || r.Selection.X == nil):
		return nil
	case rows == nil:
		out.on, rows, fit = onValidation, split.Val, j.model.Fit(r.Selection.X)
	}
	if fit.Matrix == nil {
		return nil
	}
	base := from.Mean(from.Y)
	for i, y := range rows.Y {
		v := fit.Matrix.At(int(rows.X.At(i, 0)), int(rows.X.At(i, 1)))
		out.Y, out.Value, out.Base = append(out.Y, y), append(out.Value, v), append(out.Base, base)
	}
	out.rows, out.metrics = len(out.Y), out.Regression()
	return out
}

// judgedTarget are the measures of one of several targets.
type judgedTarget struct {
	name    string
	metrics []evaluate.Metric
}

// judgedTargets are those of all, and the rows that they are about.
type judgedTargets struct {
	on   string
	rows int // distinct ones
	list []judgedTarget
}

// ofTargets judges the refit of a result of several targets, on the rows of [judge.of]. It is nil for other models and where there are no rows.
func (j *judge) ofTargets(r *tune.Result) *judgedTargets {
	if j == nil || j.rows.Targets == nil || r.Refit == nil {
		return nil
	}
	t, out := j.rows.Targets, &judgedTargets{}
	samples := make([]evaluate.Sample, len(t.Names))
	var parts []tune.Fit
	if m, ok := j.model.(interface {
		FoldFits(x [][]float64) []tune.Fit
	}); ok && r.Selection != nil && r.Selection.X != nil {
		parts = m.FoldFits(r.Selection.X)
	}
	switch {
	case t.Test != nil:
		out.on = onTest
		for k := range samples {
			from := t.Column(k, t.Train)
			if r.TrainedOn == tune.FinalAll {
				from = t.Column(k, t.Train, t.Val)
			}
			addTarget(&samples[k], k, j.rows.Split.Test, t.Column(k, t.Test), r.RefitFit, from)
		}
	case parts == nil:
		return nil
	case j.rows.CV != nil:
		out.on = onFolds
		for p, s := range j.rows.CV.Parts() {
			fold := j.rows.CV.Folds[p]
			for k := range samples {
				y := t.Column(k, t.Train)
				addTarget(&samples[k], k, s.Val, at(y, fold.Val), parts[p], at(y, fold.Train))
				samples[k].Row = append(samples[k].Row, fold.Val...)
			}
		}
	case t.Val != nil:
		out.on = onValidation
		for k := range samples {
			addTarget(&samples[k], k, j.rows.Split.Val, t.Column(k, t.Val), parts[0], t.Column(k, t.Train))
		}
	}
	if len(samples[0].Y) == 0 {
		return nil
	}
	out.rows = len(samples[0].Y)
	if rows := samples[0].Row; rows != nil {
		seen := map[int]bool{}
		for _, i := range rows {
			seen[i] = true
		}
		out.rows = len(seen)
	}
	for k := range samples {
		out.list = append(out.list, judgedTarget{t.Names[k], samples[k].Regression()})
	}
	return out
}

// addTarget adds the predictions of target k for rows with the values y; from are those that the fit learned from.
func addTarget(s *evaluate.Sample, k int, rows *dataset.Data, y []float64, f tune.Fit, from []float64) {
	base, row := (&dataset.Data{Y: from}).Mean(from), make([]float64, len(f.Features))
	for i, v := range y {
		rows.Fill(row, i)
		s.Y, s.Value, s.Base = append(s.Y, v), append(s.Value, f.Values(row)[k]), append(s.Base, base)
	}
}

// at are the values of some rows.
func at(y []float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for k, i := range rows {
		out[k] = y[i]
	}
	return out
}
