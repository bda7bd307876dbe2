package main

import (
	"fmt"
	"strings"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
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
		s.target = strings.Join(r.RefitFit.Targets, ", ")
	}
	s.lead = r.Model
	if job.spec.Name == "quantile" {
		s.lead += fmt.Sprintf(" (level %g)", job.model.Level)
	}
	if job.entries == nil {
		s.lead += " for " + s.target
	}
	if r.Refit == nil {
		s.lead += fmt.Sprintf(" by %s: %s after %s, without a model.", r.Method, strings.TrimSuffix(describeStatus(r.Status), ","), progressOf(r))
		return s
	}
	s.choice = choiceOf(job, r)
	s.lead += ", chosen by " + r.Method
	if s.choice.said != "" {
		s.lead += ": " + s.choice.said
	}
	s.lead += "."
	if r.Status != dca.Converged {
		s.verdict = append(s.verdict, fmt.Sprintf("The run did not end by itself: it was %s. What follows is what it had reached.", strings.TrimSuffix(describeStatus(r.Status), ",")))
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

// trainedOn says which rows the model is trained on.
func trainedOn(job *tuneJob, split *dataset.Split, r *tune.Result) string {
	all := "all rows but those of the test"
	if split.Test == nil && job.entries == nil {
		all = "all rows"
	}
	return map[string]string{tune.FinalTrain: "the training rows", tune.FinalAll: all, tune.FinalFolds: "the folds, whose mean it is"}[r.TrainedOn]
}

// madeBy says by what a result was made, and how far it went.
func madeBy(r *tune.Result) string {
	return fmt.Sprintf("%s on the %s backend, %s after %s, %s", r.Method, r.Backend, strings.TrimSuffix(describeStatus(r.Status), ","), progressOf(r), seconds(r.TimeSeconds))
}
