// Package xlsx reads sheets of Excel workbooks (Office Open XML, ISO/IEC 29500: files .xlsx and .xlsm) as tables, by
// the standard library alone.
//
// The first row with cells has the names of the columns, unless it has numbers alone; [table.Options.Header] says so
// instead. Rows without cells are passed over. Numbers are those that are stored, not as they are shown; a number shown
// as a date is that date, truth values are the texts TRUE and FALSE, formulas are the values that were saved with them,
// and cells with errors such as #DIV/0! are missing. Lines in messages are numbers of rows of the sheet.
//
// A sheet is read as a stream: beside the table, the texts of the workbook are in memory, and both count to the budget.
// (The stream of excelize, which takes 1.4 times the time, has the texts of cells without their types and formats.)
package xlsx

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/table"
)

// Format is that of workbooks, for [table.Options.Formats].
func Format() table.Format {
	return table.Format{Name: "an Excel workbook", Sheets: true, Is: is, Read: read}
}

// Bounds of sheets, those of the format.
const mostRows, mostColumns = 1 << 20, 1 << 14

// is says whether bytes are an archive with a workbook.
func is(r io.ReaderAt, size int64) bool {
	if !table.Begins(r, "PK\x03\x04") {
		return false
	}
	archive, err := zip.NewReader(r, size)
	return err == nil && slices.ContainsFunc(archive.File, func(f *zip.File) bool { return f.Name == "xl/workbook.xml" })
}

// workbook is an open file.
type workbook struct {
	builder *table.Builder
	parts   map[string]*zip.File
	sheets  []sheetName
	targets map[string]string // of relations
	from    int               // 1904 where days count from then
	texts   []string
	styles  []bool // whether formats of cells show dates
}

type sheetName struct{ name, relation string }

func read(b *table.Builder, r io.ReaderAt, size int64) {
	archive, err := zip.NewReader(r, size)
	table.Check(err)
	w := &workbook{builder: b, parts: map[string]*zip.File{}, targets: map[string]string{}}
	for _, f := range archive.File {
		w.parts[f.Name] = f
	}
	for _, part := range []struct {
		name   string
		needed bool
		read   func(*parts)
	}{
		{"xl/workbook.xml", true, w.readSheets}, {"xl/_rels/workbook.xml.rels", true, w.readRelations},
		{"xl/styles.xml", false, w.readStyles}, {"xl/sharedStrings.xml", false, w.readTexts},
	} {
		if part.needed || w.parts[part.name] != nil {
			w.open(part.name, part.read)
		}
	}
	sheet := w.sheet(b.Options.Sheet)
	s := &sheetReader{workbook: w}
	w.open(w.target(sheet.relation), s.read)
	s.end(sheet.name)
}

// parts are the tokens of a part of the workbook. The decoder may read so many bytes for one token.
type parts struct {
	*xml.Decoder
	r    io.Reader
	left int
}

const mostToken = 4 << 20

func (p *parts) Read(b []byte) (int, error) {
	if p.left <= 0 {
		return 0, errors.New("a cell is longer than any that Excel writes")
	}
	n, err := p.r.Read(b)
	p.left -= n
	return n, err
}

// open reads a part, whose name stands before what is damaged in it.
func (w *workbook) open(name string, read func(*parts)) {
	f := w.parts[name]
	if f == nil {
		panic(fmt.Errorf("there is no %s in it", textfile.Quote([]byte(name))))
	}
	r, err := f.Open()
	table.Check(err)
	defer r.Close()
	p := &parts{r: r}
	p.Decoder = xml.NewDecoder(p)
	defer func() {
		switch wrong := recover().(type) {
		case nil:
		case *textfile.Error, runtime.Error:
			panic(wrong)
		default:
			panic(fmt.Errorf("%s: %v", path.Base(name), wrong))
		}
	}()
	read(p)
}

// tokens are those from here to the end of the part.
func (p *parts) tokens() iter.Seq[xml.Token] {
	return func(yield func(xml.Token) bool) {
		for {
			p.left = mostToken
			token, err := p.RawToken()
			if err == io.EOF {
				return
			}
			table.Check(err)
			if !yield(token) {
				return
			}
		}
	}
}

// elements are those that start.
func (p *parts) elements() iter.Seq[xml.StartElement] {
	return func(yield func(xml.StartElement) bool) {
		for token := range p.tokens() {
			if e, ok := token.(xml.StartElement); ok && !yield(e) {
				return
			}
		}
	}
}

// content is the text of an element, as its tokens give it. How a word is pronounced is left out.
type content struct {
	text           strings.Builder
	inText, spoken bool
	formula        bool // of the cell
}

func (c *content) start(name string) {
	switch name {
	case "v", "t":
		c.inText = true
	case "f":
		c.formula = true
	case "rPh":
		c.spoken = true
	}
}

func (c *content) end(name string) {
	switch name {
	case "v", "t":
		c.inText = false
	case "rPh":
		c.spoken = false
	}
}

func (c *content) add(chars []byte) {
	if !c.inText || c.spoken {
		return
	}
	if c.text.Write(chars); c.text.Len() > mostToken {
		panic(errors.New("a text is longer than any that Excel writes"))
	}
}

// attribute is the value of the one of that name, whatever its prefix.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (w *workbook) readSheets(p *parts) {
	for e := range p.elements() {
		switch e.Name.Local {
		case "workbookPr":
			if on := attribute(e, "date1904"); on == "1" || on == "true" {
				w.from = 1904
			}
		case "sheet":
			relation := ""
			for _, a := range e.Attr {
				if a.Name.Space != "" && a.Name.Local == "id" {
					relation = a.Value
				}
			}
			w.take(len(relation) + 64)
			w.sheets = append(w.sheets, sheetName{attribute(e, "name"), relation})
		}
	}
}

func (w *workbook) readRelations(p *parts) {
	for e := range p.elements() {
		if e.Name.Local == "Relationship" && strings.HasSuffix(attribute(e, "Type"), "/worksheet") {
			id, target := attribute(e, "Id"), attribute(e, "Target")
			w.take(len(id) + len(target) + 64)
			w.targets[id] = target
		}
	}
}

// target is the part of a relation.
func (w *workbook) target(relation string) string {
	target := w.targets[relation]
	if absolute, found := strings.CutPrefix(target, "/"); found {
		return absolute
	}
	return path.Join("xl", target)
}

// sheet finds one by its name, the first one without.
func (w *workbook) sheet(name string) sheetName {
	var names []string
	for _, s := range w.sheets {
		if w.targets[s.relation] == "" {
			continue // a chart
		}
		if name == "" || s.name == name {
			return s
		}
		names = append(names, s.name)
	}
	if name == "" {
		w.builder.Fail(0, "is a workbook without sheets of cells")
	}
	w.builder.Fail(0, "has no sheet %q; there are: %s", name,
		textfile.Names(names))
	return sheetName{}
}

// readTexts reads the texts that cells share.
func (w *workbook) readTexts(p *parts) {
	shared := &content{}
	for token := range p.tokens() {
		switch e := token.(type) {
		case xml.StartElement:
			shared.start(e.Name.Local)
		case xml.EndElement:
			if e.Name.Local == "si" {
				w.take(shared.text.Len() + 16)
				w.texts = append(w.texts, shared.text.String())
				shared = &content{}
			}
			shared.end(e.Name.Local)
		case xml.CharData:
			shared.add(e)
		}
	}
}

// take counts bytes of what the workbook has beside its sheet.
func (w *workbook) take(n int) { w.builder.Take(int64(n), "") }
