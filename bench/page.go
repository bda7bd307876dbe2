package bench

import (
	"fmt"
	"io"
	"strconv"

	"github.com/conetune/conetune/internal/webpage"
)

// Page is what the HTML page says around the tables.
type Page struct {
	// Version is the program's, Machine describes where it ran, Command how.
	Version, Machine, Command string
}

// WriteHTML writes one page that needs nothing else, with tables that can be sorted.
func WriteHTML(w io.Writer, rows []BackendRow, p Page) error {
	var tables []webpage.Table
	for _, r := range distinct(rows) {
		title := r.Model + " " + r.Data
		if len(tables) == 0 || tables[len(tables)-1].Caption != title {
			tables = append(tables, webpage.Table{ID: fmt.Sprintf("table-%d", len(tables)+1), Caption: title, Columns: pageColumns(), Sortable: true})
		}
		t := &tables[len(tables)-1]
		t.Rows = append(t.Rows, webpage.Row{Cells: r.pageCells()})
	}
	return webpage.Write(w, page, "Backends compared", struct {
		Page
		Tables []webpage.Table
	}{p, tables})
}

// pageColumns are [columns]; those between the name of the backend and the status are numbers.
func pageColumns() []webpage.Column {
	var out []webpage.Column
	for k, title := range columns {
		out = append(out, webpage.Column{Title: title, Number: k >= 2 && k < len(columns)-1})
	}
	return out
}

// pageCells are the cells of a row with what they are sorted by: numbers without their units, where there are any.
func (r *BackendRow) pageCells() []webpage.Cell {
	none := ""
	var out []webpage.Cell
	for k, text := range r.cells() {
		c := webpage.Cell{Text: text}
		if text == "-" || text == "any" {
			c.Key = &none
		} else if k == 3 {
			key := strconv.FormatFloat(r.Seconds, 'g', -1, 64)
			c.Key = &key
		}
		out = append(out, c)
	}
	return out
}

var page = webpage.New("backends", `<p>Time of set-up, solve and check, the fastest of several solves; residual: largest relative
residual on unscaled data; error: distance of the objective from that of a reference solved to 1e-10, violations included. The headings of the tables sort them.</p>
<p>conetune {{.Version}}, {{.Machine}}<br><code>{{.Command}}</code></p>
{{range .Tables}}{{template "table" .}}{{end}}`)
