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

// sheetRow is a line; first says that it begins a row of the paper's table.
type sheetRow struct {
	first bool
	cells []sheetCell
}

type sheetCell struct {
	text string
	bold bool
}

// label is the method of a line, with its backend where there are several.
func (p *Plan) label(l *Line) string {
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
				cell := sheetCell{text: m.of(l).text()}
				if best := m.best(r.Lines); best != nil && m.of(l).N > 0 {
					cell.bold = m.of(l).mean() == m.of(best).mean()
				}
				row.cells = append(row.cells, cell)
				switch {
				case at >= 2:
				case l.Paper == nil:
					row.cells = append(row.cells, sheetCell{text: "-"})
				case at == 0:
					row.cells = append(row.cells, sheetCell{text: l.Paper.Validation.text()})
				default:
					row.cells = append(row.cells, sheetCell{text: l.Paper.Test.text()})
				}
			}
			row.cells = append(row.cells, sheetCell{text: l.Remarks()})
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
	row := sheetRow{first: k == 0}
	title := ""
	if k == 0 {
		title = r.Row.Title
	}
	for _, text := range append([]string{title, p.label(&r.Lines[k])}, cells...) {
		row.cells = append(row.cells, sheetCell{text: text})
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
				paper = l.Paper.Seconds.text()
			}
			best := fastest.best(r.Lines)
			row.cells = append(row.cells, sheetCell{text: l.Seconds.text(), bold: best == l}, sheetCell{text: l.CPU.text()}, sheetCell{text: paper},
				sheetCell{text: l.Iterations.text()}, sheetCell{text: fmt.Sprintf("%.1f s", sum)})
			out.rows = append(out.rows, row)
		}
	}
	out.notes = []string{fmt.Sprintf("All runs of this table one after the other: %.0f s.", total)}
	return out
}

// text writes a figure of the paper.
func (f Figure) text() string { return fmt.Sprintf("%.2f ± %.2f", f.Mean, f.Spread) }

// markdown writes a sheet as a section.
func (s *sheet) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "## %s\n\n", s.title)
	if len(s.rows) > 0 {
		fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(s.columns, " | "), strings.Repeat("---|", len(s.columns)))
		for _, r := range s.rows {
			for _, c := range r.cells {
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

// latex writes a sheet as a tabular with the rules of the package booktabs.
func (s *sheet) latex(b *strings.Builder) {
	fmt.Fprintf(b, "%% %s\n", s.title)
	if len(s.rows) > 0 {
		fmt.Fprintf(b, "\\begin{tabular}{ll%s}\n\\toprule\n%s \\\\\n", strings.Repeat("r", len(s.columns)-2), tex(strings.Join(s.columns, " & "), true))
		for _, r := range s.rows {
			if r.first {
				b.WriteString("\\midrule\n")
			}
			for k, c := range r.cells {
				if k > 0 {
					b.WriteString(" & ")
				}
				text := tex(c.text, false)
				if c.bold {
					text = "\\textbf{" + text + "}"
				}
				b.WriteString(text)
			}
			b.WriteString(" \\\\\n")
		}
		b.WriteString("\\bottomrule\n\\end{tabular}\n")
	}
	for _, n := range s.notes {
		fmt.Fprintf(b, "%% %s\n", n)
	}
	b.WriteString("\n")
}

// tex escapes a text; columns keeps the &.
func tex(text string, columns bool) string {
	pairs := []string{`\`, `\textbackslash{}`, "%", `\%`, "#", `\#`, "_", `\_`, "$", `\$`, "{", `\{`, "}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`,
		"±", `$\pm$`, "λ", `$\lambda$`}
	if !columns {
		pairs = append(pairs, "&", `\&`)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
