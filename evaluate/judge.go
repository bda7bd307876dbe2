package evaluate

import (
	"slices"

	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// Judge scores the predictors of a model on rows that they were not trained on.
type Judge struct {
	rows  *input.Rows
	model problems.Model
	losses
	intercept bool // the model has one
	// Decisions are those of a classifier.
	Decisions Decisions
	// plain are the fits without penalty to what predictors were compared on, see [Judge.unpenalised].
	plain map[string]unpenalisedFits
	// known are the results that were judged.
	known map[*tune.Result]*Sample
}

// losses say what a fit does not about the loss of its model.
type losses struct {
	logOdds bool    // the values of the classifier are log odds, so that it has probabilities
	level   float64 // of a quantile; 0 for other models
	ties    survival.Ties
}

// NewJudge judges the predictors of a model that was built of rows, with an intercept or without.
func NewJudge(rows *input.Rows, m problems.Model, intercept bool) *Judge {
	j := &Judge{rows: rows, model: m, intercept: intercept, plain: map[string]unpenalisedFits{},
		known: map[*tune.Result]*Sample{}}
	if m, ok := m.(*regression.Model); ok {
		o := m.Options()
		j.logOdds, j.level = true, o.Level     // svm is no regression
		j.ties, _ = survival.ParseTies(o.Ties) // of other models any
	}
	return j
}

// The rows that a predictor is judged by, the best that there are.
const (
	OnTest = "test" // used for nothing else
	// each by the fits of folds that it does not train, with hyperparameters chosen by them
	OnFolds      = "cross-validation"
	OnValidation = "validation" // by the fit to the training rows; hyperparameters were chosen by them
)

// Of judges the refit of a result, once. It is nil where there is no refit, where there are no rows with what they
// need, and for several targets, see [Judge.Targets].
func (j *Judge) Of(r *tune.Result) *Sample {
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

// together are the predictions of several predictors as those of one, for rows that differ: those of part k are rows[k]
// of a table. It is nil where one of them is, or has labels that the others do not know.
func together(parts []*Sample, rows [][]int) *Sample {
	all := &Sample{}
	for k, d := range parts {
		if d == nil || all.Fit.Labels != nil && !slices.Equal(d.Fit.Labels, all.Fit.Labels) {
			return nil
		}
		all.Probability, all.Share = append(all.Probability, d.Probability...), append(all.Share, d.Share...)
		all.Y, all.Value, all.Base = append(all.Y, d.Y...), append(all.Value, d.Value...), append(all.Base, d.Base...)
		all.Weight, all.Cut = append(all.Weight, d.Weight...), append(all.Cut, d.Cut...)
		all.Plain = append(all.Plain, d.Plain...)
		all.Ends, all.Rows = append(all.Ends, len(all.Y)), len(all.Y)
		all.Row = append(all.Row, rows[k]...)
		all.Fit, all.losses, all.Decisions = d.Fit, d.losses, d.Decisions
	}
	if len(all.Plain) < len(all.Y) { // a choice has none
		all.Plain = nil
	}
	if len(all.Y) == 0 {
		return nil
	}
	all.measure()
	return all
}

func (j *Judge) judge(r *tune.Result) *Sample {
	if r.RefitFit.Targets != nil && !r.RefitFit.Classes() {
		return nil
	}
	out := &Sample{losses: j.losses, Fit: r.RefitFit, Entries: r.RefitFit.Matrix != nil}
	var parts []part
	if out.On, parts = j.parts(r); j.rows.CV != nil {
		out.Folds = j.foldFits(r)
	}
	for _, p := range parts {
		out.add(j, p.rows, p.fit, p.from())
		out.Row = append(out.Row, p.fold.Val...)
	}
	if len(out.Y) == 0 {
		return nil
	}
	out.Rows = distinct(out.Row, len(out.Y))
	j.addUnpenalised(out, parts, r.TrainedOn)
	j.decide(out, r)
	out.measure()
	return out
}

// part are rows that are predicted by a fit, and those that it learned from; fold are their numbers in a fold.
type part struct {
	rows *dataset.Data
	from func() *dataset.Data
	fit  problems.Fit
	fold split.Fold
}

// itself is a table that is there.
func itself(d *dataset.Data) func() *dataset.Data { return func() *dataset.Data { return d } }

// parts are the rows that the refit of a result is judged by; none where there are none.
func (j *Judge) parts(r *tune.Result) (on string, parts []part) {
	rows := j.rows.Split
	if rows.Test == nil {
		return j.held(r)
	}
	train := rows.Train
	if r.TrainedOn == tune.FinalAll && rows.Val != nil {
		train = dataset.Stack(rows.Train, rows.Val)
	}
	return OnTest, []part{{rows: rows.Test, from: itself(train), fit: r.RefitFit}}
}

// held are the rows that choose the hyperparameters, each with a fit that has not seen it.
func (j *Judge) held(r *tune.Result) (on string, parts []part) {
	rows, fits := j.rows.Split, j.foldFits(r)
	switch {
	case fits == nil:
	case j.rows.CV != nil:
		cv := j.rows.CV
		for t, f := range cv.Folds {
			from := func() *dataset.Data { return cv.Training(t) }
			parts = append(parts, part{cv.Validation(t), from, fits[t], f})
		}
		return OnFolds, parts
	case rows.Val != nil:
		return OnValidation, []part{{rows: rows.Val, from: itself(rows.Train), fit: fits[0]}}
	}
	return "", nil
}

// foldFits are the fits of folds, or the one to the training rows, with the chosen hyperparameters; nil where they are
// not known.
func (j *Judge) foldFits(r *tune.Result) []problems.Fit {
	if r.Selection == nil || r.Selection.X == nil {
		return nil
	}
	switch m := j.model.(type) {
	case interface {
		FoldFits(x [][]float64) []problems.Fit
	}:
		return m.FoldFits(r.Selection.X)
	case *matcomp.Model:
		if f := m.Fit(r.Selection.X); f.Matrix != nil {
			return []problems.Fit{f}
		}
	}
	return nil
}

// distinct is how many different rows there are; nil stands for n that differ.
func distinct(rows []int, n int) int {
	if rows == nil {
		return n
	}
	return len(slices.Compact(slices.Sorted(slices.Values(rows))))
}

// add adds the predictions of a fit for rows; from are the targets that it learned from. Values of hazards compare rows
// of one fit only, which are a part.
func (s *Sample) add(j *Judge, rows *dataset.Data, f problems.Fit, from *dataset.Data) {
	s.Weight = append(s.Weight, rows.Weights...)
	if f.Classes() {
		s.addClasses(rows, f, from)
		return
	}
	s.Value = append(s.Value, predicted(rows, f)...)
	y, base := rows.Y, func(offset float64) float64 { return offset }
	if f.Labels != nil {
		y = is(y, f.Labels[1])
	}
	if !f.Hazard {
		base = j.baseline(from, f)
	}
	s.Y = append(s.Y, y...)
	for _, offset := range rows.RowOffset() {
		s.Base = append(s.Base, base(offset))
	}
	if f.Hazard {
		s.Ends = append(s.Ends, len(s.Y))
	}
}

// measure fills in the measures that fit the model.
func (s *Sample) measure() {
	switch f := s.Fit; {
	case f.Hazard:
		s.Metrics = s.times()
	case f.Classes():
		s.Metrics = s.decided(s.Classes(s.Probability, s.Share))
	case f.Labels != nil:
		s.Metrics = s.decided(s.Labels(s.losses.logOdds))
	case f.LogLink:
		s.Metrics = s.Counts()
	case s.losses.level > 0:
		s.Metrics = s.Quantile(s.losses.level)
	default:
		s.Metrics = s.Regression()
	}
}
