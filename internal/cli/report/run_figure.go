package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/tune"
)

// Trace is what --plot-trace draws: how the run went, of one method with the paths of the coefficients.
func Trace(run *Run) figure.Figure {
	f := progressFigure(run)
	r := run.Results[0]
	if len(run.Results) > 1 || run.Rows.Split.Train == nil || r.RefitFit.Matrix != nil {
		return f
	}
	label := "coefficients x s.d., refit"
	switch {
	case r.RefitFit.Classes():
		label = "norms over labels, refit"
	case r.RefitFit.Targets != nil:
		label = "norms over targets, refit"
	case run.Groups != nil:
		label = "norms of groups, refit"
	}
	var fits []problems.Fit
	var x []float64
	for k, e := range r.Trace {
		if e.Fit != nil {
			fits, x = append(fits, *e.Fit), append(x, float64(k+1))
		}
	}
	if p := newPaths(x, fits, len(fits)-1, run.deviations(), run.Groups); p != nil {
		f.Panels = append(f.Panels, p.panel(label))
	}
	return f
}

// progressFigure shows how a run went: of VF-iDCA errors, penalty, gap and step over its iterations, of a search the
// best errors over its evaluations, of several methods over the seconds, which are alike for all.
func progressFigure(run *Run) figure.Figure {
	r := run.Results[0]
	note := chosenWords(evaluate.Best(run.Results))
	if len(run.Methods) == 1 && !searches(run.Methods[0]) {
		f := traceFigure(r)
		f.XLabel += note
		return f
	}
	f := figure.Figure{
		Title:  fmt.Sprintf("%s by %s: least errors so far", r.Model, words.Joined(run.Methods)),
		XLabel: "seconds" + note, XFromZero: true,
		Panels: []figure.Panel{{YLabel: "best validation error, refit"}, {YLabel: "its test error"}},
	}
	if len(run.Results) == 1 {
		f.XLabel = "evaluation" + note
	}
	for i, r := range run.Results {
		validation, test := reached(r, len(run.Results) == 1)
		validation.Name, test.Name, validation.Style, test.Style = r.Method, r.Method, i, i
		f.Panels[0].Lines = append(f.Panels[0].Lines, validation)
		f.Panels[1].Lines = append(f.Panels[1].Lines, test)
	}
	best := evaluate.Best(run.Results)
	end := best.TimeSeconds
	if len(run.Results) == 1 {
		end = float64(len(r.Trace))
	}
	for k, point := range chosenPoints(best, end) {
		point.Name, point.Style = "chosen", len(run.Results)
		f.Panels[k].Lines = append(f.Panels[k].Lines, point)
	}
	return f
}

// reached is, over the evaluations or the time of a run, the validation error of the best refit so far, and the test
// error of that refit; at the end those of the report, whose model may be trained on more rows.
func reached(r *tune.Result, steps bool) (validation, test figure.Line) {
	at := func(k int) float64 {
		if steps {
			return float64(k + 1)
		}
		return r.Trace[k].Elapsed.Seconds()
	}
	order := indices.Range(0, len(r.Trace)) // of several workers, by time
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at(a), at(b)) })
	add := func(x float64, e *problems.Errors) {
		if e != nil {
			validation.X, validation.Y = append(validation.X, x), append(validation.Y, e.Validation)
		}
		if e != nil && e.Test != nil {
			test.X, test.Y = append(test.X, x), append(test.Y, *e.Test)
		}
	}
	least, end := math.Inf(1), r.TimeSeconds
	for _, k := range order {
		if v := r.Trace[k].Value(); v < least {
			least = v
			add(at(k), r.Trace[k].Refit)
		}
		if steps {
			end = at(k)
		}
	}
	add(end, r.Refit)
	validation.Steps, test.Steps = true, true
	return validation, test
}

// traceFigure puts errors, penalty, lower gap and step below each other, over the iterations.
func traceFigure(r *tune.Result) figure.Figure {
	column := func(name string, style int, value func(tune.Event) *float64) figure.Line {
		l := figure.Line{Name: name, Style: style}
		for k, e := range r.Trace {
			if v := value(e); v != nil {
				l.X, l.Y = append(l.X, float64(k+1)), append(l.Y, *v)
			}
		}
		return l
	}
	refit := func(of func(*problems.Errors) *float64) func(tune.Event) *float64 {
		return func(e tune.Event) *float64 {
			if e.Refit == nil {
				return nil
			}
			return of(e.Refit)
		}
	}
	f := figure.Figure{
		Title:  fmt.Sprintf("%s by %s: %s after %s", r.Model, r.Method, Status(r.Status), Progress(r)),
		XLabel: "iteration", XFromZero: true,
		Panels: []figure.Panel{{YLabel: errorAxis(r), Lines: append([]figure.Line{
			column("validation, iterate", 0, func(e tune.Event) *float64 { return &e.Validation }),
			column("validation, refit", 1, refit(func(e *problems.Errors) *float64 { return &e.Validation })),
			column("test, iterate", 2, func(e tune.Event) *float64 { return e.Test }),
			column("test, refit", 3, refit(func(e *problems.Errors) *float64 { return e.Test })),
		}, chosenPoints(r, float64(len(r.Trace)))...)}},
	}
	f.Below = matrixFigure(r)
	for _, p := range []struct {
		label string
		value func(tune.Event) *float64
	}{
		{"penalty alpha (log)", func(e tune.Event) *float64 { return &e.Alpha }},
		{"lower gap (log)", func(e tune.Event) *float64 { return &e.Gap }},
		{"relative step (log)", func(e tune.Event) *float64 { return &e.Step }},
	} {
		f.Panels = append(f.Panels, figure.Panel{YLabel: p.label, LogY: true, Lines: []figure.Line{column("", 0, p.value)}})
	}
	return f
}

// chosenPoints are the validation and the test error of the model to use, as the report has them, at the end of the
// run.
func chosenPoints(r *tune.Result, end float64) (points []figure.Line) {
	if r.Refit == nil {
		return nil
	}
	point := func(name string, style int, v *float64) {
		if v != nil && words.Finite(*v) {
			points = append(points, figure.Line{Name: name, X: []float64{end}, Y: []float64{*v}, Style: style})
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

// traceOnPage shows what the methods had reached when; nil where there is nothing to draw.
func traceOnPage(run *Run) []*figure.Figure {
	f := progressFigure(run)
	f.ID, f.Caption, f.About = "trace", f.Title, "Errors and measures of progress over the seconds of the run."
	switch {
	case len(run.Results) > 1:
	case searches(run.Results[0].Method):
		f.About = "The least error so far over the fits."
	default:
		f.About = "Errors and measures of progress over the iterations."
	}
	f.XLabel, _, _ = strings.Cut(f.XLabel, " (")
	f.XFromZero, f.Below = len(run.Results) > 1, nil
	if !slices.ContainsFunc(f.Panels, func(p figure.Panel) bool {
		return slices.ContainsFunc(p.Lines, func(l figure.Line) bool { return len(l.X) > 0 })
	}) {
		return nil
	}
	return []*figure.Figure{&f}
}
