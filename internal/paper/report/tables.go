package report

import (
	_ "embed"
	"strconv"

	"github.com/conetune/conetune/internal/paper"
	"github.com/conetune/conetune/internal/webpage"
)

//go:embed body.html
var body string

// rowTable is the table of one row of the paper's, a line for each method.
func rowTable(p *paper.Plan, id, caption string, r *paper.RowSummary) webpage.Table {
	t := webpage.Table{
		ID: "table-" + id, Caption: caption + ": " + r.Row.Title, Sortable: true,
		Groups: []webpage.Group{{Span: 2}, {Title: "seconds", Span: 2}, {Title: "iterate", Span: 4}, {Title: "refit", Span: 2}, {Span: 1}},
		Columns: []webpage.Column{
			{Title: "method"}, {Title: "#λ", Spoken: "number of hyperparameters", Number: true},
			{Title: "here", Spoken: "seconds", Number: true}, {Title: "paper", Spoken: "seconds", Number: true},
			{Title: "validation", Spoken: "iterate", Number: true}, {Title: "paper", Spoken: "validation", Number: true},
			{Title: "test", Spoken: "iterate", Number: true}, {Title: "paper", Spoken: "test", Number: true},
			{Title: "validation", Spoken: "refit", Number: true}, {Title: "test", Spoken: "refit", Number: true},
			{Title: "remarks"},
		},
	}
	columns := []func(*paper.Line) paper.Stat{
		func(l *paper.Line) paper.Stat { return l.Seconds },
		func(l *paper.Line) paper.Stat { return l.Iterate.Validation },
		func(l *paper.Line) paper.Stat { return l.Iterate.Test },
		func(l *paper.Line) paper.Stat { return l.Refit.Validation },
		func(l *paper.Line) paper.Stat { return l.Refit.Test },
	}
	best := make([][]bool, len(columns))
	for k, of := range columns {
		best[k] = paper.Best(r.Lines, of)
	}
	for k := range r.Lines {
		l := &r.Lines[k]
		published := paper.Published{}
		if l.Paper != nil {
			published = *l.Paper
		}
		measured := func(column int) webpage.Cell {
			s := columns[column](l)
			c := webpage.Cell{Text: s.String(), Key: new(string), Strong: best[column][k]}
			if s.N > 0 {
				*c.Key = exact(s.Mean)
			}
			return c
		}
		t.Rows = append(t.Rows, webpage.Row{Cells: []webpage.Cell{
			{Text: p.Label(l)}, {Text: strconv.Itoa(l.Dimension)}, measured(0), cited(l, published.Seconds), measured(1), cited(l, published.Validation),
			measured(2), cited(l, published.Test), measured(3), measured(4), {Text: l.Remarks()},
		}})
	}
	return t
}

// cited is the cell of a figure of the paper.
func cited(l *paper.Line, f paper.Figure) webpage.Cell {
	c := webpage.Cell{Text: "-", Key: new(string)}
	if l.Paper != nil {
		c.Text, *c.Key = f.String(), exact(f.Mean)
	}
	return c
}

// glance says for every row how VF-iDCA stands; nil where there is nothing to say.
func glance(summaries []paper.Summary) *webpage.Table {
	t := &webpage.Table{ID: "table-glance", Caption: "VF-iDCA and the best of the other methods", Sortable: true, Columns: []webpage.Column{{Title: "data"}}}
	for _, name := range paper.MeasureNames() {
		t.Columns = append(t.Columns, webpage.Column{Title: name})
	}
	for _, s := range summaries {
		for _, r := range s.Rows {
			if len(r.Verdicts) == 0 {
				continue
			}
			row := webpage.Row{Cells: []webpage.Cell{{Text: s.Table.Name + " " + r.Row.Name}}}
			for _, name := range paper.MeasureNames() {
				row.Cells = append(row.Cells, standing(r.Verdicts, name))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// standing is the verdict on a measure in a few words, sorted from the best to the worst.
func standing(verdicts []paper.Verdict, measure string) webpage.Cell {
	c := webpage.Cell{Text: "-", Key: new(string)}
	for k := range verdicts {
		v := &verdicts[k]
		if v.Measure != measure {
			continue
		}
		*c.Key = strconv.Itoa(int(v.Standing()))
		switch v.Standing() {
		case paper.Leading:
			c.Text, c.Strong = "best", true
		case paper.Close:
			c.Text = "close to " + v.Best.Method.Title
		default:
			c.Text = "behind " + v.Best.Method.Title
		}
	}
	return c
}

func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
