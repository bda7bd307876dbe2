// Package report says what a run of conetune tune chose and how good it is: as text, as a page, and in figures.
package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// The lengths of the lists in the report.
const (
	mostFeatures        = 12
	MostHyperparameters = 8
)

// Run is a run of conetune tune that is to be reported.
type Run struct {
	Spec    model.Spec
	Options *model.Options
	Source  *input.Source
	From    string // where the rows come from, in a few words
	*evaluate.Choice
	Verbose   bool
	Rows      *input.Rows
	Entries   *matcomp.Data    // of a matrix; nil for rows
	Groups    *groups.Groups   // of features; nil without
	Results   []*tune.Result   // of the methods
	Judge     *evaluate.Judge  // of predictors
	Outside   *evaluate.Nested // the error by outer folds; nil without --nested
	Bootstrap *evaluate.Bootstrap
	Covered   *evaluate.Covered // by intervals of [IntervalLevel] on the test rows; nil without
	Settings  []byte            // for --config
}

// logOdds says that the values of the classifier are log odds, so that it has probabilities.
func (run *Run) logOdds() bool { return run.Spec.Loss == model.Logistic }

// summary is what is said of a run first, at the terminal and on the page: what was chosen, and how good it is.
type summary struct {
	chosen *tune.Result // the best of the methods
	target string
	judged *evaluate.Sample // nil for several targets, and without rows to judge by
	// Lead says what was chosen, and Verdict how good it is, in sentences.
	Lead    string
	Verdict []string
	// Quality has the measures; nil without them.
	Quality *webpage.Table
	Choice  choice
}

func summarize(run *Run) summary {
	r := evaluate.Best(run.Results)
	s := summary{chosen: r, target: run.Rows.Split.Train.Target, judged: run.Judge.Of(r)}
	if r.RefitFit.Targets != nil && !r.RefitFit.Classes() {
		s.target = words.Joined(r.RefitFit.Targets)
	}
	s.Lead = r.Model
	if run.Spec.Name == "quantile" {
		s.Lead += fmt.Sprintf(" (level %g)", run.Options.Level)
	}
	if run.Entries == nil {
		s.Lead += " for " + s.target
	}
	if r.Refit == nil {
		s.Lead += fmt.Sprintf(" by %s: %s after %s, without a model.", r.Method, ended(r), Progress(r))
		return s
	}
	s.Choice = choiceOf(run, r)
	if r.Given {
		s.Lead += ", with the weights given"
	} else {
		s.Lead += ", chosen by " + r.Method
	}
	if s.Choice.said != "" {
		s.Lead += ": " + s.Choice.said
	}
	s.Lead += "."
	if r.Status != outcome.Converged {
		s.Verdict = append(s.Verdict,
			fmt.Sprintf("The run did not end by itself: it was %s. What follows is what it had reached.", ended(r)))
	}
	if s.judged != nil {
		s.Verdict = append(s.Verdict, verdict(run, s.judged, r.Given)...)
		s.Quality = qualityTable(run, s.judged)
	} else {
		s.Quality = targetsTable(run.Judge.Targets(r))
	}
	if run.Covered != nil {
		s.Verdict = append(s.Verdict, describeIntervals(run.Covered))
	}
	if run.Bootstrap != nil {
		s.Verdict = append(s.Verdict, describeBootstrap(run, r))
	}
	if run.Outside != nil {
		s.Verdict = append(s.Verdict, "Nested cross-validation: "+DescribeNested(run, run.Outside)+".")
	}
	return s
}

// Text is the report for people; written tells which files there are.
func Text(run *Run, written []string) string {
	what := summarize(run)
	r, several := what.chosen, len(run.Results) > 1
	var b strings.Builder
	for _, text := range append([]string{what.Lead}, what.Verdict...) {
		b.WriteString(words.Wrapped(text))
	}
	if what.Quality != nil {
		shown, rest := what.Quality, 0
		if what.judged == nil { // of several targets, with no sentence about them
			shown, rest = shown.First(mostFeatures / 2)
			b.WriteString(words.Wrapped(shown.Caption + "."))
		}
		b.WriteString("\n" + shown.String())
		if rest > 0 {
			fmt.Fprintf(&b, "and %s\n", words.Count(rest, "more target"))
		}
	}
	if r.Refit != nil {
		b.WriteString(words.Wrapped(describeLosses(run, r)))
	}
	if several || run.Verbose && r.Refit != nil {
		b.WriteString("\n" + describeMethods(run))
	}
	if r.Refit != nil {
		if run.Verbose && !several {
			b.WriteString(describeIterate(run, r))
		}
		b.WriteString("\n" + what.Choice.describe())
		if t := ladderTable(r); t != nil {
			b.WriteString("\n" + t.String())
		}
		b.WriteString("\n" + describeFit(run, r.RefitFit, what.judged))
	}
	b.WriteString("\n" + describeData(run))
	made := madeBy(r)
	if several {
		made = words.Joined(run.Methods) + " on the " + r.Backend + " backend"
		if run.Chain {
			made += ", each begun at the choice of the one before"
		}
	} else if r.Status == outcome.Converged && r.Message != "" { // else it is in the note about the status
		made += ": " + r.Message
	}
	fmt.Fprintf(&b, "made by   %s\n", strings.ReplaceAll(strings.TrimSuffix(words.Wrapped(made), "\n"), "\n",
		"\n          "))
	if r.Refit != nil {
		fmt.Fprintf(&b, "          the model is trained on %s\n", trainedOn(run, r))
	}
	if len(written) > 0 {
		b.WriteString("\n" + strings.Join(written, "\n") + "\n")
	}
	return b.String()
}

// describeLosses tells the errors that the methods compare, and what else there is to say of the choice.
func describeLosses(run *Run, r *tune.Result) string {
	rows, unit, tested := "rows", run.Spec.Unit(), ""
	if run.Entries != nil {
		rows = "entries"
	}
	if first, second, two := strings.Cut(unit, " (validation), "); two { // svm
		unit, tested = first, strings.TrimSuffix(second, "(test)")
	}
	on := "on the validation " + rows
	if run.Source.CrossValidates() {
		on = "in cross-validation"
	}
	text := words.Sentence(unit) + ", which the methods compare: "
	if run.Spec.Score != "" && r.Score != nil {
		text = fmt.Sprintf("%s, by which it is chosen: %s. %s: ", words.Sentence(run.Spec.Score), words.Number(*r.Score),
			words.Sentence(unit))
	}
	text += words.Number(r.Refit.Validation) + " " + on
	if r.Refit.Test != nil {
		text += fmt.Sprintf(", %s%s on the test %s", tested, words.Number(*r.Refit.Test), rows)
	}
	text += "."
	if r.LeastNorm {
		text += " The model can interpolate the training rows; it is the one of least norm."
	}
	return text
}

// describeIterate says what the last point of a method is, with the radii that are largest.
func describeIterate(run *Run, r *tune.Result) string {
	if searches(r.Method) || !words.Finite(r.LowerGap) {
		return words.Wrapped("The method tries fits to the training rows only: its iterate is the best of them.")
	}
	text := words.Wrapped(fmt.Sprintf("The iterate is the method's last point, which need not be a fit to the training "+
		"rows; the two agree where the lower gap, %.2g, is small (--gap-tol).", r.LowerGap))
	t := webpage.NewTable("", "", webpage.Text("hyperparameter"), webpage.Number("lambda"), webpage.Number("radius"))
	for _, i := range largestFirst(r.Radii) {
		lambda := "-"
		if i < len(r.Lambda) {
			lambda = words.Number(r.Lambda[i])
		}
		t.AddTexts(r.Names[i], lambda, words.Number(r.Radii[i]))
	}
	t, rest := t.First(MostHyperparameters)
	return text + "\n" + t.String() + words.Rest(rest, "and %d more with smaller radii, see --json\n")
}

// UnitsOf says what the hyperparameters of a model are about.
func UnitsOf(spec model.Spec, standardized bool) string {
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
func trainedOn(run *Run, r *tune.Result) string {
	switch split := run.Rows.Split; {
	case r.TrainedOn == tune.FinalTrain:
		return "the training rows"
	case r.TrainedOn == tune.FinalFolds:
		return "the folds, whose mean it is"
	case split.Val != nil:
		return "the training and validation rows"
	case split.Test == nil:
		return "all rows"
	}
	return "all rows but those of the test"
}

// madeBy says by what a result was made, and how far it went.
func madeBy(r *tune.Result) string {
	how := ended(r) + " after " + Progress(r)
	if onPath(r) && r.Status == outcome.Converged {
		how = "searched along a path (" + Progress(r) + ")"
	}
	return fmt.Sprintf("%s on the %s backend, %s, %s", r.Method, r.Backend, how, words.Seconds(r.TimeSeconds))
}

func describeData(run *Run) string {
	split := run.Rows.Split
	_, p := split.Train.Dims()
	var rows []string
	events := 0
	for _, set := range []struct {
		name string
		data *dataset.Data
	}{{trainingRows(run), split.Train}, {"validation", split.Val}, {"test", split.Test}} {
		if set.data != nil {
			n, _ := set.data.Dims()
			rows, events = append(rows, fmt.Sprintf("%d %s", n, set.name)), events+survival.Events(set.data.Y)
		}
	}
	target := "target " + split.Train.Target
	if split.Train.Targets != nil {
		target = "targets " + words.Joined(split.Train.NamesOfTargets())
	}
	if name := run.Source.Wanted.Weights; name != "" {
		target += ", rows weighed by " + name
	}
	if name := run.Source.Wanted.Offset; name != "" {
		target += ", offset " + name
	}
	if _, classes, _ := run.Options.Weighed(run.Rows); classes != nil {
		target += ", labels weighed by " + words.Numbers(classes)
	}
	if run.Spec.Survival {
		target += ", " + words.Count(events, "event")
		if e := run.Rows.Encoder; e != nil && e.Event != nil {
			target += " by " + e.Event.Column
		}
	}
	what := fmt.Sprintf("%s; %s rows; %s", words.Count(p, "feature"), words.Joined(rows), target)
	features, constant := "features as they are", "no intercept"
	if run.Entries != nil {
		what, features = describeSides(run.Entries, words.Joined(rows)), "values as they are"
	}
	switch {
	case !run.Options.Standardize:
	case run.Entries != nil:
		features = "values standardised on the training entries, features on all rows and columns"
	default:
		features = "features standardised on the " + trainingRows(run) + " rows"
		scaling := run.Options.Scaling
		if run.Spec.Folds {
			scaling = cmp.Or(scaling, dataset.ByNorm)
		}
		of := scaling.Of(split.Train)
		switch of {
		case dataset.ByLargest:
			features = "features divided by their largest absolute values on the " + trainingRows(run) + " rows"
		case dataset.Together:
			features = "features divided by one number"
		}
		if of != scaling && of != dataset.ByDeviation && len(split.Train.Full()) > 0 {
			features += ", those without zeros standardised"
		}
	}
	if run.Options.Intercept {
		constant = "with intercept"
	} else if run.Spec.Survival {
		constant = run.Options.Ties + " ties"
	}
	return fmt.Sprintf("data      %s\n          %s\n          %s, %s\n", run.From, what, features, constant)
}

// trainingRows names the rows that are not for the test.
func trainingRows(run *Run) string {
	if run.Source.CrossValidates() {
		return "cross-validation"
	}
	return "training"
}

// describeFit lists the coefficients that matter.
func describeFit(run *Run, fit problems.Fit, j *evaluate.Sample) string {
	if fit.Matrix != nil {
		return describeMatrix(fit, run.Options.Intercept)
	}
	t, note, more := coefficientTable(run, fit, j, mostFeatures)
	if t == nil {
		return words.Wrapped(fmt.Sprintf("No feature of %d is in the model.", len(fit.Features)) + interceptNote(run, fit))
	}
	return t.String() + words.Rest(more, "and %d more of smaller effect; all are in the file of --coefficients\n") +
		words.Wrapped(note)
}
