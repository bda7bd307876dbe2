package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/tune"
)

// measureNames are the measures in words.
var measureNames = map[string]string{
	evaluate.R2: "R², share of the variance explained", evaluate.RMSE: "root mean squared error", evaluate.MAE: "mean absolute error",
	evaluate.LogLoss: "log loss", evaluate.Brier: "Brier score", evaluate.AUC: "area under the ROC curve", evaluate.ErrorRate: "share of wrong labels",
	evaluate.DevianceExplained: "share of the deviance explained", evaluate.Deviance: "mean Poisson deviance",
	evaluate.Pinball: "mean pinball loss", evaluate.Coverage: "share of targets at or below the prediction",
	evaluate.Concordance: "concordance, share of pairs in the right order", evaluate.PartialDeviance: "partial-likelihood deviance for each event",
}

// briefNames are measures of regressions in heads of narrow columns.
var briefNames = map[string]string{evaluate.R2: "R²", evaluate.RMSE: "RMSE", evaluate.MAE: "MAE"}

// judgedOn says which rows a predictor is judged by.
func judgedOn(j *evaluate.Judged) string {
	if !j.Entries {
		return onRows(count(j.Rows, "row"), j.On, "rows")
	}
	if j.Rows == 1 {
		return onRows("1 entry", j.On, "entries")
	}
	return onRows(fmt.Sprintf("%d entries", j.Rows), j.On, "entries")
}

// onRows says which so many rows, or what they are, are.
func onRows(many, on, what string) string {
	switch on {
	case evaluate.OnTest:
		return many + " for the test, which were used for nothing else"
	case evaluate.OnFolds:
		return many + " of the cross-validation, each predicted by fits that were made without it"
	}
	return many + " for validation, predicted by the fit to the training " + what
}

// without is what is predicted without any feature.
func without(job *tuneJob, j *evaluate.Judged) string {
	switch {
	case j.Entries:
		return "the mean of the training entries"
	case job.spec.Survival:
		return "rows that are all alike"
	case job.spec.Name == "quantile":
		return "the quantile of the training rows"
	case job.spec.Classes:
		return "the shares of the training rows"
	case job.spec.Labels && job.logOdds():
		return "the share of the training rows"
	case job.spec.Labels:
		return "the more frequent label"
	}
	return "the mean of the training rows"
}

// headline is the measure that a verdict is about.
func headline(list []evaluate.Metric) evaluate.Metric {
	m := list[len(list)-1]
	for _, name := range []string{evaluate.RMSE, evaluate.ErrorRate, evaluate.Pinball, evaluate.Deviance, evaluate.Concordance, evaluate.LogLoss} {
		if k := slices.IndexFunc(list, func(m evaluate.Metric) bool { return m.Name == name }); k >= 0 {
			m = list[k]
		}
	}
	return m
}

// verdict puts the measures into sentences.
func verdict(job *tuneJob, j *evaluate.Judged) []string {
	m := headline(j.Metrics)
	text := fmt.Sprintf("On %s: %s %s, against %s for %s", judgedOn(j), measureNames[m.Name], plusMinus(m.Value, m.StandardError), toError(m.Base, m.StandardError), without(job, j))
	switch change := 100 * (m.Value/m.Base - 1); {
	case m.Name == evaluate.Concordance && change <= 0:
		text += ". The features do not help on these rows."
	case m.Name == evaluate.Concordance:
		text += "; 1 is the best."
	case !finite(change):
		text += "."
	case math.Abs(change) < 0.5:
		text += ": no better. The features do not help on these rows."
	case change < 0:
		text += fmt.Sprintf(": %.0f %% less.", -change)
	default:
		text += fmt.Sprintf(": %.0f %% more. The features do not help on these rows.", change)
	}
	plain := "The fit without a penalty"
	if j.LeastSquares() {
		plain = "Least squares, without a penalty,"
	}
	switch {
	case j.Plain != nil:
		text += fmt.Sprintf(" %s has %s.", plain, toError(m.Plain, m.StandardError))
	case j.WhyNotPlain != nil:
		text += fmt.Sprintf(" %s has no answer here: %s.", plain, j.WhyNotPlain)
	}
	list := []string{text}
	if j.On != evaluate.OnTest {
		text := "The hyperparameters were chosen by these rows, so that new rows will be predicted a little worse"
		if job.outside == nil && job.data.CrossValidates() {
			text += " (--nested says how much)"
		}
		list = append(list, text+".")
	}
	return list
}

// qualityTable has the measures.
func qualityTable(job *tuneJob, j *evaluate.Judged) *webpage.Table {
	t := webpage.NewTable("quality", "How good it is on these rows", webpage.Text("measure"), webpage.Number("model"),
		webpage.Number("standard error"), webpage.Number("without features"))
	if j.Plain != nil {
		name := "without penalty"
		if j.LeastSquares() {
			name = "least squares"
		}
		t.Columns = append(t.Columns, webpage.Number(name))
	}
	for _, m := range j.Metrics {
		name, se := measureNames[m.Name], short(m.StandardError)
		if m.Name == evaluate.Coverage {
			name += fmt.Sprintf(" (%g is right)", job.model.Level)
		}
		if m.StandardError < 1e-12*math.Abs(m.Value) { // the rounding of one
			se = "0"
		}
		cells := []webpage.Cell{{Text: name}, {Text: fine(m.Value), Strong: true}, {Text: se}, {Text: fine(m.Base)}, {Text: fine(m.Plain)}}
		t.Add(cells[:len(t.Columns)]...)
	}
	return t
}

// targetsTable has the measures of several targets, a row for each; nil without.
func targetsTable(j *evaluate.JudgedTargets) *webpage.Table {
	if j == nil {
		return nil
	}
	t := webpage.NewTable("quality", "How good it is on "+onRows(count(j.Rows, "row"), j.On, "rows"), webpage.Text("target"))
	for _, m := range j.List[0].Metrics {
		t.Columns = append(t.Columns, webpage.Number(briefNames[m.Name]), webpage.Column{Title: "s.e.", Spoken: "standard error of " + briefNames[m.Name], Number: true})
	}
	t.Columns = append(t.Columns, webpage.Number("RMSE without features"))
	for _, target := range j.List {
		cells := []webpage.Cell{{Text: target.Name}}
		for _, m := range target.Metrics {
			cells = append(cells, webpage.Cell{Text: fine(m.Value), Strong: true}, webpage.Cell{Text: short(m.StandardError)})
		}
		k := slices.IndexFunc(target.Metrics, func(m evaluate.Metric) bool { return m.Name == evaluate.RMSE })
		t.Add(append(cells, webpage.Cell{Text: fine(target.Metrics[k].Base)})...)
	}
	return t
}

// searches says whether a method only looks at solutions of the lower level, as all but VF-iDCA do.
func searches(method string) bool {
	return method != tune.MethodVFiDCA && method != tune.MethodVFiDCAT
}

// progressOf says how far a run went.
func progressOf(r *tune.Result) string {
	if searches(r.Method) {
		return count(r.Iterations, "evaluation")
	}
	return count(r.Iterations, "iteration")
}

// methodsTable has the errors of the refits, a line for each method, and where the run is verbose those of its last points.
func methodsTable(job *tuneJob, results []*tune.Result) *webpage.Table {
	validation := "validation"
	if job.data.CrossValidates() {
		validation = trainingRows(job)
	}
	t := webpage.NewTable("errors", sentence(job.spec.Unit())+" by method", webpage.Text("method"), webpage.Number(validation), webpage.Number("test"))
	t.Sortable = len(results) > 1
	if job.spec.Score != "" {
		t.Columns = append(t.Columns, webpage.Number(job.spec.Score))
	}
	if job.verbose {
		t.Columns = append(t.Columns, webpage.Number("iterate, "+validation), webpage.Number("iterate, test"))
	}
	t.Columns = append(t.Columns, webpage.Number("time"), webpage.Text("steps"), webpage.Text("status"))
	cell := func(v *float64) webpage.Cell {
		if v == nil {
			return webpage.Sorted("-", "")
		}
		return webpage.Cell{Text: number(*v)}
	}
	both := func(e *tune.Errors) []webpage.Cell {
		if e == nil {
			return []webpage.Cell{cell(nil), cell(nil)}
		}
		return []webpage.Cell{cell(&e.Validation), cell(e.Test)}
	}
	chosen := evaluate.Best(results)
	for _, r := range results {
		cells := append([]webpage.Cell{{Text: r.Method}}, both(r.Refit)...)
		cells[1].Strong = r == chosen && r.Refit != nil
		if job.spec.Score != "" {
			cells = append(cells, cell(r.Score))
		}
		if job.verbose {
			last := &r.Errors
			if r.Iterations == 0 || r.Refit == nil && searches(r.Method) {
				last = nil
			}
			cells = append(cells, both(last)...)
		}
		status := describeStatus(r.Status)
		if r.Status == dca.Converged && r.Message != "" {
			status += "; " + r.Message
		}
		t.Add(append(cells, webpage.Sorted(seconds(r.TimeSeconds), exact(r.TimeSeconds)), webpage.Cell{Text: progressOf(r)}, webpage.Cell{Text: status})...)
	}
	return t
}

// describeMethods is that table, with the method of several whose model is taken.
func describeMethods(job *tuneJob, results []*tune.Result) string {
	text := methodsTable(job, results).String()
	if chosen := evaluate.Best(results); chosen.Refit != nil && len(results) > 1 {
		least := "validation error"
		if chosen.Score != nil {
			least = job.spec.Score
		}
		text += fmt.Sprintf("The model of %s has the least %s.\n", chosen.Method, least)
	}
	return text
}

// describeStatus puts a status into words.
func describeStatus(s dca.Status) string {
	switch s {
	case dca.Converged:
		return "converged"
	case dca.Inaccurate:
		return "converged, but the last conic solves missed their tolerances,"
	case dca.IterationLimit:
		return "stopped by the iteration limit"
	case dca.TimeLimit:
		return "stopped by the time limit"
	case dca.Cancelled:
		return "interrupted"
	case dca.LowerInfeasible:
		return "the lower level became infeasible"
	case dca.SolverFailed:
		return "stopped by a numerical error"
	}
	return string(s)
}

// ended is a status in words, at the end of a clause.
func ended(r *tune.Result) string { return strings.TrimSuffix(describeStatus(r.Status), ",") }

// confusionTable counts labels and predicted labels, or sums up the weights of their rows.
func confusionTable(job *tuneJob, j *evaluate.Judged, fit tune.Fit) *webpage.Table {
	names := job.labels(fit)
	n := j.Confusion(len(names))
	by, each := "", ""
	if j.Weight != nil {
		by = " by the weights of rows"
	}
	if j.Rows != len(j.Y) {
		each = "each row once for each deal, "
	}
	t := webpage.NewTable("confusion", "Labels and predicted labels"+by+", "+each+judgedOn(j), webpage.Text("label"))
	for _, name := range names {
		t.Columns = append(t.Columns, webpage.Number("predicted "+name))
	}
	t.Columns = append(t.Columns, webpage.Number("share right"))
	for k, name := range names {
		share, sum := "-", 0.0
		cells := []string{name}
		for _, v := range n[k] {
			text := short(v) // a sum of weights
			if v == math.Trunc(v) {
				text = fmt.Sprintf("%.0f", v)
			}
			cells, sum = append(cells, text), sum+v
		}
		if sum > 0 {
			share = fmt.Sprintf("%.1f %%", 100*n[k][k]/sum)
		}
		t.AddTexts(append(cells, share)...)
	}
	return t
}

// labels are the texts of the labels of a fit.
func (job *tuneJob) labels(fit tune.Fit) (names []string) {
	for _, v := range fit.Labels {
		names = append(names, job.rows.Label(v))
	}
	return names
}
