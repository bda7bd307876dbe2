// Package webpage makes the HTML pages of the program: each is one file that
// needs no other and no network, which the page's own policy enforces.
//
// A page can be used by mouse, touch, keyboard and screen reader, follows the
// light or dark scheme of the reader, prints, and says everything without
// JavaScript, which adds the sorting of tables and the reading of figures.
package webpage

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/internal/words"
)

//go:embed style.css
var style string

//go:embed script.js
var script string

//go:embed page.html
var common string

// New parses a page. The body is what stands in its main element; it may use the template "table" with a [Table], and
// "figure" with a [figure.Figure], whose title is unique on the page. The page is written by [Write].
func New(name, body string) *template.Template {
	t := template.Must(template.New(name).Funcs(template.FuncMap{"drawn": drawn}).Parse(common))
	return template.Must(t.New("body").Parse(body))
}

// Write writes a page. Characters in it that HTML has no place for, and marks that turn the order of what stands beside
// a name, are those of [textfile.Printable].
func Write(w io.Writer, t *template.Template, title string, data any) error {
	var page strings.Builder
	err := t.ExecuteTemplate(&page, "page", struct {
		Title  string
		Style  template.CSS
		Script template.JS
		Data   any
	}{title, template.CSS(style), template.JS(script), data})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, textfile.Printable(page.String()))
	return err
}

// mostPlaces bounds the rows of a figure's table.
const mostPlaces = 300

// drawing is a picture with its text.
type drawing struct {
	figure.Figure
	SVG template.HTML
	// Numbers is what the picture shows. Rows with an X can be read by pointing at the picture: their first
	// cell is the place, the other columns are the lines, in groups the panels.
	Numbers *Table
}

// drawn is a figure on a page: the picture, what it says in words, and its numbers, a row for each place of a line. A
// line without a name beside others is a guide to the eye.
func drawn(f figure.Figure) (drawing, error) {
	var b bytes.Buffer
	areas, err := f.Draw(&b, "svg")
	if err != nil {
		return drawing{}, fmt.Errorf("figure %s: %w", f.ID, err)
	}
	t := NewTable(f.ID+"-numbers", "Numbers: "+f.Title, Number(f.XLabel))
	var lines []figure.Line
	var places []float64
	for _, a := range areas {
		panel := f.Panels[a.Panel]
		add := func(l figure.Line) {
			c := Number(l.Name)
			if len(areas) > 1 {
				c.Group = panel.YLabel
			}
			lines, t.Columns = append(lines, l), append(t.Columns, c)
		}
		for _, l := range panel.Lines {
			if len(l.X) == 0 || l.Name == "" && len(panel.Lines) > 1 {
				continue
			}
			if l.Name == "" {
				l.Name = panel.YLabel
			}
			places = append(places, l.X...)
			if add(l); l.Error != nil {
				add(figure.Line{Name: "standard error", X: l.X, Y: l.Error})
			}
		}
	}
	slices.Sort(places)
	shown := Thinned(slices.Compact(places), mostPlaces)
	if k, there := slices.BinarySearch(shown, f.Start); !there && slices.Contains(places, f.Start) {
		shown = slices.Insert(shown, k, f.Start)
	}
	for _, x := range shown {
		row := Row{X: areas[0].X(x), Start: x == f.Start, Cells: []Cell{{Text: words.Fine(x)}}}
		for _, l := range lines {
			text := ""
			if k := slices.Index(l.X, x); k >= 0 {
				text = words.Fine(l.Y[k])
			}
			row.Cells = append(row.Cells, Cell{Text: text})
		}
		t.Rows = append(t.Rows, row)
	}
	f.About += " The numbers are in the table below."
	return drawing{f, svg(b.String(), f), t}, nil
}

// Thinned takes at most so many of a list, evenly, the ends among them.
func Thinned[T any](list []T, most int) []T {
	if len(list) <= most {
		return list
	}
	out := make([]T, most)
	for k := range out {
		out[k] = list[k*(len(list)-1)/(most-1)]
	}
	return out
}

// svg takes a picture as it stands in a file, without its header, into a page. The title and the description are what a
// screen reader says.
func svg(picture string, f figure.Figure) template.HTML {
	_, rest, _ := strings.Cut(picture, "<svg ")
	attributes, rest, _ := strings.Cut(rest, ">")
	_, box, _ := strings.Cut(attributes, `viewBox="`)
	box, _, _ = strings.Cut(box, `"`)
	e := template.HTMLEscapeString
	return template.HTML(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="` + e(box) + `" role="img" aria-labelledby="` +
		e(f.ID) + `-title ` + e(f.ID) + `-desc">` +
		`<title id="` + e(f.ID) + `-title">` + e(f.Title) + `</title><desc id="` + e(f.ID) + `-desc">` + e(f.About) +
		`</desc>` + strings.TrimSpace(rest))
}
