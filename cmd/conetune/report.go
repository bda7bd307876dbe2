package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/lower/survival"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// The lengths of the lists in the report.
const (
	mostFeatures        = 12
	mostHyperparameters = 8
)

// describeRun is the report for people; written tells which files there are.
func describeRun(job *tuneJob, split *dataset.Split, results []*tune.Result, written []string) string {
	what := summarize(job, split, results)
	r := what.chosen
	var b strings.Builder
	b.WriteString(wrapped(what.lead))
	for _, text := range what.verdict {
		b.WriteString(wrapped(text))
	}
	if what.quality != nil {
		shown := *what.quality
		shown.Rows = shown.Rows[:min(len(shown.Rows), mostTargets)]
		if what.judged == nil { // of several targets, with no sentence about them
			b.WriteString(wrapped(shown.Caption + "."))
		}
		b.WriteString("\n" + textTable(&shown))
		if rest := len(what.quality.Rows) - mostTargets; rest > 0 {
			fmt.Fprintf(&b, "and %s\n", count(rest, "more target"))
		}
	}
	if r.Refit != nil {
		b.WriteString(wrapped(describeLosses(job, r)))
	}
	if len(results) > 1 {
		b.WriteString("\n" + describeMethods(job, results))
	}
	if r.Refit != nil {
		b.WriteString("\n" + describeChosen(what.choice))
		if t := ladderTable(r); t != nil {
			b.WriteString("\n" + textTable(t))
		}
		b.WriteString("\n" + describeFit(job, r.RefitFit, what.judged))
	}
	b.WriteString("\n" + describeData(job, split))
	made := madeBy(r)
	if len(results) > 1 {
		made = strings.Join(job.methods, ", ") + " on the " + r.Backend + " backend"
		if job.chain {
			made += ", each begun at the choice of the one before"
		}
	}
	if r.Status == dca.Converged && r.Message != "" && len(results) == 1 { // else it is in the note about the status, or the table of methods
		made += ": " + r.Message
	}
	fmt.Fprintf(&b, "made by   %s\n", made)
	if r.Refit != nil {
		fmt.Fprintf(&b, "          the model is trained on %s\n", trainedOn(job, split, r))
	}
	if job.verbose && r.Refit != nil && len(results) == 1 {
		b.WriteString("\n" + describeErrors(job, r) + "\n" + describeHyperparameters(r) + describeUnits(job))
	}
	if len(written) > 0 {
		b.WriteString("\n" + strings.Join(written, "\n") + "\n")
	}
	return b.String()
}

// describeLosses tells the errors that the methods compare, and what else there is to say of the choice.
func describeLosses(job *tuneJob, r *tune.Result) string {
	rows, unit, tested := "rows", job.spec.Unit(), ""
	if job.entries != nil {
		rows = "entries"
	}
	if first, second, two := strings.Cut(unit, " (validation), "); two { // svm
		unit, tested = first, strings.TrimSuffix(second, "(test)")
	}
	on := "on the validation " + rows
	if job.data.CrossValidates() {
		on = "in cross-validation"
	}
	text := sentence(unit) + ", which the methods compare: "
	if job.spec.Score != "" && r.Score != nil {
		text = fmt.Sprintf("%s, by which it is chosen: %s. %s: ", sentence(job.spec.Score), number(*r.Score), sentence(unit))
	}
	text += number(r.Refit.Validation) + " " + on
	if r.Refit.Test != nil {
		text += fmt.Sprintf(", %s%s on the test %s", tested, number(*r.Refit.Test), rows)
	}
	text += "."
	if r.LeastNorm {
		text += " The model can interpolate the training rows; it is the one of least norm."
	}
	return text
}

// describeChosen lists the hyperparameters, the largest first where there are many, with the same model elsewhere.
func describeChosen(c choice) string {
	var b strings.Builder
	shown := c.table
	shown.Rows = shown.Rows[:min(len(shown.Rows), mostHyperparameters)]
	b.WriteString(textTable(&shown))
	if rest := len(c.table.Rows) - mostHyperparameters; rest > 0 {
		fmt.Fprintf(&b, "and %d more, see --json\n", rest)
	}
	if c.note != "" {
		b.WriteString(wrapped(c.note))
	}
	if c.same != nil {
		fmt.Fprintf(&b, "%s elsewhere:\n", c.what)
		for _, s := range c.same {
			fmt.Fprintf(&b, "  %s\n", s.Code)
		}
	}
	return b.String()
}

// describeUnits says what the hyperparameters of a standardised model are about.
func describeUnits(job *tuneJob) string { return unitsOf(job.spec, job.model.Standardize) }

// unitsOf says it of a model.
func unitsOf(spec model.Spec, standardized bool) string {
	switch {
	case standardized && (spec.Labels || spec.LogLink || spec.Survival):
		return "in the units of the standardised features\n"
	case standardized:
		return "in the units of the standardised features and target\n"
	}
	return ""
}

func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.3f s", s)
	}
	return fmt.Sprintf("%.1f s", s)
}

func describeData(job *tuneJob, split *dataset.Split) string {
	if job.entries != nil {
		return describeMatrixData(job)
	}
	_, p := split.Train.Dims()
	var b strings.Builder
	fmt.Fprintf(&b, "data      %s\n", job.data.describe(job.rows))
	var rows []string
	for _, set := range []struct {
		name string
		data *dataset.Data
	}{{trainingRows(job), split.Train}, {"validation", split.Val}, {"test", split.Test}} {
		if set.data != nil {
			n, _ := set.data.Dims()
			rows = append(rows, fmt.Sprintf("%d %s", n, set.name))
		}
	}
	target := "target " + split.Train.Target
	if job.rows.Targets != nil {
		target = "targets " + strings.Join(job.rows.Targets.Names, ", ")
	}
	if name := job.data.Wanted.Weights; name != "" {
		target += ", rows weighed by " + name
	}
	if name := job.data.Wanted.Offset; name != "" {
		target += ", offset " + name
	}
	if job.spec.Survival {
		target += describeEvents(job, split)
	}
	fmt.Fprintf(&b, "          %s; %s rows; %s\n", count(p, "feature"), strings.Join(rows, ", "), target)
	prepared := []string{"features as they are", "no intercept"}
	if job.model.Standardize {
		prepared[0] = "features standardised on the " + trainingRows(job) + " rows"
		of := job.model.Scaling.Of
		if job.spec.Folds {
			of = job.model.Scaling.OfNorm
		}
		switch of(split.Train) {
		case dataset.ByLargest:
			prepared[0] = "features divided by their largest absolute values on the " + trainingRows(job) + " rows"
		case dataset.Together:
			prepared[0] = "features divided by one number"
		}
	}
	if job.model.Intercept {
		prepared[1] = "with intercept"
	} else if job.spec.Survival {
		prepared[1] = job.model.ties + " ties"
	}
	fmt.Fprintf(&b, "          %s\n", strings.Join(prepared, ", "))
	return b.String()
}

// describeEvents counts those of the rows.
func describeEvents(job *tuneJob, split *dataset.Split) string {
	n := 0
	for _, d := range []*dataset.Data{split.Train, split.Val, split.Test} {
		if d != nil {
			n += survival.Events(d.Y)
		}
	}
	text := ", " + count(n, "event")
	if e := job.rows.Encoder; e != nil && e.Event != nil {
		text += " by " + e.Event.Column
	}
	return text
}

// trainingRows names the rows that are not for the test.
func trainingRows(job *tuneJob) string {
	if job.data.CrossValidates() {
		return "cross-validation"
	}
	return "training"
}

func describeErrors(job *tuneJob, r *tune.Result) string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	validation := "validation"
	if job.data.CrossValidates() {
		validation = trainingRows(job)
	}
	fmt.Fprintf(w, "%s\t%s\ttest\n", job.spec.Unit(), validation)
	line := func(name string, e *tune.Errors) {
		if e == nil {
			fmt.Fprintf(w, "%s\t-\t-\n", name)
			return
		}
		test := "-"
		if e.Test != nil {
			test = number(*e.Test)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, number(e.Validation), test)
	}
	line("refit", r.Refit)
	line("iterate", &r.Errors)
	w.Flush()
	if r.Score != nil && slices.ContainsFunc(r.Trace, func(e tune.Event) bool { return e.Score != nil }) {
		fmt.Fprintf(&b, "Chosen by the %s, %s.\n", job.spec.Score, number(*r.Score))
	}
	if r.TrainedOn == tune.FinalFolds {
		b.WriteString("The run was stopped before the model to use could be trained on all rows of the folds: it is the mean of the folds' fits.\n")
	} else if job.data.CrossValidates() {
		tested := "the test error is its"
		if r.Refit == nil || r.Refit.Test == nil {
			tested = "no rows are left to test it (--test, --split; --nested says how good the choice is)"
		}
		fmt.Fprintf(&b, "The model to use is trained on all rows of the folds with the chosen hyperparameters: %s.\n", tested)
		b.WriteString("The refit's validation error is that of the folds' fits with them.\n")
	} else if r.TrainedOn == tune.FinalAll {
		b.WriteString("The refit is the model to use: its test error is that of the fit to training and validation rows with the chosen\n")
		b.WriteString("hyperparameters, its validation error that of the fit to the training rows alone (--final train keeps this one).\n")
	} else {
		b.WriteString("The refit is the model to use: the fit to the training rows with the chosen hyperparameters.\n")
	}
	if searches(r.Method) || math.IsNaN(r.LowerGap) {
		b.WriteString("The method tries fits to the training rows only: its iterate is the best of them.\n")
	} else {
		fmt.Fprintf(&b, "The iterate is the method's last point, which need not be such a fit; the two agree where the lower gap, %.2g, is small (--gap-tol).\n", r.LowerGap)
	}
	if r.LeastNorm {
		b.WriteString("Here the model can interpolate the training rows; the refit is the one of least norm.\n")
	}
	return b.String()
}

// largestFirst are the places of values, in their order, or the largest first where there are many.
func largestFirst(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	if len(order) > mostHyperparameters {
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[j], values[i]) })
	}
	return order
}

// listed is a table of hyperparameters, a line of cells for each of the values, of which the last ones are smaller.
func listed(head string, values []float64, line func(i int) string, smaller string) string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, head)
	order := largestFirst(values)
	for _, i := range order[:min(len(order), mostHyperparameters)] {
		fmt.Fprintln(w, line(i))
	}
	w.Flush()
	if rest := len(order) - mostHyperparameters; rest > 0 {
		fmt.Fprintf(&b, "and %d more %s, see --json\n", rest, smaller)
	}
	return b.String()
}

func describeHyperparameters(r *tune.Result) string {
	return listed("hyperparameter\tlambda\tradius", r.Radii, func(i int) string {
		lambda := "-"
		if i < len(r.Lambda) {
			lambda = number(r.Lambda[i])
		}
		return r.Names[i] + "\t" + lambda + "\t" + number(r.Radii[i])
	}, "with smaller radii") + describeUpper(r)
}

// sameUpper says that there are several hyperparameters that are no radii, all with one value.
func sameUpper(r *tune.Result) bool {
	if r.Selection == nil || len(r.Selection.Upper) < 2 || len(r.Names) != len(r.Radii)+len(r.Selection.Upper) {
		return false
	}
	u := r.Selection.Upper
	return !slices.ContainsFunc(u, func(v float64) bool { return v != u[0] })
}

// describeUpper lists the hyperparameters that are no radii.
func describeUpper(r *tune.Result) string {
	if r.Selection == nil || len(r.Selection.Upper) == 0 {
		return ""
	}
	values, first := r.Selection.Upper, len(r.Radii)
	if sameUpper(r) {
		return fmt.Sprintf("%s to %s, all the same: %s\n", r.Names[first], r.Names[first+len(values)-1], number(values[0]))
	}
	line := func(i int) string { return r.Names[first+i] + "\t" + number(values[i]) }
	return listed("hyperparameter\tvalue", values, line, "that are smaller")
}

// describeFit lists the coefficients that matter.
func describeFit(job *tuneJob, fit tune.Fit, j *evaluate.Judged) string {
	if fit.Matrix != nil {
		return describeMatrix(fit, job.model.Intercept)
	}
	t, note, more := coefficientTable(job, fit, j, mostFeatures)
	if t == nil {
		text := fmt.Sprintf("No feature of %d is in the model.", len(fit.Features))
		if job.model.Intercept {
			text += interceptNote(fit, len(shownTargets(fit)))
		}
		return wrapped(text)
	}
	var b strings.Builder
	b.WriteString(textTable(t))
	if more > 0 {
		fmt.Fprintf(&b, "and %d more of smaller effect; all are in the file of --coefficients\n", more)
	}
	b.WriteString(wrapped(note))
	return b.String()
}

// number writes six significant digits, and a dash for what is no finite number.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf("%.6g", v)
}

// mostTargets bounds the columns of that table.
const mostTargets = 6
