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
