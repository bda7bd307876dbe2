package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// Nested cross-validation (Stone 1974; Varma and Simon 2006). The validation error of a choice flatters it, as it is the least of many. So the rows are dealt out to outer
// folds, by the design of the folds inside, and for each the whole choice is made anew on the other rows, with all that it learns from them: categories, gaps, units, folds,
// hyperparameters, the final fit. The errors of these models on the rows left out are those of the whole choice.

// nested is what the outer folds gave.
type nested struct {
	unit     string
	of       int // outer folds
	folds    []nestedFold
	stopped  bool
	mean, se float64 // over the folds; NaN without, or for se with one
	metrics  []evaluate.Metric
}

// nestedFold is the choice without an outer fold.
type nestedFold struct {
	Fold   int        `json:"fold"` // from 0
	Rows   int        `json:"rows"` // left out
	Error  float64    `json:"error"`
	Method string     `json:"method"`
	Status dca.Status `json:"status"`

	judged *judged // on the rows left out; nil where there is nothing to say
}

// MarshalJSON writes the field nested of a result.
func (n *nested) MarshalJSON() ([]byte, error) {
	var measures map[string]evaluate.Metric
	if n.metrics != nil {
		measures = byName(n.metrics)
	}
	return json.Marshal(struct {
		Error         *float64                   `json:"error"`
		StandardError *float64                   `json:"standard_error"`
		Metrics       map[string]evaluate.Metric `json:"metrics,omitempty"`
		Of            int                        `json:"of"`
		Folds         []nestedFold               `json:"folds"`
	}{finiteOrNull(n.mean), finiteOrNull(n.se), measures, n.of, n.folds})
}

// describe is a line about the error.
func (n *nested) describe() string {
	folds := count(len(n.folds), "outer fold")
	if len(n.folds) < n.of {
		folds = fmt.Sprintf("%d of %d outer folds", len(n.folds), n.of)
	}
	text := fmt.Sprintf("%s of the whole choice, made anew without each of %s: %s", n.unit, folds, plusMinus(n.mean, n.se))
	if len(n.metrics) == 0 {
		return text
	}
	said := []evaluate.Metric{headline(n.metrics)}
	if first := n.metrics[0]; first.Name != said[0].Name {
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

// outerFold is a choice to be made.
type outerFold struct {
	rows  *input.Rows
	model tune.Model
}

// outerFolds deals the rows out to outer folds, as those inside are dealt.
func (job *tuneJob) outerFolds(o *input.Outer) ([]split.Fold, error) {
	n := job.nested
	if n == input.DefaultFolds { // as many as rows, groups or times allow
		n = 0
	}
	folds, err := job.data.OuterFolds(o, n)
	if err != nil {
		return nil, fmt.Errorf("--nested: %w", err)
	}
	return folds, nil
}

// outer makes the tables and the model of an outer fold.
func (job *tuneJob) outer(o *input.Outer, f split.Fold) (*outerFold, error) {
	rows, err := o.Without(f.Train, f.Val)
	if err == nil {
		err = rows.CV.Validate()
	}
	if err != nil {
		return nil, err
	}
	model, err := job.build(rows)
	if err != nil {
		return nil, err
	}
	for _, method := range job.methods {
		config := job.config
		config.Method = method
		if err := tune.Check(model, config); err != nil {
			return nil, err
		}
	}
	return &outerFold{rows, model}, nil
}

// checkNested finds out before the work whether each outer fold leaves rows for the choice.
func (job *tuneJob) checkNested(ctx context.Context, o *input.Outer) ([]split.Fold, error) {
	folds, err := job.outerFolds(o)
	if err != nil {
		return nil, badInput(err)
	}
	return interruptible(ctx, func() ([]split.Fold, error) {
		for k, f := range folds {
			if _, err := job.outer(o, f); err != nil && o.Grouped() && len(folds) == 2 {
				return nil, badInputf("--nested: without outer fold %d: %w; the choice needs two groups of column %q beside those left out, which --nested alone takes one at a time",
					k, job.rows.Explain(err), job.rows.Division.Group)
			} else if err != nil {
				return nil, badInputf("--nested: without outer fold %d: %w", k, job.rows.Explain(err))
			}
		}
		return folds, nil
	})
}

// runNested makes the choice without each outer fold, several side by side; what is done when the context ends is kept.
func (job *tuneJob) runNested(ctx context.Context, o *input.Outer, folds []split.Fold, show *progress) (*nested, error) {
	var done atomic.Int64
	show.set(func(time.Time) string {
		return fmt.Sprintf("nested cross-validation: %d of %d outer folds", done.Load(), len(folds))
	})
	results, errs := make([]*nestedFold, len(folds)), make([]error, len(folds))
	var reading sync.Mutex // of the tables
	crew.Each(len(folds), runtime.GOMAXPROCS(0), func(k int) {
		if ctx.Err() != nil {
			return
		}
		reading.Lock()
		at, err := job.outer(o, folds[k])
		reading.Unlock()
		if err == nil {
			results[k], err = job.chooseWithout(ctx, at)
		}
		if errs[k] = err; results[k] != nil {
			results[k].Fold, results[k].Rows = k, len(folds[k].Val)
			done.Add(1)
		}
	})
	if k := slices.IndexFunc(errs, func(err error) bool { return err != nil }); k >= 0 && ctx.Err() == nil {
		return nil, failed(fmt.Errorf("--nested: outer fold %d: %w", k, errs[k]))
	}
	unit := job.spec.Unit()
	if job.spec.Name == "svm" { // whose errors on rows left out are not those that it is chosen by
		unit = measureNames[evaluate.ErrorRate]
	}
	n := &nested{unit: unit, of: len(folds), stopped: ctx.Err() != nil}
	var values []float64
	for _, f := range results {
		if f != nil {
			n.folds = append(n.folds, *f)
			values = append(values, f.Error)
		}
	}
	n.measure(job, folds)
	n.mean, n.se = math.NaN(), math.NaN()
	if len(values) > 0 {
		n.mean = stat.Mean(values, nil)
	}
	if len(values) > 1 {
		n.se = stat.StdErr(stat.StdDev(values, nil), float64(len(values)))
	}
	return n, nil
}

// chooseWithout makes the whole choice for an outer fold; nil where the context ended before.
func (job *tuneJob) chooseWithout(ctx context.Context, at *outerFold) (*nestedFold, error) {
	config := job.config
	config.Workers = cmp.Or(config.Workers, 1) // the outer folds are side by side
	results, err := tune.Compare(ctx, at.model, job.methods, job.chain, config)
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	r := best(results)
	if r.Refit == nil || r.Refit.Test == nil {
		return nil, fmt.Errorf("a choice without an outer fold came to no model: %s", describeStatus(r.Status))
	}
	j := job.newJudge(at.rows, at.model)
	return &nestedFold{Error: *r.Refit.Test, Method: r.Method, Status: r.Status, judged: j.of(r)}, nil
}

// measure measures the predictions for all rows that were left out.
func (n *nested) measure(job *tuneJob, folds []split.Fold) {
	all := &judged{}
	for _, f := range n.folds {
		d := f.judged
		if d == nil || all.fit.Labels != nil && !slices.Equal(d.fit.Labels, all.fit.Labels) { // labels that other choices do not know
			return
		}
		all.probability, all.share = append(all.probability, d.probability...), append(all.share, d.share...)
		all.Y, all.Value, all.Base = append(all.Y, d.Y...), append(all.Value, d.Value...), append(all.Base, d.Base...)
		all.Weight = append(all.Weight, d.Weight...)
		all.Plain = append(all.Plain, d.Plain...)
		all.ends, all.rows = append(all.ends, len(all.Y)), len(all.Y)
		all.Row = append(all.Row, folds[f.Fold].Val...)
		all.fit = d.fit
	}
	if len(all.Plain) < len(all.Y) { // a choice has none
		all.Plain = nil
	}
	if len(all.Y) > 0 {
		all.measure(job.newJudge(nil, nil), all.fit)
		n.metrics = all.metrics
	}
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
func (a *app) tellNested(n *nested) int {
	if n == nil {
		return exitDone
	}
	if n.stopped {
		a.note("conetune: --nested: interrupted after %d of %d outer folds", len(n.folds), n.of)
		return exitInterrupted
	}
	ended := func(f nestedFold) bool { return f.Status != dca.Converged }
	if k := slices.IndexFunc(n.folds, ended); k >= 0 {
		a.note("conetune: --nested: outer fold %d: %s", n.folds[k].Fold, describeStatus(n.folds[k].Status))
		return exitUnsolved
	}
	return exitDone
}
