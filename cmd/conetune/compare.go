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
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

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

// best is the result whose refit has the least validation error, or score where the model has one, the first of equals; that without a
// refit only where there is no other.
func best(results []*tune.Result) *tune.Result {
	return slices.MinFunc(results, func(a, b *tune.Result) int { return cmp.Compare(a.Value(), b.Value()) })
}

// describeComparison is the table of several methods, followed by the choice of the best.
func describeComparison(job *tuneJob, split *dataset.Split, results []*tune.Result, written []string) string {
	chosen := best(results)
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s by %s on the %s backend%s\n\n", chosen.Model, strings.Join(job.methods, ", "), chosen.Backend, map[bool]string{true: ", each begun at the choice of the one before"}[job.chain])
	b.WriteString(describeData(job, split))
	fmt.Fprintf(&b, "\n%s\n\n", job.spec.errorUnit())
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprint(w, "\t\t\trefit\t\titerate\t\n")
	fmt.Fprint(w, "method\ttime\tsteps\tvalidation\ttest\tvalidation\ttest\tstatus\n")
	for _, r := range results {
		row := []string{r.Method, seconds(r.TimeSeconds), progressOf(r), "-", "-", "-", "-", describeEnd(r)}
		put := func(at int, e *tune.Errors) {
			row[at] = number(e.Validation)
			if e.Test != nil {
				row[at+1] = number(*e.Test)
			}
		}
		if r.Refit != nil {
			put(3, r.Refit)
		}
		if r.Iterations > 0 && (r.Refit != nil || !searches(r.Method)) {
			put(5, &r.Errors)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush()
	if chosen.Refit != nil {
		least := "validation error"
		if chosen.Score != nil {
			least = job.spec.score
		}
		fmt.Fprintf(&b, "\nThe refit of %s has the least %s:\n", chosen.Method, least)
		b.WriteString("\n" + describeHyperparameters(chosen) + describeUnits(job))
		b.WriteString("\n" + describeFit(split, chosen.RefitFit, job.scaling.intercept, job.data.label))
	}
	if job.outside != nil {
		fmt.Fprintf(&b, "\nNested cross-validation: %s\n", job.outside.describe())
	}
	if len(written) > 0 {
		b.WriteString("\n" + strings.Join(written, "\n") + "\n")
	}
	return b.String()
}

// describeEnd puts a status into words, with the message where nothing else tells it.
func describeEnd(r *tune.Result) string {
	text := describeStatus(r.Status)
	if r.Status == dca.Converged && r.Message != "" {
		text += "; " + r.Message
	}
	return text
}

// resultFigure is the trace of VF-iDCA with the paths of the coefficients, or for searches and several methods what each had reached when.
func resultFigure(job *tuneJob, split *dataset.Split, results []*tune.Result) figure.Figure {
	f := progressFigure(job, results)
	if len(results) == 1 && split.Train != nil && results[0].RefitFit.Matrix == nil {
		f.Panels = append(f.Panels, pathPanel(split, job.groupsOfModel, results[0]))
	}
	return f
}

// progressFigure shows the run over time.
func progressFigure(job *tuneJob, results []*tune.Result) figure.Figure {
	if len(job.methods) == 1 && !searches(job.methods[0]) {
		return traceFigure(results[0])
	}
	f := figure.Figure{
		Title:  fmt.Sprintf("%s by %s", results[0].Model, strings.Join(job.methods, ", ")),
		XLabel: "seconds" + chosenWords(best(results)), XFromZero: true,
		Panels: []figure.Panel{{YLabel: "best validation error, refit"}, {YLabel: "its test error"}},
	}
	for i, r := range results {
		validation, test := reached(r)
		validation.Name, test.Name, validation.Style, test.Style = r.Method, r.Method, i, i
		f.Panels[0].Lines = append(f.Panels[0].Lines, validation)
		f.Panels[1].Lines = append(f.Panels[1].Lines, test)
	}
	for k, point := range chosenPoints(best(results)) {
		point.Name, point.Style = "chosen", len(results)
		f.Panels[k].Lines = append(f.Panels[k].Lines, point)
	}
	return f
}

// reached is, in steps over the time of the run, the validation error of the best refit so far, and the test error
// of that refit; at the end those of the report, whose model may be trained on more rows.
func reached(r *tune.Result) (validation, test figure.Line) {
	events := slices.Clone(r.Trace)
	slices.SortStableFunc(events, func(a, b tune.Event) int { return cmp.Compare(a.Elapsed, b.Elapsed) })
	var have *tune.Errors
	least := math.Inf(1)
	step := func(at float64, next *tune.Errors) {
		put := func(l *figure.Line, of func(*tune.Errors) *float64) {
			for _, e := range []*tune.Errors{have, next} {
				if e != nil && of(e) != nil {
					l.X, l.Y = append(l.X, at), append(l.Y, *of(e))
				}
			}
		}
		put(&validation, func(e *tune.Errors) *float64 { return &e.Validation })
		put(&test, func(e *tune.Errors) *float64 { return e.Test })
		if next != nil {
			have = next
		}
	}
	for _, e := range events {
		if v := e.Value(); v < least {
			least = v
			step(e.Elapsed.Seconds(), e.Refit)
		}
	}
	step(r.TimeSeconds, r.Refit)
	return validation, test
}
