// Package webpage makes the HTML pages of the program: each is one file that
// needs no other and no network, which the page's own policy enforces.
//
// A page can be used by mouse, touch, keyboard and screen reader, follows the
// light or dark scheme of the reader, prints, and says everything without
// JavaScript, which adds the sorting of tables and the reading of figures.
package webpage

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"github.com/conetune/conetune/internal/textfile"
)

//go:embed style.css
var style string

//go:embed script.js
var script string

//go:embed page.html
var common string

// Figure is a picture with its text. The title is unique on the page; Caption is what is needed of it below the heading
// where the figure stands.
type Figure struct {
	ID, Title, Caption string
	// SVG is the picture, see [SVG].
	SVG template.HTML
	// Numbers is what the picture shows. Rows with an X can be read by pointing at the picture: their first
	// cell is the place, the other columns are the lines, in groups the panels.
	Numbers Table
}

// New parses a page. The body is what stands in its main element; it may use the templates "table" and "figure"
// with values of these types. The page is written by [Write].
func New(name, body string) *template.Template {
	t := template.Must(template.New(name).Parse(common))
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

// SVG takes a picture as it stands in a file, without its header, into a page.
// The title and the description are what a screen reader says; id is that of the figure.
func SVG(picture, id, title, description string) template.HTML {
	_, rest, _ := strings.Cut(picture, "<svg ")
	attributes, rest, _ := strings.Cut(rest, ">")
	_, box, _ := strings.Cut(attributes, `viewBox="`)
	box, _, _ = strings.Cut(box, `"`)
	e := template.HTMLEscapeString
	return template.HTML(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="` + e(box) + `" role="img" aria-labelledby="` + e(id) + `-title ` + e(id) + `-desc">` +
		`<title id="` + e(id) + `-title">` + e(title) + `</title><desc id="` + e(id) + `-desc">` + e(description) + `</desc>` + strings.TrimSpace(rest))
}
