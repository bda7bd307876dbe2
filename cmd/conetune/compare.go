package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

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
