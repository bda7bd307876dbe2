package main

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
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
	var completed *figure.Map
	if r.Refit != nil && r.RefitFit.Matrix != nil {
		completed = heatMap(r.RefitFit.Matrix)
	}
	return figure.Figure{
		Map:    completed,
		Title:  fmt.Sprintf("%s by %s: %s after %s", r.Model, r.Method, describeStatus(r.Status), progressOf(r)),
		XLabel: "seconds" + chosenWords(r), XFromZero: true,
		Panels: []figure.Panel{
			{YLabel: errorAxis(r), Lines: append([]figure.Line{
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
			}, chosenPoints(r)...)},
			{YLabel: "penalty alpha (log)", LogY: true, Lines: []figure.Line{column(func(e tune.Event) *float64 { return &e.Alpha })}},
			{YLabel: "lower gap (log)", LogY: true, Lines: []figure.Line{column(func(e tune.Event) *float64 { return &e.Gap })}},
			{YLabel: "relative step (log)", LogY: true, Lines: []figure.Line{column(func(e tune.Event) *float64 { return &e.Step })}},
		},
	}
}

// chosenPoints are the validation and the test error of the model to use, as the report has them, at the end of the run.
func chosenPoints(r *tune.Result) (points []figure.Line) {
	if r.Refit == nil {
		return nil
	}
	point := func(name string, style int, v *float64) {
		if v != nil && finiteOrNull(*v) != nil {
			points = append(points, figure.Line{Name: name, X: []float64{r.TimeSeconds}, Y: []float64{*v}, Style: style})
		}
	}
	point("validation, chosen", 4, &r.Refit.Validation)
	point("test, chosen", 5, r.Refit.Test)
	return points
}

// chosenWords say on which rows the model of these points is trained.
func chosenWords(r *tune.Result) string {
	switch {
	case r.Refit == nil:
		return ""
	case r.TrainedOn == tune.FinalAll && r.LowerLevel == nil:
		return " (chosen: the model of the report; its test error after training on all rows of the folds)"
	case r.TrainedOn == tune.FinalAll:
		return " (chosen: the model of the report; its test error after training on training and validation rows)"
	}
	return " (chosen: the model of the report)"
}

// errorAxis says in a few words what the errors are.
func errorAxis(r *tune.Result) string {
	spec, _ := model.Find(r.Model)
	unit := spec.Unit()
	if strings.Contains(unit, ",") {
		return "error"
	}
	return strings.Replace(unit, "the mean sq", "mean sq", 1)
}

// whereJudged names the rows of predictions that were judged, in a few words.
var whereJudged = map[string]string{evaluate.OnTest: "test rows", evaluate.OnFolds: "by cross-validation", evaluate.OnValidation: "validation rows"}

// classifierTiles are the ROC curve, of two labels, and the confusion table of a classifier: on the rows that it is judged by, or,
// where there are none, on those that it was trained on.
func classifierTiles(job *tuneJob, split *dataset.Split, r *tune.Result) []figure.Tile {
	fit, where := r.RefitFit, trainingRows(job)+" rows"
	d := job.judge.Of(r)
	if d != nil {
		where = whereJudged[d.On]
	} else {
		d = job.judge.Trained(split.Train, fit)
	}
	var names []string
	for _, v := range fit.Labels {
		names = append(names, job.rows.Label(v))
	}
	title := "confusion, " + where
	if d.Weight != nil {
		title = "confusion by weight, " + where
	}
	confusion := figure.Tile{
		Title: title, XLabel: "predicted label", YLabel: "label",
		Counts: d.Confusion(len(names)), Columns: names, Rows: names,
	}
	if fit.Classes() {
		return []figure.Tile{confusion}
	}
	curve := rocOf(d, names)
	if curve == nil {
		return []figure.Tile{confusion}
	}
	return append(curve.tiles(false, strings.Replace(curve.caption, "ROC curve", "ROC, "+where, 1)), confusion)
}

// roc returns the shares of other rows (x) and of rows of label 1 (y) whose value is above a threshold, for all thresholds,
// and the area below the curve, by the weights of the rows, nil for equal ones. There are rows of both.
func roc(value, label, weight []float64) (x, y []float64, area float64) {
	v, w, positive := slices.Clone(value), slices.Clone(weight), make([]bool, len(label))
	for i, l := range label {
		positive[i] = l == 1
	}
	stat.SortWeightedLabeled(v, positive, w)
	y, x, _ = stat.ROC(nil, v, positive, w)
	return x, y, integrate.Trapezoidal(x, y)
}
