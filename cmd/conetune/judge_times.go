package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/lower/survival"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// addTimes is add for a fit of hazards, whose values compare rows of one fit only.
func (d *judged) addTimes(rows *dataset.Data, f tune.Fit) {
	d.Weight = append(d.Weight, rows.Weights...)
	d.Y, d.Value = append(d.Y, rows.Y...), append(d.Value, predicted(rows, f)...)
	for i := range rows.Y {
		offset := 0.0
		if rows.Offset != nil {
			offset = rows.Offset[i]
		}
		d.Base = append(d.Base, offset)
	}
	d.ends = append(d.ends, len(d.Y))
}

// times are the measures of a fit of hazards: the concordance, over the pairs of rows of one part, and of a single part the deviance for each event.
func (d *judged) times(ties string) []evaluate.Metric {
	from, parts := 0, make([]survival.Part, len(d.ends))
	for k, to := range d.ends {
		parts[k] = survival.Part{Y: d.Y[from:to], F: d.Value[from:to]}
		if d.Weight != nil {
			parts[k].Weights = d.Weight[from:to]
		}
		from = to
	}
	index, se := survival.Concordance(parts...)
	if d.Row != nil { // rows that several deals validate count once
		se *= math.Sqrt(float64(len(d.Row)) / float64(d.rows))
	}
	list := []evaluate.Metric{{Name: evaluate.Concordance, Value: index, StandardError: se, Base: 0.5, Plain: math.NaN()}}
	rule, err := survival.ParseTies(ties)
	if n := survival.Events(d.Y); err == nil && len(parts) == 1 && n > 0 {
		l := survival.New(d.Y, d.Weight, rule)
		at, total := l.At(d.Value, nil), l.Weight()
		losses, weights := at.EventLosses()
		se := 0.0
		if n > 1 {
			se = 2 * regression.StandardError(losses, weights, n)
		}
		list = append(list, evaluate.Metric{Name: evaluate.PartialDeviance, Value: 2 * at.HalfDeviance / total, StandardError: se, Base: 2 * l.HalfDeviance(d.Base) / total, Plain: math.NaN()})
	}
	return list
}

// riskNames are the groups of rows of a figure, by their values.
var riskNames = []string{"low risk", "middle risk", "high risk"}

// riskLines are the shares of rows without an event over time, by thirds of the values among the rows of each part.
func (d *judged) riskLines() []figure.Line {
	groups, weights := make([][]float64, len(riskNames)), make([][]float64, len(riskNames))
	from := 0
	for _, to := range d.ends {
		order := make([]int, to-from)
		for k := range order {
			order[k] = from + k
		}
		slices.SortStableFunc(order, func(a, b int) int { return compareNumbers(d.Value[a], d.Value[b]) })
		for k, i := range order {
			g := k * len(groups) / len(order)
			if groups[g] = append(groups[g], d.Y[i]); d.Weight != nil {
				weights[g] = append(weights[g], d.Weight[i])
			}
		}
		from = to
	}
	var lines []figure.Line
	for g, y := range groups {
		times, share := survival.KaplanMeier(y, weights[g])
		line := figure.Line{Name: riskNames[g], Style: g, X: []float64{0}, Y: []float64{1}}
		for k, t := range times {
			line.X, line.Y = append(line.X, t, t), append(line.Y, line.Y[len(line.Y)-1], share[k])
		}
		lines = append(lines, line)
	}
	return lines
}

// riskTile is a picture of them.
func riskTile(d *judged) []figure.Tile {
	if d == nil {
		return nil
	}
	return []figure.Tile{{Title: "without an event, by thirds of the hazard (orange: highest), " + whereJudged[d.on], XLabel: "time", YLabel: "share", Free: true, Lines: d.riskLines()}}
}

// riskFigure has them on the page.
func riskFigure(d *judged) (webpage.Figure, error) {
	lines := d.riskLines()
	about := "The share of rows without an event over time, by thirds of the predicted hazards:"
	for _, l := range lines {
		about += fmt.Sprintf(" %s ends at %s;", l.Name, short(l.Y[len(l.Y)-1]))
	}
	for k, l := range lines { // a time has one share, the one after it
		var x, y []float64
		for i := range l.X {
			if i+1 == len(l.X) || l.X[i+1] != l.X[i] {
				x, y = append(x, l.X[i]), append(y, l.Y[i])
			}
		}
		lines[k].X, lines[k].Y, lines[k].Steps = x, y, true
	}
	return onPage("risks", "Share of rows without an event over time (Kaplan and Meier), by thirds of the predicted hazards", about[:len(about)-1]+".",
		figure.Figure{Title: "without an event", XLabel: "time", XFromZero: true, PanelHeight: tallPanel, Panels: []figure.Panel{{YLabel: "share without an event", Lines: lines}}})
}
