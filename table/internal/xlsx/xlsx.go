// Package xlsx reads sheets of Excel workbooks (Office Open XML, ISO/IEC 29500: files .xlsx and .xlsm) as tables.
//
// The first row with cells has the names of the columns, unless it has numbers alone; [table.Options.Header] says so
// instead. Rows without cells are passed over. Numbers are those that are stored, not as they are shown; a number shown
// as a date is that date, truth values are the texts TRUE and FALSE, formulas are the values that were saved with them,
// and cells with errors such as #DIV/0! are missing. Lines in messages are numbers of rows of the sheet.
//
// A sheet is read as a stream: beside the table, the texts of the workbook are in memory, and both count to the budget.
// (The stream of excelize has the texts of cells without their types and formats.)
package xlsx

import (
	"archive/zip"
	"bufio"
	"bytes"
	"fmt"
	"io"
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
	w.open("xl/workbook.xml", w.readSheets)
	w.open("xl/_rels/workbook.xml.rels", w.readRelations)
	if styles := "xl/styles.xml"; w.parts[styles] != nil {
		w.open(styles, w.readStyles)
	}
	if texts := "xl/sharedStrings.xml"; w.parts[texts] != nil {
		w.open(texts, w.readTexts)
	}
	sheet := w.sheet(b.Options.Sheet)
	s := &sheetReader{workbook: w}
	w.open(w.target(sheet.relation), s.read)
	s.end(sheet.name)
}

// open reads a part, whose name stands before what is damaged in it, and the rest of it for its checksum.
func (w *workbook) open(name string, read func(*part)) {
	f := w.parts[name]
	if f == nil {
		panic(fmt.Errorf("there is no %s in it", textfile.Quote([]byte(name))))
	}
	defer func() {
		switch wrong := recover().(type) {
		case nil:
		case *textfile.Error, runtime.Error:
			panic(wrong)
		default:
			panic(fmt.Errorf("%s: %v", path.Base(name), wrong))
		}
	}()
	r, err := f.Open()
	table.Check(err)
	defer r.Close()
	p := &part{Scanner: bufio.NewScanner(r)}
	p.Buffer(make([]byte, 64<<10), mostText)
	p.Split(p.toTag)
	read(p)
	_, err = io.Copy(io.Discard, r)
	table.Check(err)
}

func (w *workbook) readSheets(p *part) {
	for p.next() {
		switch string(p.name) {
		case "workbookPr":
			if on := string(p.attribute("date1904")); on == "1" || on == "true" {
				w.from = 1904
			}
		case "sheet":
			if name, relation := string(p.attribute("name")), string(p.attribute("id")); p.starts {
				w.take(len(name) + len(relation) + 64)
				w.sheets = append(w.sheets, sheetName{name, relation})
			}
		}
	}
}

func (w *workbook) readRelations(p *part) {
	for p.next() {
		if string(p.name) == "Relationship" && bytes.HasSuffix(p.attribute("Type"), []byte("/worksheet")) {
			id, target := string(p.attribute("Id")), string(p.attribute("Target"))
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
	w.builder.Fail(0, "has no sheet %q; there are: %s", name, textfile.Names(names))
	return sheetName{}
}

// readTexts reads the texts that cells share.
func (w *workbook) readTexts(p *part) {
	var shared content
	for p.next() {
		shared.read(p)
		if p.ends && string(p.name) == "si" {
			w.take(len(shared.text) + 16)
			w.texts = append(w.texts, string(shared.text))
			shared = content{text: shared.text[:0]}
		}
	}
}

// take counts bytes of what the workbook has beside its sheet.
func (w *workbook) take(n int) { w.builder.Take(int64(n), "") }
