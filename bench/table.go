package bench

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// columns are the headings of the table of backends.
var columns = []string{"stage", "backend", "eps", "time", "iterations", "set-ups", "updates", "residual", "error", "status"}

// cells are the entries of a row below [columns].
func (r *BackendRow) cells() []string {
	number := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return strconv.FormatFloat(*v, 'e', 1, 64)
	}
	if r.Status == unsupported {
		return []string{r.Stage, r.Backend, "any", "-", "-", "-", "-", "-", "-", r.Status + ": " + r.Reason}
	}
	if r.Status == failed {
		return []string{r.Stage, r.Backend, eps(r.Eps), "-", "-", "-", "-", "-", "-", r.Status + ": " + r.Reason}
	}
	status := r.Status
	if r.Reason != "" {
		status += ": " + r.Reason
	}
	return []string{r.Stage, r.Backend, eps(r.Eps), duration(r.Seconds), strconv.Itoa(r.Iterations), strconv.Itoa(r.Setups), strconv.Itoa(r.Updates),
		number(r.Residual), number(r.Error), status}
}

func eps(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// duration writes seconds with three digits and a unit.
func duration(s float64) string {
	switch {
	case s < 1e-3:
		return fmt.Sprintf("%.3g us", 1e6*s)
	case s < 1:
		return fmt.Sprintf("%.3g ms", 1e3*s)
	}
	return fmt.Sprintf("%.3g s", s)
}

// group is the rows of one application, in the order of the stages.
type group struct {
	Title string
	Rows  [][]string
}

// distinct are the rows of the tables: where a backend cannot take a stage at any tolerance, one row says so.
func distinct(rows []BackendRow) []*BackendRow {
	var out []*BackendRow
	for i := range rows {
		r := &rows[i]
		if i > 0 && r.Status == unsupported && rows[i-1].Status == unsupported && rows[i-1].Backend == r.Backend && rows[i-1].Stage == r.Stage {
			continue
		}
		out = append(out, r)
	}
	return out
}

// applications puts the rows of an application together.
func applications(rows []BackendRow) []group {
	var out []group
	for _, r := range distinct(rows) {
		title := r.Model + " " + r.Data
		if len(out) == 0 || out[len(out)-1].Title != title {
			out = append(out, group{Title: title})
		}
		g := &out[len(out)-1]
		g.Rows = append(g.Rows, r.cells())
	}
	return out
}

// WriteMarkdown writes a table for each application.
func WriteMarkdown(w io.Writer, rows []BackendRow) error {
	var b strings.Builder
	for i, g := range applications(rows) {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s\n\n", g.Title)
		width := make([]int, len(columns))
		for k, c := range columns {
			width[k] = len(c)
			for _, r := range g.Rows {
				width[k] = max(width[k], len(r[k]))
			}
		}
		width[len(width)-1] = len(columns[len(columns)-1])
		line := func(cells []string) {
			for k, c := range cells {
				fmt.Fprintf(&b, "| %-*s ", width[k], c)
			}
			b.WriteString("|\n")
		}
		line(columns)
		for _, n := range width {
			b.WriteString("|" + strings.Repeat("-", n+2))
		}
		b.WriteString("|\n")
		for _, r := range g.Rows {
			line(r)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
