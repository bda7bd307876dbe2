package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/webpage"
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

// describeMethods is the table of several methods, with the last points of the methods where the run is verbose.
func describeMethods(job *tuneJob, results []*tune.Result) string {
	validation := "validation"
	if job.data.CrossValidates() {
		validation = trainingRows(job)
	}
	t := webpage.Table{Columns: []webpage.Column{{Title: "method"}, {Title: validation, Number: true}, {Title: "test", Number: true}}}
	if job.verbose {
		t.Columns = append(t.Columns, webpage.Column{Title: "iterate, " + validation, Number: true}, webpage.Column{Title: "iterate, test", Number: true})
	}
	t.Columns = append(t.Columns, webpage.Column{Title: "time", Number: true}, webpage.Column{Title: "steps"}, webpage.Column{Title: "status"})
	put := func(cells []webpage.Cell, e *tune.Errors) []webpage.Cell {
		both := []webpage.Cell{{Text: "-"}, {Text: "-"}}
		if e != nil {
			if both[0].Text = number(e.Validation); e.Test != nil {
				both[1].Text = number(*e.Test)
			}
		}
		return append(cells, both...)
	}
	for _, r := range results {
		cells := put([]webpage.Cell{{Text: r.Method}}, r.Refit)
		if job.verbose {
			last := &r.Errors
			if r.Iterations == 0 || r.Refit == nil && searches(r.Method) {
				last = nil
			}
			cells = put(cells, last)
		}
		t.Rows = append(t.Rows, webpage.Row{Cells: append(cells, webpage.Cell{Text: seconds(r.TimeSeconds)}, webpage.Cell{Text: progressOf(r)}, webpage.Cell{Text: describeEnd(r)})})
	}
	text := textTable(&t)
	if chosen := evaluate.Best(results); chosen.Refit != nil {
		least := "validation error"
		if chosen.Score != nil {
			least = job.spec.Score
		}
		text += fmt.Sprintf("The model of %s has the least %s.\n", chosen.Method, least)
	}
	return text
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
		XLabel: "seconds" + chosenWords(evaluate.Best(results)), XFromZero: true,
		Panels: []figure.Panel{{YLabel: "best validation error, refit"}, {YLabel: "its test error"}},
	}
	for i, r := range results {
		validation, test := reached(r)
		validation.Name, test.Name, validation.Style, test.Style = r.Method, r.Method, i, i
		f.Panels[0].Lines = append(f.Panels[0].Lines, validation)
		f.Panels[1].Lines = append(f.Panels[1].Lines, test)
	}
	for k, point := range chosenPoints(evaluate.Best(results)) {
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
