package paper

import (
	"fmt"
	"strconv"

	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
)

// column is what the tables have of each line, under a heading that it may share with its neighbours.
type column struct {
	webpage.Column
	group string
	cell  func(*Line) webpage.Cell
	least func(*Line) Stat // whose least of a row is bold; nil for none
}

// measured is a column of means, cited one of the paper's figures.
func measured(group, title, spoken string, of func(*Line) Stat) column {
	return column{webpage.Column{Title: title, Spoken: spoken, Number: true}, group, func(l *Line) webpage.Cell {
		s := of(l)
		if s.N == 0 {
			return webpage.Sorted(s.String(), "")
		}
		return webpage.Sorted(s.String(), words.Exact(s.Mean))
	}, of}
}

func cited(group, spoken string, of func(*Published) Figure) column {
	return column{webpage.Column{Title: "paper", Spoken: spoken, Number: true}, group, func(l *Line) webpage.Cell {
		if l.Paper == nil {
			return webpage.Sorted("-", "")
		}
		f := of(l.Paper)
		return webpage.Sorted(f.String(), words.Exact(f.Mean))
	}, nil}
}

// text is a column of texts or whole numbers.
func text(group, title, spoken string, number bool, of func(*Line) string) column {
	cell := func(l *Line) webpage.Cell { return webpage.Cell{Text: of(l)} }
	return column{webpage.Column{Title: title, Spoken: spoken, Number: number}, group, cell, nil}
}

// The columns of the tables.
var (
	dimensions = text("", "#λ", "number of hyperparameters", true, func(l *Line) string { return strconv.Itoa(l.Dimension) })
	wall       = measured("seconds", "here", "seconds", func(l *Line) Stat { return l.Seconds })
	wallCited  = cited("seconds", "seconds", func(p *Published) Figure { return p.Seconds })
	// errorColumns do not depend on times.
	errorColumns = []column{
		measured("iterate", "validation", "iterate", func(l *Line) Stat { return l.Iterate.Validation }),
		cited("iterate", "validation", func(p *Published) Figure { return p.Validation }),
		measured("iterate", "test", "iterate", func(l *Line) Stat { return l.Iterate.Test }),
		cited("iterate", "test", func(p *Published) Figure { return p.Test }),
		measured("refit", "validation", "refit", func(l *Line) Stat { return l.Refit.Validation }),
		measured("refit", "test", "refit", func(l *Line) Stat { return l.Refit.Test }),
		text("", "remarks", "", false, (*Line).Remarks),
	}
	timeColumns = []column{
		wall, wallCited,
		text("seconds", "CPU", "", true, func(l *Line) string { return l.CPU.String() }),
		text("", "iterations", "", true, func(l *Line) string { return l.Iterations.String() }),
		text("", "sum of all seeds", "", true, func(l *Line) string { return fmt.Sprintf("%.1f s", l.total()) }),
	}
)

// total is the time of all seeds.
func (l *Line) total() float64 { return l.Seconds.Mean * float64(l.Seconds.N) }

// Table is that of a row, a line for each method, with times and errors.
func (p *Plan) Table(id, caption string, r *RowSummary) *webpage.Table {
	t := p.table(r, append([]column{dimensions, wall, wallCited}, errorColumns...))
	t.ID, t.Caption, t.Sortable = id, caption, true
	return t
}

// table has columns after the method of each line.
func (p *Plan) table(r *RowSummary, columns []column) *webpage.Table {
	t := &webpage.Table{Columns: []webpage.Column{webpage.Text("method")}, Groups: []webpage.Group{{Span: 1}}}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
		if last := &t.Groups[len(t.Groups)-1]; last.Title == c.group {
			last.Span++
		} else {
			t.Groups = append(t.Groups, webpage.Group{Title: c.group, Span: 1})
		}
	}
	for k := range r.Lines {
		l := &r.Lines[k]
		cells := []webpage.Cell{{Text: p.Label(l)}}
		for _, c := range columns {
			cell := c.cell(l)
			if c.least != nil && c.least(l).N > 0 { // or what looks the same
				cell.Strong = c.least(l).mean() == c.least(best(r.Lines, c.least)).mean()
			}
			cells = append(cells, cell)
		}
		t.Add(cells...)
	}
	return t
}

// Label is the method of a line, with its backend where there are several.
func (p *Plan) Label(l *Line) string {
	if len(p.Backends) > 1 && l.Method.conic {
		return l.Method.Title + ", " + l.Backend
	}
	return l.Method.Title
}
