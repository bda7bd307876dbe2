package bench

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
)

// columns are the headings of the table of backends; those between the name of the backend and the status are numbers.
var columns = []string{
	"stage", "backend", "eps", "time", "iterations", "set-ups", "updates", "residual", "error", "status",
}

// cells are the entries of a row below [columns].
func (r *BackendRow) cells() []webpage.Cell {
	status := r.Status
	if r.Reason != "" {
		status += ": " + r.Reason
	}
	of := []string{r.Stage, r.Backend, words.Exact(r.Eps), "-", "-", "-", "-", "-", "-", status}
	switch r.Status {
	case unsupported:
		of[2] = "any"
	case failed:
	default:
		of[3], of[4], of[5], of[6] = duration(r.Seconds), strconv.Itoa(r.Iterations), strconv.Itoa(r.Setups),
			strconv.Itoa(r.Updates)
		for k, v := range []*float64{r.Residual, r.Error} {
			if v != nil {
				of[7+k] = strconv.FormatFloat(*v, 'e', 1, 64)
			}
		}
	}
	out := webpage.Texts(of...)
	for k, text := range of {
		if text == "-" || text == "any" {
			out[k] = webpage.Sorted(text, "")
		} else if k == 3 { // without its unit
			out[k] = webpage.Sorted(text, words.Exact(r.Seconds))
		}
	}
	return out
}

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

// tables has one for each application, its rows in the order of the stages: where a backend cannot take a stage at any
// tolerance, one row says so.
func tables(rows []BackendRow) (out []webpage.Table) {
	for i := range rows {
		r := &rows[i]
		if i > 0 && r.Status == unsupported && rows[i-1].Status == unsupported && rows[i-1].Backend == r.Backend &&
			rows[i-1].Stage == r.Stage {
			continue
		}
		title := r.Model + " " + r.Data
		if len(out) == 0 || out[len(out)-1].Caption != title {
			t := webpage.Table{ID: fmt.Sprintf("table-%d", len(out)+1), Caption: title, Sortable: true}
			for k, name := range columns {
				t.Columns = append(t.Columns, webpage.Column{Title: name, Number: k >= 2 && k < len(columns)-1})
			}
			out = append(out, t)
		}
		t := &out[len(out)-1]
		t.Rows = append(t.Rows, webpage.Row{Cells: r.cells()})
	}
	return out
}

// Markdown has a table for each application.
func Markdown(rows []BackendRow) string {
	var b strings.Builder
	for i, t := range tables(rows) {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s\n\n", t.Caption)
		b.WriteString(t.Markdown())
	}
	return b.String()
}

// Page is what the HTML page says around the tables.
type Page struct {
	// Version is the program's, Machine describes where it ran, Command how.
	Version, Machine, Command string
}

// WriteHTML writes one page that needs nothing else, with tables that can be sorted.
func WriteHTML(w io.Writer, rows []BackendRow, p Page) error {
	return webpage.Write(w, page, "Backends compared", struct {
		Page
		Tables []webpage.Table
	}{p, tables(rows)})
}

var page = webpage.New("backends",
	`<p>Time of set-up, solve and check, the fastest of several solves; residual: largest relative
residual on unscaled data; error: distance of the objective from that of a reference solved to 1e-10,
violations included. The headings of the tables sort them.</p>
<p>conetune {{.Version}}, {{.Machine}}<br><code>{{.Command}}</code></p>
{{range .Tables}}{{template "table" .}}{{end}}`)
