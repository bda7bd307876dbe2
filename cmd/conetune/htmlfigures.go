package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/tune"
)

const (
	// mostPoints bounds the points of a cloud on the page, mostPlaces the rows of a figure's table.
	mostPoints, mostPlaces = 300, 300
	// curvePoints is how many points the curve has to each side of the selection.
	curvePoints = 12
	// calibrationBins is how many bins of equal size the probabilities are in.
	calibrationBins = 10
	tallPanel       = 300 // height in points
)

// drawing is a figure with its words: what it is, and what it says.
type drawing struct {
	id, caption, about string
	figure             figure.Figure
}

// tiles are the panels of a drawing as tiles of another figure, with titles; their axes are free, or from 0 to 1.
func (d *drawing) tiles(free bool, titles ...string) (list []figure.Tile) {
	for k, p := range d.figure.Panels {
		list = append(list, figure.Tile{Title: titles[k], XLabel: d.figure.XLabel, YLabel: p.YLabel, Free: free, Lines: p.Lines})
	}
	return list
}

// onPage are drawings on the page: the picture, what it says in words, and its numbers.
func onPage(list ...*drawing) (figures []webpage.Figure, err error) {
	for _, d := range list {
		if d == nil {
			continue
		}
		f, err := d.onPage()
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// onPage has a row of numbers for each place of a line.
func (d *drawing) onPage() (webpage.Figure, error) {
	id, caption, about, f := d.id, d.caption, d.about, d.figure
	var b bytes.Buffer
	areas, err := f.Draw(&b, "svg")
	if err != nil {
		return webpage.Figure{}, err
	}
	t := webpage.Table{ID: id + "-numbers", Caption: caption + ": numbers", Columns: []webpage.Column{{Title: f.XLabel, Number: true}}}
	var columns []figure.Line
	var places []float64
	groups := []webpage.Group{{Span: 1}}
	for _, a := range areas {
		panel := f.Panels[a.Panel]
		before := len(columns)
		for _, l := range panel.Lines {
			if len(l.X) == 0 || l.Name == "" && len(panel.Lines) > 1 { // an unnamed line is a guide to the eye
				continue
			}
			name := l.Name
			if name == "" {
				name = panel.YLabel
			}
			columns = append(columns, l)
			t.Columns = append(t.Columns, webpage.Column{Title: name, Number: true})
			if l.Error != nil {
				columns = append(columns, figure.Line{X: l.X, Y: l.Error})
				t.Columns = append(t.Columns, webpage.Column{Title: "standard error", Number: true})
			}
			places = append(places, l.X...)
		}
		if n := len(columns) - before; n > 0 {
			groups = append(groups, webpage.Group{Title: panel.YLabel, Span: n})
		}
	}
	if len(areas) > 1 {
		t.Groups = groups
	}
	slices.Sort(places)
	places = thinned(slices.Compact(places), mostPlaces)
	for _, x := range places {
		row := webpage.Row{X: areas[0].X(x), Cells: []webpage.Cell{{Text: fine(x)}}}
		for _, l := range columns {
			text := ""
			if k := slices.Index(l.X, x); k >= 0 {
				text = fine(l.Y[k])
			}
			row.Cells = append(row.Cells, webpage.Cell{Text: text})
		}
		t.Rows = append(t.Rows, row)
	}
	return webpage.Figure{ID: id, Title: caption, Caption: caption, SVG: webpage.SVG(b.String(), id, caption, about+" The numbers are in the table below."), Numbers: t}, nil
}

// thinned takes at most so many of a list, evenly, the ends among them.
func thinned[T any](list []T, most int) []T {
	if len(list) <= most {
		return list
	}
	out := make([]T, most)
	for k := range out {
		out[k] = list[k*(len(list)-1)/(most-1)]
	}
	return out
}

// curve is the validation error around the chosen weights, with bars of one standard error, and the choice; label says what it is over, and scale is the value
// there of the choice.
type curve struct {
	label        string
	scale        float64
	line, chosen figure.Line
}

// curveOf is the curve of a result, nil where there is none.
func curveOf(r *tune.Result) *curve {
	if len(r.Curve) < 2 {
		return nil
	}
	c := &curve{label: "multiple of the chosen weights", scale: 1, line: figure.Line{Name: "mean ± s.e."}, chosen: figure.Line{Name: "chosen", Style: 2, Points: true}}
	if lambda, l1, ok := parametrised(r); ok {
		c.label, c.scale = "lambda", lambda
		if slices.Contains(mixing, r.Model) {
			c.label = "lambda, at l1_ratio " + ratio(l1, 3)
		}
	}
	for _, p := range r.Curve {
		c.line.X, c.line.Y, c.line.Error = append(c.line.X, c.scale*p.Factor), append(c.line.Y, p.Validation), append(c.line.Error, p.StandardError)
		if p.Factor == 1 {
			c.chosen.X, c.chosen.Y = []float64{c.scale}, []float64{p.Validation}
		}
	}
	return c
}

// figure draws the curve.
func (c *curve) figure() figure.Figure {
	return figure.Figure{Title: "validation error", XLabel: c.label, LogX: true, PanelHeight: 240, Panels: []figure.Panel{{YLabel: "validation error", Lines: []figure.Line{c.line, c.chosen}}}}
}

// curveDrawing is the validation error around the chosen weights; nil where there is no curve.
func curveDrawing(job *tuneJob, r *tune.Result) *drawing {
	c := curveOf(r)
	if c == nil {
		return nil
	}
	last := len(c.line.X) - 1
	about := fmt.Sprintf("The validation error from %s %s down to %s, the other hyperparameters in proportion: %s at the largest, %s at the smallest.", c.label, short(c.line.X[0]), short(c.line.X[last]),
		short(c.line.Y[0]), short(c.line.Y[last]))
	if len(c.chosen.X) > 0 {
		about += fmt.Sprintf(" At the choice, %s, it is %s.", short(c.scale), short(c.chosen.Y[0]))
	}
	return &drawing{"curve", "Validation error (" + job.spec.Unit() + ") over " + c.label + ", with bars of one standard error", about, c.figure()}
}

// predictionDrawings are those that fit the model.
func predictionDrawings(job *tuneJob, j *evaluate.Judged, fit tune.Fit) []*drawing {
	switch {
	case fit.Classes(): // the confusion table has it
		return nil
	case fit.Hazard:
		return []*drawing{risksOf(j)}
	case fit.Labels == nil:
		return []*drawing{residualsOf(j)}
	}
	names := []string{job.rows.Label(fit.Labels[0]), job.rows.Label(fit.Labels[1])}
	if job.logOdds() {
		return []*drawing{calibrationOf(j, names[1]), rocOf(j, names)}
	}
	return []*drawing{rocOf(j, names)}
}

// rocOf is the ROC curve; nil where there is one label alone.
func rocOf(j *evaluate.Judged, names []string) *drawing {
	if !slices.Contains(j.Y, 0) || !slices.Contains(j.Y, 1) {
		return nil
	}
	x, y, area := roc(j.Value, j.Y, j.Weight)
	curve := figure.Line{Name: "model"}
	at := make([]int, len(x))
	for k := range at {
		at[k] = k
	}
	for _, k := range thinned(at, mostPlaces) {
		curve.X, curve.Y = append(curve.X, x[k]), append(curve.Y, y[k])
	}
	return &drawing{
		"roc", fmt.Sprintf("ROC curve, area %.3f", area),
		fmt.Sprintf("The share of %s that is found over the share of %s that is called %s, for all thresholds. The diagonal is chance. The area below the curve is %.3f.", names[1], names[0], names[1], area),
		figure.Figure{Title: "ROC curve", XLabel: "share of " + names[0] + " called " + names[1], XFromZero: true, PanelHeight: tallPanel,
			Panels: []figure.Panel{{YLabel: "share of " + names[1] + " found", Lines: []figure.Line{{X: []float64{0, 1}, Y: []float64{0, 1}, Style: 7}, curve}}}},
	}
}

// residualsOf has targets and residuals over predictions.
func residualsOf(j *evaluate.Judged) *drawing {
	order := make([]int, len(j.Y))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(j.Value[a], j.Value[b]) })
	shown := thinned(order, mostPoints)
	actual, residual := figure.Line{Name: "rows", Points: true}, figure.Line{Name: "residuals", Points: true}
	below := 0
	for _, i := range shown {
		f, y := j.Value[i], j.Y[i]
		actual.X, actual.Y = append(actual.X, f), append(actual.Y, y)
		residual.X, residual.Y = append(residual.X, f), append(residual.Y, y-f)
		if y < f {
			below++
		}
	}
	lo, hi := j.Value[order[0]], j.Value[order[len(order)-1]]
	caption := "Targets, and residuals (target minus prediction), over predictions"
	if len(shown) < len(order) {
		caption += fmt.Sprintf(": %d of %d, evenly", len(shown), len(order))
	}
	about := fmt.Sprintf("Predictions from %s to %s. Above, the targets, with the line on which they equal the predictions; below, the residuals, with the line of 0. %d of %d targets are below their predictions.",
		short(lo), short(hi), below, len(shown))
	return &drawing{"residuals", caption, about, figure.Figure{Title: "targets and residuals over predictions", XLabel: "prediction", PanelHeight: 220, Panels: []figure.Panel{
		{YLabel: "target", Lines: []figure.Line{actual, {X: []float64{lo, hi}, Y: []float64{lo, hi}, Style: 2}}},
		{YLabel: "residual", Lines: []figure.Line{residual, {X: []float64{lo, hi}, Y: []float64{0, 0}, Style: 2}}},
	}}}
}

// calibrationOf has the share of the second label over its predicted probability, in bins of equal size.
func calibrationOf(j *evaluate.Judged, label string) *drawing {
	order := make([]int, len(j.Y))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(j.Value[a], j.Value[b]) })
	bins := min(calibrationBins, max(2, len(order)/10))
	line := figure.Line{Name: "share ± s.e."}
	for k := range bins {
		bin := order[k*len(order)/bins : (k+1)*len(order)/bins]
		if len(bin) == 0 {
			continue
		}
		n, p, share := float64(len(bin)), 0.0, 0.0
		total := weightOf(j.Weight, bin)
		for _, i := range bin {
			w := 1 / n
			if j.Weight != nil {
				w = j.Weight[i] / total
			}
			p += w * evaluate.Probability(j.Value[i])
			share += w * j.Y[i]
		}
		line.X, line.Y, line.Error = append(line.X, p), append(line.Y, share), append(line.Error, math.Sqrt(share*(1-share)/n))
	}
	caption := fmt.Sprintf("Calibration: share of %s over its predicted probability, in %d bins of equal size, with bars of one standard error", label, len(line.X))
	about := fmt.Sprintf("In the lowest bin the mean probability is %s and the share %s, in the highest %s and %s. On the diagonal they are equal.",
		short(line.X[0]), short(line.Y[0]), short(line.X[len(line.X)-1]), short(line.Y[len(line.Y)-1]))
	return &drawing{"calibration", caption, about, figure.Figure{Title: "calibration", XLabel: "predicted probability of " + label, XFromZero: true, PanelHeight: tallPanel,
		Panels: []figure.Panel{{YLabel: "share of " + label, Lines: []figure.Line{{X: []float64{0, 1}, Y: []float64{0, 1}, Style: 7}, line}}}}}
}

// weightOf is the sum of the weights of some rows; 0 without weights.
func weightOf(weight []float64, rows []int) (sum float64) {
	if weight == nil {
		return 0
	}
	for _, i := range rows {
		sum += weight[i]
	}
	return sum
}

// traceDrawing shows what the methods had reached when; nil where there is nothing to draw.
func traceDrawing(job *tuneJob, results []*tune.Result) *drawing {
	label, results := overSteps(results)
	about := "Errors and measures of progress over the seconds of the run."
	switch label {
	case stepIteration:
		about = "Errors and measures of progress over the iterations."
	case stepEvaluation:
		about = "The least error so far over the fits."
	}
	f := progressFigure(job, results)
	f.XLabel, f.XFromZero = label, len(results) > 1
	f.Map, f.Tiles = nil, nil
	if !slices.ContainsFunc(f.Panels, func(p figure.Panel) bool {
		return slices.ContainsFunc(p.Lines, func(l figure.Line) bool { return len(l.X) > 0 })
	}) {
		return nil
	}
	return &drawing{"trace", f.Title, about, f}
}
