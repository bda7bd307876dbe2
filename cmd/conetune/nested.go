package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/table/split"
)

// choice is how the hyperparameters are chosen.
func (job *tuneJob) choice() *evaluate.Choice {
	return &evaluate.Choice{Build: job.build, Intercept: job.model.Intercept, Methods: job.methods, Chain: job.chain, Config: job.config}
}

// outerFolds splits the rows into outer folds, by the design of those inside.
func (job *tuneJob) outerFolds(o *input.Outer) ([]split.Fold, error) {
	n := job.nested
	if n == input.DefaultFolds { // as many as rows, groups or times allow
		n = 0
	}
	folds, err := job.data.OuterFolds(o, n)
	if err != nil {
		return nil, badInputf("--nested: %w", err)
	}
	return folds, nil
}

// checkNested finds out before the work whether each outer fold leaves rows for the choice.
func (job *tuneJob) checkNested(ctx context.Context, o *input.Outer) ([]split.Fold, error) {
	folds, err := job.outerFolds(o)
	if err != nil {
		return nil, err
	}
	return interruptible(ctx, func() ([]split.Fold, error) {
		for k, f := range folds {
			_, _, err := job.choice().Without(o, f)
			more := ""
			if o.Grouped() && len(folds) == 2 {
				more = fmt.Sprintf("; the choice needs two groups of column %q beside those left out, which --nested alone takes one at a time", job.rows.Division.Group)
			}
			if err != nil {
				return nil, badInputf("--nested: without outer fold %d: %w%s", k, job.rows.Explain(err), more)
			}
		}
		return folds, nil
	})
}

// runNested makes the choice without each outer fold.
func (job *tuneJob) runNested(ctx context.Context, o *input.Outer, folds []split.Fold, show *progress) (*evaluate.Nested, error) {
	at := func(done int) {
		show.show(0, 0, func(time.Time) string {
			return fmt.Sprintf("nested cross-validation: %d of %d outer folds", done, len(folds))
		})
	}
	at(0)
	n, err := job.choice().Nested(ctx, o, folds, at)
	if err != nil {
		return nil, failed(fmt.Errorf("--nested: %w", err))
	}
	return n, nil
}

// describeNested is a line about the error of the whole choice.
func describeNested(job *tuneJob, n *evaluate.Nested) string {
	unit := job.spec.Unit()
	if job.spec.Name == "svm" { // whose errors on rows left out are not those that it is chosen by
		unit = measureNames[evaluate.ErrorRate]
	}
	folds := count(len(n.Folds), "outer fold")
	if len(n.Folds) < n.Of {
		folds = fmt.Sprintf("%d of %d outer folds", len(n.Folds), n.Of)
	}
	text := fmt.Sprintf("%s of the whole choice, made anew without each of %s: %s", unit, folds, plusMinus(n.Mean, n.StandardError))
	if len(n.Metrics) == 0 {
		return text
	}
	said := []evaluate.Metric{headline(n.Metrics)}
	if first := n.Metrics[0]; first.Name != said[0].Name {
		said = append(said, first)
	}
	for k, m := range said {
		text += []string{"; on all rows left out ", "; "}[k]
		plain := ""
		if !math.IsNaN(m.Plain) {
			plain = ", without penalty " + toError(m.Plain, m.StandardError)
		}
		text += fmt.Sprintf("%s: %s (without features %s%s)", measureNames[m.Name], plusMinus(m.Value, m.StandardError), toError(m.Base, m.StandardError), plain)
	}
	return text
}

// checkNestedFlags rejects --nested where there is nothing to nest.
func (f *tuneFlags) checkNestedFlags(given bool) error {
	switch {
	case !given:
		return nil
	case f.nested < 2:
		return badInputf("--nested is %d, expected at least 2", f.nested)
	case f.data.matrix || f.data.Data == "" || !f.data.CrossValidates():
		return badInputf("--nested goes with the folds of --data FILE")
	case f.data.Wanted.Division.Fold != "" && f.nested != input.DefaultFolds:
		return badInputf("--fold-column %s says how many outer folds there are: give --nested without a number", f.data.Wanted.Division.Fold)
	}
	return nil
}

// tellFewer says that there are fewer outer folds than --nested alone has, as the groups or times are few.
func (a *app) tellFewer(job *tuneJob, o *input.Outer, folds int) {
	by := job.rows.Division
	switch {
	case job.nested != input.DefaultFolds || folds >= input.DefaultFolds || by.Fold != "":
	case o.Grouped():
		a.note("--nested: %d outer folds, one for each group of column %q", folds, by.Group)
	case o.Timed():
		a.note("--nested: %s, as column %q has no more times", count(folds, "outer fold"), by.Time)
	default:
		a.note("--nested: %d outer folds, one for each row", folds)
	}
}

// tell says what of the outer folds did not come to its end, and returns the exit status of that.
func (a *app) tellNested(n *evaluate.Nested) int {
	if n == nil {
		return exitDone
	}
	if n.Stopped {
		a.note("conetune: --nested: interrupted after %d of %d outer folds", len(n.Folds), n.Of)
		return exitInterrupted
	}
	ended := func(f evaluate.NestedFold) bool { return f.Status != dca.Converged }
	if k := slices.IndexFunc(n.Folds, ended); k >= 0 {
		a.note("conetune: --nested: outer fold %d: %s", n.Folds[k].Fold, describeStatus(n.Folds[k].Status))
		return exitUnsolved
	}
	return exitDone
}
