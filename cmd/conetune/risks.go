package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/figure"
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
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.Value[a], d.Value[b]) })
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
		line := figure.Line{Name: riskNames[g], Style: g, Steps: true, X: []float64{0}, Y: []float64{1}}
		if len(times) > 0 && times[0] == 0 { // a time has one share, the one after it
			line.X, line.Y = nil, nil
		}
		line.X, line.Y = append(line.X, times...), append(line.Y, share...)
		lines = append(lines, line)
	}
	return lines
}

// risksOf is the figure of them, with its words.
func risksOf(d *evaluate.Judged) *drawing {
	lines := riskLines(d)
	about := "The share of rows without an event over time, by thirds of the predicted hazards:"
	for _, l := range lines {
		about += fmt.Sprintf(" %s ends at %s;", l.Name, short(l.Y[len(l.Y)-1]))
	}
	return &drawing{
		id: "risks", caption: "Share of rows without an event over time (Kaplan and Meier), by thirds of the predicted hazards",
		about: about[:len(about)-1] + ".",
		figure: figure.Figure{Title: "without an event", XLabel: "time", XFromZero: true, PanelHeight: tallPanel, Panels: []figure.Panel{
			{YLabel: "share without an event", Lines: lines},
		}},
	}
}
