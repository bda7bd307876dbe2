package main

import (
	"fmt"

	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/tune"
)

// traceFigure puts errors, penalty, lower gap and step below each other, over the
// time of the run.
func traceFigure(r *tune.Result) figure.Figure {
	var seconds []float64
	column := func(value func(tune.Event) *float64) figure.Line {
		var l figure.Line
		for i, e := range r.Trace {
			if v := value(e); v != nil {
				l.X, l.Y = append(l.X, seconds[i]), append(l.Y, *v)
			}
		}
		return l
	}
	for _, e := range r.Trace {
		seconds = append(seconds, e.Elapsed.Seconds())
	}
	errorOf := func(name string, style int, value func(tune.Event) *float64) figure.Line {
		l := column(value)
		l.Name, l.Style = name, style
		return l
	}
	label := "half mean squared error"
	if spec, err := findModel(r.Model); err == nil && spec.unit != "" {
		label = "error"
	}
	return figure.Figure{
		Title:  fmt.Sprintf("%s by %s: %s after %s", r.Model, r.Method, describeStatus(r.Status), progressOf(r)),
		XLabel: "seconds", XFromZero: true,
		Panels: []figure.Panel{
			{YLabel: label, Lines: []figure.Line{
				errorOf("validation, iterate", 0, func(e tune.Event) *float64 { return &e.Validation }),
				errorOf("validation, refit", 1, func(e tune.Event) *float64 {
					if e.Refit == nil {
						return nil
					}
					return &e.Refit.Validation
				}),
				errorOf("test, iterate", 2, func(e tune.Event) *float64 { return e.Test }),
				errorOf("test, refit", 3, func(e tune.Event) *float64 {
					if e.Refit == nil {
						return nil
					}
					return e.Refit.Test
				}),
			}},
			{YLabel: "penalty alpha (log)", LogY: true, Lines: []figure.Line{column(func(e tune.Event) *float64 { return &e.Alpha })}},
			{YLabel: "lower gap (log)", LogY: true, Lines: []figure.Line{column(func(e tune.Event) *float64 { return &e.Gap })}},
			{YLabel: "relative step (log)", LogY: true, Lines: []figure.Line{column(func(e tune.Event) *float64 { return &e.Step })}},
		},
	}
}
