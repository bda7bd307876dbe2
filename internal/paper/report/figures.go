package report

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/paper"
	"github.com/conetune/conetune/internal/webpage"
)

// places is how many places of a horizontal axis are drawn and tabulated.
const places = 40

// chart is a figure of a row with the numbers that it shows.
type chart struct {
	table, row, name string
	title, caption   string
	about            string
	axis             string // of the table of numbers
	at               []float64
	panels           []panel
	drawing          figure.Figure
}

// panel has the lines of one reading.
type panel struct {
	title string
	lines []line
}

// line has a value for each place, not a number before it begins. It is drawn up to its end, where it has the value last.
type line struct {
	name   string
	style  int
	values []float64
	end    float64
	last   float64
}

// styles of the methods, the same in all figures. No table has two of the same style.
var styles = map[string]int{
	"vf-idca": 0, paper.OurDefaults: 1, "grid": 2, "random": 3, "tpe": 4, "igjo": 5, "tpe2": 5, "ifdm": 6, "vf-idca-t": 6, paper.GapClosed: 6, "hoag": 7,
}

// figuresOf makes the figures of all rows that have records.
func figuresOf(o *paper.Outcome) ([]chart, error) {
	traces := map[paper.Item]runs{}
	for k := range o.Records {
		r := &o.Records[k]
		i := r.Item
		i.Seed = 0
		traces[i] = append(traces[i], r.Trace)
	}
	var out []chart
	for _, s := range paper.Summarise(o.Manifest.Plan, o.Records) {
		for k := range s.Rows {
			r := &s.Rows[k]
			for _, kind := range kinds() {
				c := chart{table: s.Table.Name, row: r.Row.Name, name: s.Table.Name + "-" + r.Row.Name + "-" + kind.name,
					title: fmt.Sprintf("%s, %s: %s", s.Table.Title, r.Row.Title, kind.title), caption: kind.title, about: kind.about, axis: kind.axis}
				c.draw(&o.Manifest.Plan, r, traces, &kind)
				if len(c.at) > 0 {
					out = append(out, c)
				}
			}
		}
	}
	return out, nil
}

// kind is one of the figures of a row.
type kind struct {
	name, title, about, axis string
	x                        func(*paper.Point) float64
	logX, logY               bool
	panels                   []reading
	labels                   []string
}

func kinds() []kind {
	iterate := func(p *paper.Point) *paper.Errors { return &p.Iterate }
	best := func(p *paper.Point) *paper.Errors { return &p.Best }
	labels := []string{"validation error", "test error"}
	return []kind{
		{name: "iterate", title: "errors of the iterate over time", about: "Mean errors of the iterate over seconds, on a logarithmic axis", axis: "seconds",
			x: seconds, logX: true, panels: []reading{validation(iterate), test(iterate)}, labels: labels},
		{name: "refit", title: "errors of the best refit so far over time", about: "Mean errors of the best solution of the lower level so far over seconds, on a logarithmic axis", axis: "seconds",
			x: seconds, logX: true, panels: []reading{validation(best), test(best)}, labels: labels},
		{name: "alpha", title: "penalty parameter of VF-iDCA over its iterations", about: "Mean penalty parameter alpha, on a logarithmic axis, over the iterations", axis: "iteration",
			x: iteration, logY: true, panels: []reading{alpha}, labels: []string{"alpha (log)"}},
	}
}

// draw fills in places, lines and drawing.
func (c *chart) draw(p *paper.Plan, r *paper.RowSummary, traces map[paper.Item]runs, k *kind) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for at := range r.Lines {
		for _, value := range k.panels {
			if from, to, ok := c.runs(&r.Lines[at], traces).span(k.x, value); ok {
				lo, hi = min(lo, from), max(hi, to)
			}
		}
	}
	switch {
	case math.IsInf(lo, 1):
		return
	case k.logX:
		c.at = logarithmic(lo, hi, places)
	default:
		c.at = whole(lo, hi, places)
	}
	c.drawing = figure.Figure{Title: c.title, XLabel: c.axis, LogX: k.logX}
	if k.logX {
		c.drawing.XLabel += " (log)"
	}
	for n, value := range k.panels {
		drawn := figure.Panel{YLabel: k.labels[n], LogY: k.logY}
		lines := panel{title: k.labels[n]}
		for at := range r.Lines {
			l := &r.Lines[at]
			t := c.runs(l, traces)
			_, end, ok := t.span(k.x, value)
			if !ok {
				continue
			}
			one := line{name: name(p, l), style: style(p, l, at), end: end, last: t.mean(end, k.x, value)}
			of := figure.Line{Style: one.style}
			if n == 0 {
				of.Name = one.name // the legend of one panel is that of all
			}
			for _, x := range c.at {
				v := t.mean(x, k.x, value)
				one.values = append(one.values, v)
				if x < end && !math.IsNaN(v) {
					of.X, of.Y = append(of.X, x), append(of.Y, v)
				}
			}
			of.X, of.Y = append(of.X, end), append(of.Y, one.last)
			drawn.Lines, lines.lines = append(drawn.Lines, of), append(lines.lines, one)
		}
		c.drawing.Panels, c.panels = append(c.drawing.Panels, drawn), append(c.panels, lines)
	}
}

func (c *chart) runs(l *paper.Line, traces map[paper.Item]runs) runs {
	return traces[paper.Item{Table: c.table, Row: c.row, Method: l.Method.Name, Backend: l.Backend}]
}

// name is the label of a line, short enough for a legend.
func name(p *paper.Plan, l *paper.Line) string {
	return strings.Replace(p.Label(l), " (our defaults)", ", ours", 1)
}

// style is that of the method, or, where it has several backends, the number of the line.
func style(p *paper.Plan, l *paper.Line, at int) int {
	if s, ok := styles[l.Method.Name]; ok && len(p.Backends) == 1 {
		return s
	}
	return at
}

// onPage is the figure as the page has it.
func (c *chart) onPage() (webpage.Figure, error) {
	var b bytes.Buffer
	areas, err := c.drawing.Draw(&b, "svg")
	if err != nil {
		return webpage.Figure{}, err
	}
	id := "figure-" + c.name
	return webpage.Figure{ID: id, Title: c.title, Caption: strings.ToUpper(c.caption[:1]) + c.caption[1:], SVG: webpage.SVG(b.String(), id, c.title, c.describe()), Numbers: c.numbers(id, areas[0])}, nil
}

// describe says what the figure shows and where its lines end.
func (c *chart) describe() string {
	var b strings.Builder
	b.WriteString(c.about + ", one line for each method. ")
	for _, p := range c.panels {
		fmt.Fprintf(&b, "At the end, %s: ", p.title)
		for k, l := range p.lines {
			if k > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s %s", l.name, number(l.last))
		}
		b.WriteString(". ")
	}
	b.WriteString("The numbers are in the table below.")
	return b.String()
}

// numbers is the table of what the figure shows, the panels side by side.
func (c *chart) numbers(id string, area figure.Area) webpage.Table {
	t := webpage.Table{ID: id + "-numbers", Caption: c.title + ": means over the seeds", Columns: []webpage.Column{{Title: c.axis, Number: true}},
		Groups: []webpage.Group{{Span: 1}}}
	for _, p := range c.panels {
		if len(p.lines) == 0 {
			continue
		}
		t.Groups = append(t.Groups, webpage.Group{Title: p.title, Span: len(p.lines)})
		for _, l := range p.lines {
			t.Columns = append(t.Columns, webpage.Column{Title: l.name, Number: true})
		}
	}
	for k, x := range c.at {
		row := webpage.Row{X: area.X(x), Cells: []webpage.Cell{{Text: c.place(x)}}}
		for _, p := range c.panels {
			for _, l := range p.lines {
				row.Cells = append(row.Cells, webpage.Cell{Text: number(l.values[k])})
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// place writes a place of the horizontal axis: iterations are whole.
func (c *chart) place(x float64) string {
	if !c.drawing.LogX {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return number(x)
}

// number writes three significant digits; nothing for what is not a number.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	text := strconv.FormatFloat(v, 'e', 2, 64) // rounds: the exponent is that of the result
	exponent, err := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	if err != nil || v != 0 && (exponent < -4 || exponent > 5) {
		return text
	}
	return strconv.FormatFloat(v, 'f', max(0, 2-exponent), 64)
}
