package paper

import (
	"fmt"
	"math"
	"strings"

	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/words"
)

// mostPlaces is how many places of a horizontal axis are drawn and tabulated.
const mostPlaces = 40

// figuresOf makes the figures of all rows that have records, by [Summary.ID].
func figuresOf(o *Outcome) map[string][]figure.Figure {
	out := map[string][]figure.Figure{}
	for _, s := range Summarise(o.Manifest.Plan, o.Records) {
		for _, r := range s.Rows {
			for _, kind := range kinds {
				f := figure.Figure{ID: "figure-" + s.ID(r) + "-" + kind.name, Caption: words.Sentence(kind.title),
					Title: fmt.Sprintf("%s, %s: %s", s.Table.Title, r.Row.Title, kind.title), XLabel: kind.axis, LogX: kind.logX}
				if draw(&f, &o.Manifest.Plan, &r, &kind); f.Panels != nil {
					out[s.ID(r)] = append(out[s.ID(r)], f)
				}
			}
		}
	}
	return out
}

// kind is one of the figures of a row.
type kind struct {
	name, title, about, axis string
	x                        func(*Point) float64
	logX, logY               bool
	panels                   []panel
}

type panel struct {
	label string
	value reading
}

var kinds = []kind{
	{name: "iterate", title: "errors of the iterate over time",
		about: "Mean errors of the iterate over seconds, on a logarithmic axis", axis: "seconds",
		x: seconds, logX: true, panels: []panel{
			{"validation error", func(p *Point) *float64 { return p.Iterate.Validation }},
			{"test error", func(p *Point) *float64 { return p.Iterate.Test }},
		}},
	{name: "refit", title: "errors of the best refit so far over time",
		about: "Mean errors of the best solution of the lower level so far over seconds, on a logarithmic axis",
		axis:  "seconds", x: seconds, logX: true, panels: []panel{
			{"validation error", func(p *Point) *float64 { return p.Best.Validation }},
			{"test error", func(p *Point) *float64 { return p.Best.Test }},
		}},
	{name: "alpha", title: "penalty parameter of VF-iDCA over its iterations",
		about: "Mean penalty parameter alpha, on a logarithmic axis, over the iterations", axis: "iteration",
		x: iteration, logY: true, panels: []panel{{"alpha (log)", alpha}}},
}

// draw fills in the panels of a figure, whose lines go to the ends of their runs, and what it says.
func draw(f *figure.Figure, p *Plan, r *RowSummary, k *kind) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for at := range r.Lines {
		for _, p := range k.panels {
			if from, to, ok := r.Lines[at].traces.span(k.x, p.value); ok {
				lo, hi = min(lo, from), max(hi, to)
			}
		}
	}
	if math.IsInf(lo, 1) {
		return
	}
	if k.logX {
		f.XLabel += " (log)"
	}
	places := placesOf(lo, hi, mostPlaces, k.logX)
	f.About = k.about + ", one line for each method."
	for n, of := range k.panels {
		drawn := figure.Panel{YLabel: of.label, LogY: k.logY, NoLegend: n > 0}
		var ends []string
		for at := range r.Lines {
			l := &r.Lines[at]
			_, end, ok := l.traces.span(k.x, of.value)
			if !ok {
				continue
			}
			line := figure.Line{Name: name(p, l), Style: style(p, l, at)}
			for _, x := range places {
				if v := l.traces.mean(x, k.x, of.value); !math.IsNaN(v) {
					line.X, line.Y = append(line.X, x), append(line.Y, v)
				}
				if x >= end {
					break
				}
			}
			drawn.Lines = append(drawn.Lines, line)
			ends = append(ends, fmt.Sprintf("%s %.3g", line.Name, line.Y[len(line.Y)-1]))
		}
		f.Panels = append(f.Panels, drawn)
		f.About += fmt.Sprintf(" At the end, %s: %s.", drawn.YLabel, strings.Join(ends, ", "))
	}
}

// name is the label of a line, short enough for a legend.
func name(p *Plan, l *Line) string {
	return strings.Replace(p.Label(l), " (our defaults)", ", ours", 1)
}

// style is that of the method, or, where it has several backends, the number of the line.
func style(p *Plan, l *Line, at int) int {
	if len(p.Backends) == 1 {
		return l.Method.style
	}
	return at
}
