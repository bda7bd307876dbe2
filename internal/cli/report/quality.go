package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/tune"
)

// measureNames are the measures in words.
var measureNames = map[string]string{
	evaluate.R2: "R², share of the variance explained", evaluate.RMSE: "root mean squared error",
	evaluate.MAE:     "mean absolute error",
	evaluate.LogLoss: "log loss", evaluate.Brier: "Brier score", evaluate.AUC: "area under the ROC curve",
	evaluate.ErrorRate: "share of wrong labels", evaluate.Cost: "mean cost of a row", evaluate.F1: "F1",
	evaluate.AveragePrecision:  "average precision",
	evaluate.BalancedError:     "balanced error, mean over the labels",
	evaluate.DevianceExplained: "share of the deviance explained", evaluate.Deviance: "mean Poisson deviance",
	evaluate.Pinball: "mean pinball loss", evaluate.Coverage: "share of targets at or below the prediction",
	evaluate.Concordance:     "concordance, share of pairs in the right order",
	evaluate.PartialDeviance: "partial-likelihood deviance for each event",
}

// shortNames are measures that decide.
var shortNames = map[string]string{evaluate.BalancedError: "least balanced error", evaluate.F1: "best F1",
	evaluate.Cost: "least cost"}

// briefNames are measures of regressions in heads of narrow columns.
var briefNames = map[string]string{evaluate.R2: "R²", evaluate.RMSE: "RMSE", evaluate.MAE: "MAE"}

// judgedOn says which rows a predictor is judged by.
func judgedOn(j *evaluate.Sample) string {
	if !j.Entries {
		return onRows(words.Count(j.Rows, "row"), j.On, "rows")
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
		return "on the test (" + many + ", used for nothing else)"
	case evaluate.OnFolds:
		return "cross-validated (" + many + ")"
	}
	return "on the validation " + what + " (" + many + ")"
}

// without says what stands beside the model: predictions without any feature.
func without(run *Run, j *evaluate.Sample, measure string) string {
	switch {
	case measure == evaluate.AUC, measure == evaluate.BalancedError:
		return "by chance"
	case measure == evaluate.F1:
		return "when every row is called " + positive(run, j)
	case measure == evaluate.Cost:
		return "when every row is called " + positive(run, j) + ", or none, the cheaper of the two"
	case j.Entries:
		return "when every entry gets the mean"
	case run.Source.Wanted.Offset != "":
		return "from a constant and the offset alone"
	case run.Spec.Survival:
		return "when all rows are alike"
	case run.Spec.Name == "quantile":
		return "when every row gets the overall quantile"
	case run.Spec.Classes:
		return "when every row gets the overall rates"
	case run.Spec.Labels && run.logOdds():
		return "when every row gets the overall rate"
	case run.Spec.Labels:
		return "when every row gets the more frequent label"
	}
	return "when every row gets the mean"
}

// headline is the measure that a verdict is about.
func headline(list []evaluate.Metric) evaluate.Metric {
	if slices.Contains([]string{evaluate.AUC, evaluate.BalancedError, evaluate.F1, evaluate.Cost}, list[0].Name) {
		return list[0] // labels do not count alike
	}
	m, by := list[len(list)-1], evaluate.ByName(list)
	for _, name := range []string{evaluate.RMSE, evaluate.ErrorRate, evaluate.Pinball, evaluate.Deviance,
		evaluate.Concordance, evaluate.LogLoss} {
		if known, ok := by[name]; ok {
			m = known
		}
	}
	return m
}

// verdict puts the measures into sentences.
func verdict(run *Run, j *evaluate.Sample, given bool) []string {
	m := headline(j.Metrics)
	text := fmt.Sprintf("%s: %s %s, against %s %s", words.Sentence(judgedOn(j)), measureNames[m.Name],
		words.PlusMinus(m.Value, m.StandardError), words.ToError(m.Base, m.StandardError), without(run, j, m.Name))
	rises := slices.Contains([]string{evaluate.Concordance, evaluate.AUC, evaluate.F1}, m.Name)
	switch change := 100 * (m.Value/m.Base - 1); {
	case !words.Finite(change):
		text += "."
	case rises && change <= 0:
		text += ". The features do not help on these rows."
	case rises:
		text += "; 1 is the best."
	case math.Abs(change) < 0.5:
		text += ": no better. The features do not help on these rows."
	case change < 0:
		text += fmt.Sprintf(": %.0f %% less.", -change)
	default:
		text += fmt.Sprintf(": %.0f %% more. The features do not help on these rows.", change)
	}
	if p, ok := evaluate.ByName(j.Metrics)[evaluate.AveragePrecision]; ok {
		if p.Base <= 0.5 || run.Source.Wanted.Positive != "" {
			text += fmt.Sprintf(" The average precision for %s is %s, and by chance their share, %s.", positive(run, j),
				words.PlusMinus(p.Value, p.StandardError), words.ToError(p.Base, p.StandardError))
		} else {
			text += fmt.Sprintf(" Rows of %s have a share of %s; --positive %[1]s measures how they are found.",
				run.labels(j.Fit)[0], words.Short(1-p.Base))
		}
	}
	plain := "The fit without a penalty"
	if j.LeastSquares() {
		plain = "Least squares, without a penalty,"
	}
	switch {
	case j.Plain != nil && !math.IsNaN(m.Plain):
		text += fmt.Sprintf(" %s has %s.", plain, words.ToError(m.Plain, m.StandardError))
	case j.WhyNotPlain != nil:
		text += fmt.Sprintf(" %s has no answer here: %s.", plain, j.WhyNotPlain)
	}
	list := []string{text}
	if j.Rule != nil {
		list = append(list, decision(run, j))
	}
	if j.On != evaluate.OnTest && !given {
		text := "The hyperparameters were chosen by these rows, so that new rows will be predicted a little worse"
		if j.On == evaluate.OnValidation && j.Rule != nil && j.Rule.Measure != "" {
			text = strings.Replace(text, "were", "and the threshold were", 1)
		}
		if run.Outside == nil && run.Source.CrossValidates() {
			text += " (--nested says how much)"
		}
		list = append(list, text+".")
	}
	return list
}

// positive is the last label.
func positive(run *Run, j *evaluate.Sample) string {
	names := run.labels(j.Fit)
	return names[len(names)-1]
}

// decision says from which threshold on rows are called positive.
func decision(run *Run, j *evaluate.Sample) string {
	score, on := "value", "on the validation rows"
	if run.Spec.Loss != model.Hinge {
		score = "probability"
	}
	if run.Source.CrossValidates() {
		on = "in cross-validation"
	}
	text := fmt.Sprintf("A row is called %s where its %s is above %s", positive(run, j), score, words.Short(j.Threshold))
	if j.Rule.Measure == "" {
		return text + "."
	}
	text += fmt.Sprintf(", the threshold of the %s %s", shortNames[j.Rule.Measure], on)
	if j.On == evaluate.OnFolds {
		text += "; here the rows of each fold are called by that of the other folds"
	}
	return text + "."
}

// qualityTable has the measures.
func qualityTable(run *Run, j *evaluate.Sample) *webpage.Table {
	t := webpage.NewTable("quality", "How good it is on these rows", webpage.Text("measure"), webpage.Number("model"),
		webpage.Number("standard error"), webpage.Number("without features"))
	if j.Plain != nil {
		name := "without penalty"
		if j.LeastSquares() {
			name = "least squares"
		}
		t.Columns = append(t.Columns, webpage.Number(name))
	}
	nested := map[string]evaluate.Metric{}
	if run.Outside != nil && run.Outside.Metrics != nil {
		nested = evaluate.ByName(run.Outside.Metrics)
		t.Columns = append(t.Columns, webpage.Number("nested"))
	}
	for _, m := range j.Metrics {
		name, se := measureNames[m.Name], words.Short(m.StandardError)
		if m.Name == evaluate.Coverage {
			name += fmt.Sprintf(" (%g is right)", run.Options.Level)
		}
		if m.StandardError < 1e-12*math.Abs(m.Value) { // the rounding of one
			se = "0"
		}
		cells := []webpage.Cell{{Text: name}, {Text: words.Fine(m.Value), Strong: true}, {Text: se},
			{Text: words.Fine(m.Base)}}
		if j.Plain != nil {
			cells = append(cells, webpage.Cell{Text: words.Fine(m.Plain)})
		}
		if n, ok := nested[m.Name]; ok {
			cells = append(cells, webpage.Cell{Text: words.Fine(n.Value)})
		}
		t.Add(append(cells, make([]webpage.Cell, len(t.Columns)-len(cells))...)...)
	}
	return t
}

// targetsTable has the measures of several targets, a row for each; nil without.
func targetsTable(targets []evaluate.Sample) *webpage.Table {
	if targets == nil {
		return nil
	}
	first := &targets[0]
	t := webpage.NewTable("quality", "How good it is, "+onRows(words.Count(first.Rows, "row"), first.On, "rows"),
		webpage.Text("target"))
	for _, m := range first.Metrics {
		t.Columns = append(t.Columns, webpage.Number(briefNames[m.Name]), webpage.Column{Title: "s.e.",
			Spoken: "standard error of " + briefNames[m.Name], Number: true})
	}
	t.Columns = append(t.Columns, webpage.Number("RMSE without features"))
	for _, target := range targets {
		cells := []webpage.Cell{{Text: target.Target}}
		for _, m := range target.Metrics {
			cells = append(cells, webpage.Cell{Text: words.Fine(m.Value), Strong: true},
				webpage.Cell{Text: words.Short(m.StandardError)})
		}
		t.Add(append(cells, webpage.Cell{Text: words.Fine(evaluate.ByName(target.Metrics)[evaluate.RMSE].Base)})...)
	}
	return t
}

// searches says whether a method only looks at solutions of the lower level, as all but VF-iDCA do.
func searches(method string) bool {
	return method != tune.MethodVFiDCA && method != tune.MethodVFiDCAT
}

// onPath says that VF-iDCA needed no iterations, as the weights were searched for along a path.
func onPath(r *tune.Result) bool {
	return !searches(r.Method) && len(r.Trace) > 0 &&
		!slices.ContainsFunc(r.Trace, func(e tune.Event) bool { return e.Iterates() })
}

// Progress says how far a run went.
func Progress(r *tune.Result) string {
	switch {
	case searches(r.Method):
		return words.Count(r.Iterations, "evaluation")
	case onPath(r):
		return words.Count(r.Iterations, "fit")
	}
	return words.Count(r.Iterations, "iteration")
}

// methodsTable has the errors of the refits, a line for each method, and where the run is verbose those of its last
// points.
func methodsTable(run *Run) *webpage.Table {
	validation := "validation"
	if run.Source.CrossValidates() {
		validation = trainingRows(run)
	}
	t := webpage.NewTable("errors", words.Sentence(run.Spec.Unit())+" by method", webpage.Text("method"),
		webpage.Number(validation), webpage.Number("test"))
	t.Sortable = len(run.Results) > 1
	if run.Spec.Score != "" {
		t.Columns = append(t.Columns, webpage.Number(run.Spec.Score))
	}
	if run.Verbose {
		t.Columns = append(t.Columns, webpage.Number("iterate, "+validation), webpage.Number("iterate, test"))
	}
	t.Columns = append(t.Columns, webpage.Number("time"), webpage.Text("steps"), webpage.Text("status"))
	cell := func(v *float64) webpage.Cell {
		if v == nil {
			return webpage.Sorted("-", "")
		}
		return webpage.Cell{Text: words.Number(*v)}
	}
	both := func(e *problems.Errors) []webpage.Cell {
		if e == nil {
			return []webpage.Cell{cell(nil), cell(nil)}
		}
		return []webpage.Cell{cell(&e.Validation), cell(e.Test)}
	}
	chosen := evaluate.Best(run.Results)
	for _, r := range run.Results {
		cells := append([]webpage.Cell{{Text: r.Method}}, both(r.Refit)...)
		cells[1].Strong = r == chosen && r.Refit != nil
		if run.Spec.Score != "" {
			cells = append(cells, cell(r.Score))
		}
		if run.Verbose {
			last := &r.Errors
			if r.Iterations == 0 || r.Refit == nil && searches(r.Method) {
				last = nil
			}
			cells = append(cells, both(last)...)
		}
		status := Status(r.Status)
		if r.Status == outcome.Converged && r.Message != "" {
			status += "; " + r.Message
		}
		t.Add(append(cells, webpage.Sorted(words.Seconds(r.TimeSeconds), words.Exact(r.TimeSeconds)),
			webpage.Cell{Text: Progress(r)}, webpage.Cell{Text: status})...)
	}
	return t
}

// describeMethods is that table, with the method of several whose model is taken.
func describeMethods(run *Run) string {
	text := methodsTable(run).String()
	if chosen := evaluate.Best(run.Results); chosen.Refit != nil && len(run.Results) > 1 {
		least := "validation error"
		if chosen.Score != nil {
			least = run.Spec.Score
		}
		text += fmt.Sprintf("The model of %s has the least %s.\n", chosen.Method, least)
	}
	return text
}

// statuses are those that are not as people say them.
var statuses = map[outcome.Stop]string{
	dca.Inaccurate:         "converged, but the last conic solves missed their tolerances,",
	outcome.IterationLimit: "stopped by the iteration limit",
	outcome.TimeLimit:      "stopped by the time limit",
	outcome.Cancelled:      "interrupted",
	dca.LowerInfeasible:    "the lower level became infeasible",
	outcome.NumericalError: "stopped by a numerical error",
}

// Status puts a status into words.
func Status(s outcome.Stop) string { return cmp.Or(statuses[s], string(s)) }

// ended is a status in words, at the end of a clause.
func ended(r *tune.Result) string { return strings.TrimSuffix(Status(r.Status), ",") }

// confusionTable counts labels and predicted labels, or sums up the weights of their rows.
func confusionTable(run *Run, j *evaluate.Sample, fit problems.Fit) *webpage.Table {
	names := run.labels(fit)
	n := j.Confusion(len(names))
	by, each := "", ""
	if j.Weight != nil {
		by = " by the weights of rows"
	}
	if j.Rows != len(j.Y) {
		each = "each row once for each repeat, "
	}
	if j.Rule != nil {
		by += " at a threshold of " + words.Short(j.Threshold)
	}
	t := webpage.NewTable("confusion", "Labels and predicted labels"+by+", "+each+judgedOn(j), webpage.Text("label"))
	for _, name := range names {
		t.Columns = append(t.Columns, webpage.Column{Title: name, Group: "predicted label", Number: true})
	}
	t.Columns = append(t.Columns, webpage.Number("share right"))
	for k, name := range names {
		share, sum := "-", 0.0
		cells := []string{name}
		for _, v := range n[k] {
			text := words.Short(v) // a sum of weights
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
func (run *Run) labels(fit problems.Fit) []string { return words.Each(fit.Labels, run.Rows.Label) }

// DescribeNested is a line about the error of the whole choice.
func DescribeNested(run *Run, n *evaluate.Nested) string {
	unit := run.Spec.Unit()
	if run.Spec.Name == "svm" { // whose errors on rows left out are not those that it is chosen by
		unit = measureNames[evaluate.ErrorRate]
	}
	folds := words.Count(len(n.Folds), "outer fold")
	if len(n.Folds) < n.Of {
		folds = fmt.Sprintf("%d of %d outer folds", len(n.Folds), n.Of)
	}
	return fmt.Sprintf("%s of the whole choice, made anew without each of %s: %s", unit, folds,
		words.PlusMinus(n.Mean, n.StandardError))
}
