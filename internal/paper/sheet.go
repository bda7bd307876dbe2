package paper

import (
	"fmt"
	"strings"
)

// sheet is a table as text, the same for all formats.
type sheet struct {
	name, title string
	columns     []string
	rows        []sheetRow
	notes       []string
}

// sheetRow is a line.
type sheetRow []sheetCell

type sheetCell struct {
	text string
	bold bool
}

// Label is the method of a line, with its backend where there are several.
func (p *Plan) Label(l *Line) string {
	if len(p.Backends) > 1 && l.Method.conic {
		return l.Method.Title + ", " + l.Backend
	}
	return l.Method.Title
}

// errorSheet has the errors of a table, ours beside the paper's. It does not depend on times.
func (p *Plan) errorSheet(s *Summary) *sheet {
	out := &sheet{
		name:    s.Table.Name,
		title:   fmt.Sprintf("%s (validation: %s; test: %s)", s.Table.Title, s.Table.Validation, s.Table.Test),
		columns: []string{"data", "method", "#λ", "val. iterate", "paper", "test iterate", "paper", "val. refit", "test refit", "remarks"},
	}
	for _, r := range s.Rows {
		if r.Skipped != "" {
			out.notes = append(out.notes, fmt.Sprintf("%s was not run: %s", r.Row.Title, r.Skipped))
			continue
		}
		for k := range r.Lines {
			l := &r.Lines[k]
			row := p.begin(&r, k, fmt.Sprint(l.Dimension))
			for at := range measures {
				m := &measures[at]
				cell := sheetCell{text: m.of(l).String()}
				if best := m.best(r.Lines); best != nil && m.of(l).N > 0 {
					cell.bold = m.of(l).mean() == m.of(best).mean()
				}
				row = append(row, cell)
				switch {
				case at >= 2:
				case l.Paper == nil:
					row = append(row, sheetCell{text: "-"})
				case at == 0:
					row = append(row, sheetCell{text: l.Paper.Validation.String()})
				default:
					row = append(row, sheetCell{text: l.Paper.Test.String()})
				}
			}
			row = append(row, sheetCell{text: l.Remarks()})
			out.rows = append(out.rows, row)
		}
		var said []string
		for at := range r.Verdicts {
			said = append(said, r.Verdicts[at].String())
		}
		if said != nil {
			out.notes = append(out.notes, r.Row.Title+": "+strings.Join(said, "; "))
		}
	}
	return out
}

// begin makes the cells that all sheets begin with. The title of a row stands on its first line.
func (p *Plan) begin(r *RowSummary, k int, cells ...string) sheetRow {
	var row sheetRow
	title := ""
	if k == 0 {
		title = r.Row.Title
	}
	for _, text := range append([]string{title, p.Label(&r.Lines[k])}, cells...) {
		row = append(row, sheetCell{text: text})
	}
	return row
}

// timeSheet has the times of a table and what they were spent on.
func (p *Plan) timeSheet(s *Summary) *sheet {
	out := &sheet{name: s.Table.Name, title: s.Table.Title, columns: []string{"data", "method", "seconds", "CPU", "paper", "iterations", "sum of all seeds"}}
	total := 0.0
	for _, r := range s.Rows {
		fastest := measure{of: func(l *Line) Stat { return l.Seconds }}
		for k := range r.Lines {
			l := &r.Lines[k]
			row := p.begin(&r, k)
			sum := l.Seconds.Mean * float64(l.Seconds.N)
			total += sum
			paper := "-"
			if l.Paper != nil {
				paper = l.Paper.Seconds.String()
			}
			best := fastest.best(r.Lines)
			row = append(row, sheetCell{text: l.Seconds.String(), bold: best == l}, sheetCell{text: l.CPU.String()}, sheetCell{text: paper},
				sheetCell{text: l.Iterations.String()}, sheetCell{text: fmt.Sprintf("%.1f s", sum)})
			out.rows = append(out.rows, row)
		}
	}
	out.notes = []string{fmt.Sprintf("All runs of this table one after the other: %.0f s.", total)}
	return out
}

// String writes a figure of the paper.
func (f Figure) String() string { return fmt.Sprintf("%.2f ± %.2f", f.Mean, f.Spread) }

// markdown writes a sheet as a section.
func (s *sheet) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "## %s\n\n", s.title)
	if len(s.rows) > 0 {
		fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(s.columns, " | "), strings.Repeat("---|", len(s.columns)))
		for _, r := range s.rows {
			for _, c := range r {
				text := strings.ReplaceAll(c.text, "|", `\|`)
				if c.bold {
					text = "**" + text + "**"
				}
				fmt.Fprintf(b, "| %s ", text)
			}
			b.WriteString("|\n")
		}
		b.WriteString("\n")
	}
	for _, n := range s.notes {
		fmt.Fprintf(b, "- %s\n", n)
	}
	if len(s.notes) > 0 {
		b.WriteString("\n")
	}
}
