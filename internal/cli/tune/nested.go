package tune

import (
	"context"
	"fmt"
	"slices"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/report"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/table/split"
)

// outerFolds splits the rows into outer folds, by the design of those inside.
func (job *tuneJob) outerFolds(o *input.Outer) ([]split.Fold, error) {
	n := job.nested
	if n == input.DefaultFolds { // as many as rows, groups or times allow
		n = 0
	}
	folds, err := job.Data.OuterFolds(o, n)
	if err != nil {
		return nil, cli.BadInputf("--nested: %w", err)
	}
	return folds, nil
}

// checkNested finds out before the work whether each outer fold leaves rows for the choice.
func (job *tuneJob) checkNested(ctx context.Context, o *input.Outer) ([]split.Fold, error) {
	folds, err := job.outerFolds(o)
	if err != nil {
		return nil, err
	}
	return cli.Interruptible(ctx, func() ([]split.Fold, error) {
		for k, f := range folds {
			_, _, err := job.Without(o, f)
			more := ""
			if o.Grouped() && !o.Timed() && len(folds) == 2 {
				more = fmt.Sprintf(
					"; the choice needs two groups of column %q beside those left out, which --nested alone takes one at a time",
					job.run.Rows.Division.Group)
			}
			if err != nil {
				return nil, cli.BadInputf("--nested: without outer fold %d: %w%s", k, job.run.Rows.Explain(err), more)
			}
		}
		return folds, nil
	})
}

// runNested makes the choice without each outer fold.
func (job *tuneJob) runNested(ctx context.Context, o *input.Outer, folds []split.Fold,
	show *progress) (*evaluate.Nested, error) {
	n, err := job.Nested(ctx, o, folds, show.counted("nested cross-validation", len(folds), "outer folds"))
	if err != nil {
		return nil, cli.Failed(fmt.Errorf("--nested: %w", err))
	}
	return n, nil
}

// tellFewer says that there are fewer outer folds than --nested alone has, as the groups or times are few.
func tellFewer(a *cli.App, job *tuneJob, o *input.Outer, folds int) {
	by := job.run.Rows.Division
	switch {
	case job.nested != input.DefaultFolds || folds >= input.DefaultFolds || by.Fold != "":
	case o.Timed():
		a.Note("--nested: %s, as column %q has no more times", words.Count(folds, "outer fold"), by.Time)
	case o.Grouped():
		a.Note("--nested: %d outer folds, one for each group of column %q", folds, by.Group)
	default:
		a.Note("--nested: %d outer folds, one for each row", folds)
	}
}

// tell says what of the outer folds did not come to its end, and returns the exit status of that.
func tellNested(a *cli.App, n *evaluate.Nested) int {
	if n == nil {
		return cli.ExitDone
	}
	if n.Stopped {
		a.Note("conetune: --nested: interrupted after %d of %d outer folds", len(n.Folds), n.Of)
		return cli.ExitInterrupted
	}
	ended := func(f evaluate.NestedFold) bool { return f.Status != outcome.Converged }
	if k := slices.IndexFunc(n.Folds, ended); k >= 0 {
		a.Note("conetune: --nested: outer fold %d: %s", n.Folds[k].Fold, report.Status(n.Folds[k].Status))
		return cli.ExitUnsolved
	}
	return cli.ExitDone
}
