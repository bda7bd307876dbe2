package paper

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
)

// head stands above the tables of errors, headTimes above those of times.
const (
	head = `Means over seeds ± standard error of the mean, the best of a row in bold. The columns "paper" have the
paper's figures for the iterate; what stands behind its ± is the standard deviation, by its size. The
refit is the solution of the lower level at the selected hyperparameters; for methods that only look at
such solutions, iterate and refit are the same.`
	headTimes = `Seconds are wall time of one run on one thread, from the data in memory to the end, means over seeds ±
standard error of the mean; the paper's are those of its authors' machine. CPU is processor time, which
is known where runs were made one at a time, with --workers 1.`
)

// WriteTables writes the tables of the records into the folder tables of dir. Those of errors depend on no times.
func WriteTables(dir string, p Plan, records []Record) error {
	dir = filepath.Join(dir, TablesDir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	summaries := Summarise(p, records)
	for _, f := range []struct{ name, text string }{
		{"errors.md", p.errors(summaries)},
		{"errors.csv", errorsCSV(summaries)},
		{"times.md", p.times(summaries)},
		{"times.csv", timesCSV(summaries)},
	} {
		if err := atomicfile.WriteBytes(filepath.Join(dir, f.name), []byte(f.text)); err != nil {
			return err
		}
	}
	return nil
}

// errors are the tables of errors in Markdown, each with how VF-iDCA stands.
func (p *Plan) errors(summaries []Summary) string {
	b := new(strings.Builder)
	fmt.Fprintf(b, "# Errors\n\n%s\n", head)
	for _, s := range summaries {
		fmt.Fprintf(b, "\n## %s (validation: %s; test: %s)\n", s.Table.Title, s.Table.Validation, s.Table.Test)
		for k := range s.Rows {
			r := &s.Rows[k]
			if r.Skipped != "" {
				fmt.Fprintf(b, "\n%s was not run: %s\n", r.Row.Title, r.Skipped)
				continue
			}
			fmt.Fprintf(b, "\n### %s\n\n%s", r.Row.Title, p.table(r, append([]column{dimensions}, errorColumns...)).Markdown())
			for at := range r.Verdicts {
				fmt.Fprintf(b, "%s- %s\n", "\n"[min(at, 1):], r.Verdicts[at].String())
			}
		}
	}
	return b.String()
}

// times are the tables of times in Markdown.
func (p *Plan) times(summaries []Summary) string {
	b := new(strings.Builder)
	fmt.Fprintf(b, "# Times\n\n%s\n", headTimes)
	for _, s := range summaries {
		fmt.Fprintf(b, "\n## %s\n", s.Table.Title)
		total := 0.0
		for k := range s.Rows {
			r := &s.Rows[k]
			for at := range r.Lines {
				total += r.Lines[at].total()
			}
			if len(r.Lines) > 0 {
				fmt.Fprintf(b, "\n### %s\n\n%s", r.Row.Title, p.table(r, timeColumns).Markdown())
			}
		}
		fmt.Fprintf(b, "\nAll runs of this table one after the other: %.0f s.\n", total)
	}
	return b.String()
}

// errorsCSV has a line for each method on each row, numbers with all their digits.
func errorsCSV(summaries []Summary) string {
	columns := []string{"table", "row", "method", "backend", "hyperparameters", "repeats", "runs"}
	for _, q := range quantities[:deployedTest+1] {
		columns = append(columns, q.name+"_mean", q.name+"_standard_error", q.name+"_runs")
	}
	columns = append(columns, "paper_validation", "paper_validation_spread", "paper_test", "paper_test_spread", "remarks")
	return table(summaries, columns, func(l *Line) []string {
		cells := []string{strconv.Itoa(l.Dimension), strconv.Itoa(l.Repeats), strconv.Itoa(l.N)}
		for _, s := range l.Means[:deployedTest+1] {
			cells = append(cells, s.cells()...)
		}
		if l.Paper == nil {
			cells = append(cells, "", "", "", "")
		} else {
			for _, f := range []Figure{l.Paper.Validation, l.Paper.Test} {
				cells = append(cells, words.Exact(f.Mean), words.Exact(f.Spread))
			}
		}
		return append(cells, l.Remarks())
	})
}

func timesCSV(summaries []Summary) string {
	columns := []string{"table", "row", "method", "backend", "seconds_mean", "seconds_standard_error", "runs",
		"cpu_seconds_mean", "iterations_mean", "paper_seconds", "paper_seconds_spread"}
	return table(summaries, columns, func(l *Line) []string {
		m := &l.Means
		cells := append(m[wallTime].cells(), m[processorTime].cells()[0], words.Exact(m[iterations].Mean), "", "")
		if l.Paper != nil {
			cells[5], cells[6] = words.Exact(l.Paper.Seconds.Mean), words.Exact(l.Paper.Seconds.Spread)
		}
		return cells
	})
}

// table writes CSV: what a line is, then its numbers.
func table(summaries []Summary, columns []string, numbers func(*Line) []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(columns) // a strings.Builder takes everything
	for _, s := range summaries {
		for _, r := range s.Rows {
			for k := range r.Lines {
				l := &r.Lines[k]
				_ = w.Write(append([]string{s.Table.Name, r.Row.Name, l.Method.Name, l.Backend}, numbers(l)...))
			}
		}
	}
	w.Flush()
	return b.String()
}

// cells are mean, standard error and number; the first two are empty where there is none.
func (s Stat) cells() []string {
	if s.N == 0 {
		return []string{"", "", "0"}
	}
	return []string{words.Exact(s.Mean), words.Exact(s.Error), strconv.Itoa(s.N)}
}

// column is what the tables have of each line.
type column struct {
	webpage.Column
	cell  func(*Line) webpage.Cell
	least bool // the least of a row, which is a mean, is bold
	of    quantity
}

// measured is a column of means, cited one of the paper's figures.
func measured(group, title, spoken string, of quantity) column {
	return column{webpage.Column{Title: title, Spoken: spoken, Group: group, Number: true}, func(l *Line) webpage.Cell {
		s := l.Means[of]
		if s.N == 0 {
			return webpage.Sorted(s.String(), "")
		}
		return webpage.Sorted(s.String(), words.Exact(s.Mean))
	}, true, of}
}

func cited(group, spoken string, of func(*Published) Figure) column {
	return column{webpage.Column{Title: "paper", Spoken: spoken, Group: group, Number: true}, func(l *Line) webpage.Cell {
		if l.Paper == nil {
			return webpage.Sorted("-", "")
		}
		f := of(l.Paper)
		return webpage.Sorted(f.String(), words.Exact(f.Mean))
	}, false, 0}
}

// text is a column of texts or whole numbers.
func text(group, title, spoken string, number bool, of func(*Line) string) column {
	cell := func(l *Line) webpage.Cell { return webpage.Cell{Text: of(l)} }
	return column{webpage.Column{Title: title, Spoken: spoken, Group: group, Number: number}, cell, false, 0}
}

// The columns of the tables.
var (
	dimensions = text("", "#λ", "number of hyperparameters", true,
		func(l *Line) string { return strconv.Itoa(l.Dimension) })
	wall      = measured("seconds", "here", "seconds", wallTime)
	wallCited = cited("seconds", "seconds", func(p *Published) Figure { return p.Seconds })
	// errorColumns do not depend on times.
	errorColumns = []column{
		measured("iterate", "validation", "iterate", iterateValidation),
		cited("iterate", "validation", func(p *Published) Figure { return p.Validation }),
		measured("iterate", "test", "iterate", iterateTest),
		cited("iterate", "test", func(p *Published) Figure { return p.Test }),
		measured("refit", "validation", "refit", refitValidation),
		measured("refit", "test", "refit", refitTest),
		text("", "remarks", "", false, (*Line).Remarks),
	}
	timeColumns = []column{
		wall, wallCited,
		text("seconds", "CPU", "", true, func(l *Line) string { return l.Means[processorTime].String() }),
		text("", "iterations", "", true, func(l *Line) string { return l.Means[iterations].String() }),
		text("", "sum of all seeds", "", true, func(l *Line) string { return fmt.Sprintf("%.1f s", l.total()) }),
	}
)

// total is the time of all seeds.
func (l *Line) total() float64 { return l.Means[wallTime].Mean * float64(l.Means[wallTime].N) }

// Table is that of a row, a line for each method, with times and errors.
func (p *Plan) Table(id, caption string, r *RowSummary) *webpage.Table {
	t := p.table(r, append([]column{dimensions, wall, wallCited}, errorColumns...))
	t.ID, t.Caption, t.Sortable = id, caption, true
	return t
}

// table has columns after the method of each line.
func (p *Plan) table(r *RowSummary, columns []column) *webpage.Table {
	t := webpage.NewTable("", "", webpage.Text("method"))
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for k := range r.Lines {
		l := &r.Lines[k]
		cells := []webpage.Cell{{Text: p.Label(l)}}
		for _, c := range columns {
			cell := c.cell(l)
			if c.least && l.Means[c.of].N > 0 { // or what looks the same
				cell.Strong = l.Means[c.of].mean() == best(r.Lines, c.of).Means[c.of].mean()
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
