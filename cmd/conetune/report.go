package main

import (
	"fmt"
	"strings"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/webpage"
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

// summary is what is said of a run first, at the terminal and on the page: what was chosen, and how good it is.
type summary struct {
	chosen *tune.Result // the best of the methods
	target string
	judged *evaluate.Judged // nil for several targets, and without rows to judge by
	// lead says what was chosen, and verdict how good it is, in sentences.
	lead    string
	verdict []string
	// quality has the measures; nil without them.
	quality *webpage.Table
	choice  choice
}

func summarize(job *tuneJob, split *dataset.Split, results []*tune.Result) summary {
	r := evaluate.Best(results)
	s := summary{chosen: r, target: split.Train.Target, judged: job.judge.Of(r)}
	if r.RefitFit.Targets != nil && !r.RefitFit.Classes() {
		s.target = joined(r.RefitFit.Targets)
	}
	s.lead = r.Model
	if job.spec.Name == "quantile" {
		s.lead += fmt.Sprintf(" (level %g)", job.model.Level)
	}
	if job.entries == nil {
		s.lead += " for " + s.target
	}
	if r.Refit == nil {
		s.lead += fmt.Sprintf(" by %s: %s after %s, without a model.", r.Method, ended(r), progressOf(r))
		return s
	}
	s.choice = choiceOf(job, r)
	s.lead += ", chosen by " + r.Method
	if s.choice.said != "" {
		s.lead += ": " + s.choice.said
	}
	s.lead += "."
	if r.Status != dca.Converged {
		s.verdict = append(s.verdict, fmt.Sprintf("The run did not end by itself: it was %s. What follows is what it had reached.", ended(r)))
	}
	if s.judged != nil {
		s.verdict = append(s.verdict, verdict(job, s.judged)...)
		s.quality = qualityTable(job, s.judged)
	} else {
		s.quality = targetsTable(job.judge.Targets(r))
	}
	if job.outside != nil {
		s.verdict = append(s.verdict, "Nested cross-validation: "+describeNested(job, job.outside)+".")
	}
	return s
}

// describeRun is the report for people; written tells which files there are.
func describeRun(job *tuneJob, split *dataset.Split, results []*tune.Result, written []string) string {
	what := summarize(job, split, results)
	r := what.chosen
	var b strings.Builder
	for _, text := range append([]string{what.lead}, what.verdict...) {
		b.WriteString(wrapped(text))
	}
	if what.quality != nil {
		shown, rest := what.quality.First(mostTargets)
		if what.judged == nil { // of several targets, with no sentence about them
			b.WriteString(wrapped(shown.Caption + "."))
		}
		b.WriteString("\n" + shown.String())
		if rest > 0 {
			fmt.Fprintf(&b, "and %s\n", count(rest, "more target"))
		}
	}
	if r.Refit != nil {
		b.WriteString(wrapped(describeLosses(job, r)))
	}
	if len(results) > 1 || job.verbose && r.Refit != nil {
		b.WriteString("\n" + describeMethods(job, results))
	}
	if r.Refit != nil {
		if job.verbose && len(results) == 1 {
			b.WriteString(describeIterate(job, r))
		}
		b.WriteString("\n" + what.choice.describe())
		if t := ladderTable(r); t != nil {
			b.WriteString("\n" + t.String())
		}
		b.WriteString("\n" + describeFit(job, r.RefitFit, what.judged))
	}
	b.WriteString("\n" + describeData(job, split))
	made := madeBy(r)
	if len(results) > 1 {
		made = joined(job.methods) + " on the " + r.Backend + " backend"
		if job.chain {
			made += ", each begun at the choice of the one before"
		}
	} else if r.Status == dca.Converged && r.Message != "" { // else it is in the note about the status
		made += ": " + r.Message
	}
	fmt.Fprintf(&b, "made by   %s\n", made)
	if r.Refit != nil {
		fmt.Fprintf(&b, "          the model is trained on %s\n", trainedOn(job, split, r))
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

// describeIterate says what the last point of a method is, with the radii that are largest.
func describeIterate(job *tuneJob, r *tune.Result) string {
	if searches(r.Method) || !finite(r.LowerGap) {
		return wrapped("The method tries fits to the training rows only: its iterate is the best of them.")
	}
	text := wrapped(fmt.Sprintf("The iterate is the method's last point, which need not be a fit to the training rows; the two agree where the lower gap, %.2g, is small (--gap-tol).", r.LowerGap))
	t := webpage.NewTable("", "", webpage.Text("hyperparameter"), webpage.Number("lambda"), webpage.Number("radius"))
	for _, i := range largestFirst(r.Radii) {
		lambda := "-"
		if i < len(r.Lambda) {
			lambda = number(r.Lambda[i])
		}
		t.AddTexts(r.Names[i], lambda, number(r.Radii[i]))
	}
	t, rest := t.First(mostHyperparameters)
	text += "\n" + t.String()
	if rest > 0 {
		text += fmt.Sprintf("and %d more with smaller radii, see --json\n", rest)
	}
	return text
}

// unitsOf says what the hyperparameters of a model are about.
func unitsOf(spec model.Spec, standardized bool) string {
	if !standardized {
		return ""
	}
	return "in the units of the " + standardised(spec) + "\n"
}

// standardised is what a model standardises.
func standardised(spec model.Spec) string {
	if spec.Labels || spec.LogLink || spec.Survival {
		return "standardised features"
	}
	return "standardised features and target"
}

// trainedOn says which rows the model is trained on.
func trainedOn(job *tuneJob, split *dataset.Split, r *tune.Result) string {
	switch {
	case r.TrainedOn == tune.FinalTrain:
		return "the training rows"
	case r.TrainedOn == tune.FinalFolds:
		return "the folds, whose mean it is"
	case split.Test == nil && job.entries == nil:
		return "all rows"
	}
	return "all rows but those of the test"
}

// madeBy says by what a result was made, and how far it went.
func madeBy(r *tune.Result) string {
	return fmt.Sprintf("%s on the %s backend, %s after %s, %s", r.Method, r.Backend, ended(r), progressOf(r), seconds(r.TimeSeconds))
}

func describeData(job *tuneJob, split *dataset.Split) string {
	if job.entries != nil {
		return describeMatrixData(job)
	}
	_, p := split.Train.Dims()
	var rows []string
	events := 0
	for _, set := range []struct {
		name string
		data *dataset.Data
	}{{trainingRows(job), split.Train}, {"validation", split.Val}, {"test", split.Test}} {
		if set.data != nil {
			n, _ := set.data.Dims()
			rows, events = append(rows, fmt.Sprintf("%d %s", n, set.name)), events+survival.Events(set.data.Y)
		}
	}
	target := "target " + split.Train.Target
	if job.rows.Targets != nil {
		target = "targets " + joined(job.rows.Targets.Names)
	}
	if name := job.data.Wanted.Weights; name != "" {
		target += ", rows weighed by " + name
	}
	if name := job.data.Wanted.Offset; name != "" {
		target += ", offset " + name
	}
	if job.spec.Survival {
		target += ", " + count(events, "event")
		if e := job.rows.Encoder; e != nil && e.Event != nil {
			target += " by " + e.Event.Column
		}
	}
	features, constant := "features as they are", "no intercept"
	if job.model.Standardize {
		features = "features standardised on the " + trainingRows(job) + " rows"
		of := job.model.Scaling.Of
		if job.spec.Folds {
			of = job.model.Scaling.OfNorm
		}
		switch of(split.Train) {
		case dataset.ByLargest:
			features = "features divided by their largest absolute values on the " + trainingRows(job) + " rows"
		case dataset.Together:
			features = "features divided by one number"
		}
	}
	if job.model.Intercept {
		constant = "with intercept"
	} else if job.spec.Survival {
		constant = job.model.ties + " ties"
	}
	return fmt.Sprintf("data      %s\n          %s; %s rows; %s\n          %s, %s\n", job.data.describe(job.rows),
		count(p, "feature"), joined(rows), target, features, constant)
}

// trainingRows names the rows that are not for the test.
func trainingRows(job *tuneJob) string {
	if job.data.CrossValidates() {
		return "cross-validation"
	}
	return "training"
}

// describeFit lists the coefficients that matter.
func describeFit(job *tuneJob, fit tune.Fit, j *evaluate.Judged) string {
	if fit.Matrix != nil {
		return describeMatrix(fit, job.model.Intercept)
	}
	t, note, more := coefficientTable(job, fit, j, mostFeatures)
	if t == nil {
		return wrapped(fmt.Sprintf("No feature of %d is in the model.", len(fit.Features)) + interceptNote(job, fit, len(shownTargets(fit))))
	}
	text := t.String()
	if more > 0 {
		text += fmt.Sprintf("and %d more of smaller effect; all are in the file of --coefficients\n", more)
	}
	return text + wrapped(note)
}
