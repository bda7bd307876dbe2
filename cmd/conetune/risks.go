package main

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/lower/survival"
)

// riskNames are the groups of rows of a figure, by their values.
var riskNames = []string{"low risk", "middle risk", "high risk"}

// riskLines are the shares of rows without an event over time, by thirds of the values among the rows of each part.
func riskLines(d *evaluate.Judged) []figure.Line {
	groups, weights := make([][]float64, len(riskNames)), make([][]float64, len(riskNames))
	from := 0
	for _, to := range d.Ends {
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
func riskTile(d *evaluate.Judged) []figure.Tile {
	if d == nil {
		return nil
	}
	return []figure.Tile{{Title: "without an event, by thirds of the hazard (orange: highest), " + whereJudged[d.On], XLabel: "time", YLabel: "share", Free: true, Lines: riskLines(d)}}
}

// riskFigure has them on the page.
func riskFigure(d *evaluate.Judged) (webpage.Figure, error) {
	lines := riskLines(d)
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
