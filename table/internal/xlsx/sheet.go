package xlsx

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/conetune/conetune/internal/textfile"
)

// kind is what a cell holds.
type kind int

const (
	nothing kind = iota
	number
	text
	day
)

// cell is one of a row that has something.
type cell struct {
	column int // from 0
	kind   kind
	number float64
	text   string
	day    time.Time
}

// sheetReader makes the rows of a sheet a table.
type sheetReader struct {
	*workbook
	begun bool // the table has its columns
	width int
	wide  int // the columns of the sheet as it says itself

	row   int // the number of the row, from 1
	cells []cell
	held  int64 // by the cells of the row, in bytes

	failed     int // cells that hold an error
	notReady   int // formulas without a value
	beyond     int // cells right of the names
	beyondRow  int // the first one
	beyondCell string
}

// openCell is the cell that is being read.
type openCell struct {
	content
	column    int
	kind      string // as the sheet says
	style     int
	reference string
}

func (s *sheetReader) read(p *parts) {
	var c *openCell // nil between cells
	next := 0       // the column of a cell that does not say
	for token := range p.tokens() {
		switch e := token.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "dimension":
				s.wide = widthOf(attribute(e, "ref"))
			case "row":
				s.startRow(attribute(e, "r"))
				c, next = nil, 0
			case "c":
				c = s.startCell(e, next)
				next = c.column + 1
			default:
				if c != nil {
					c.start(e.Name.Local)
				}
			}
		case xml.EndElement:
			switch {
			case e.Name.Local == "row":
				s.endRow()
				s.cells = s.cells[:0] // whose row may be ended twice
			case e.Name.Local == "sheetData":
				return
			case c == nil:
			case e.Name.Local == "c":
				s.endCell(c)
				c = nil
			default:
				c.end(e.Name.Local)
			}
		case xml.CharData:
			if c != nil {
				c.add(e)
			}
		}
	}
}

func (s *sheetReader) startRow(number string) {
	before := s.row
	s.row++
	if number != "" {
		n, err := strconv.Atoi(number)
		if err != nil {
			panic(fmt.Errorf("a row has the number %s", textfile.Quote([]byte(number))))
		}
		s.row = n
	}
	if s.row <= before || s.row > mostRows {
		panic(fmt.Errorf("row %d stands after row %d", s.row, before))
	}
	s.cells, s.held = s.cells[:0], 0
}

func (s *sheetReader) startCell(e xml.StartElement, next int) *openCell {
	c := &openCell{column: next, reference: attribute(e, "r"), kind: attribute(e, "t")}
	c.style, _ = strconv.Atoi(attribute(e, "s"))
	if c.reference != "" {
		c.column = columnOf(c.reference)
	}
	if c.column < next || c.column >= mostColumns {
		panic(fmt.Errorf("a cell of row %d stands at %s", s.row, textfile.Quote([]byte(c.reference))))
	}
	return c
}

// columnOf is the column of a reference such as AB12, from 0, or -1.
func columnOf(reference string) int {
	n := 0
	for _, c := range []byte(reference) {
		if c < 'A' || c > 'Z' {
			break
		}
		if n = 26*n + int(c-'A') + 1; n > mostColumns {
			break
		}
	}
	return n - 1
}

// nameOf is the name of a column, such as AB.
func nameOf(column int) string {
	name := ""
	for n := column + 1; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}

// widthOf is how many columns a range such as A1:D9 has.
func widthOf(cells string) int {
	_, last, found := strings.Cut(cells, ":")
	if !found {
		last = cells
	}
	return min(columnOf(last)+1, mostColumns)
}

// endCell reads what the cell holds.
func (s *sheetReader) endCell(c *openCell) {
	value := c.text.String()
	if value == "" {
		if c.formula {
			s.notReady++
			s.cells = append(s.cells, cell{column: c.column})
			s.hold(cellBytes)
		}
		return
	}
	out := cell{column: c.column, kind: text, text: value}
	switch c.kind {
	case "s":
		k, err := strconv.Atoi(value)
		if err != nil || k < 0 || k >= len(s.texts) {
			panic(fmt.Errorf("a cell of row %d has text %s of %d", s.row, textfile.Quote([]byte(value)), len(s.texts)))
		}
		out.text = s.texts[k]
	case "str", "inlineStr":
	case "b":
		out.text = "FALSE"
		if value == "1" || value == "true" {
			out.text = "TRUE"
		}
	case "e":
		s.failed++
		out.kind = nothing
	case "d":
		for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", time.RFC3339, time.DateOnly} {
			if at, err := time.Parse(layout, value); err == nil {
				out.kind, out.day = day, at
				break
			}
		}
	default:
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			panic(fmt.Errorf("a cell of row %d has the number %s", s.row, textfile.Quote([]byte(value))))
		}
		out.kind, out.number = number, v
		if c.style >= 0 && c.style < len(s.styles) && s.styles[c.style] {
			if at, ok := date(v, s.from); ok {
				out.kind, out.day = day, at
			}
		}
	}
	if out.kind == text && strings.TrimSpace(out.text) == "" {
		return
	}
	s.cells = append(s.cells, out)
	s.hold(cellBytes + int64(len(value)))
}

// cellBytes is what a cell takes beside its text.
const cellBytes = 160

// hold counts bytes.
func (s *sheetReader) hold(n int64) {
	s.held += n
	s.builder.Take(n, "")
}

// endRow keeps the cells of a row that has some.
func (s *sheetReader) endRow() {
	if len(s.cells) == 0 || !s.begun && s.start() {
		return
	}
	if last := s.cells[len(s.cells)-1]; last.column >= s.width {
		if s.beyond++; s.beyond == 1 {
			s.beyondRow, s.beyondCell = s.row, nameOf(last.column)
		}
	} else {
		s.builder.Row(s.row)
		for _, c := range s.cells {
			switch c.kind {
			case number:
				s.builder.Number(c.column, c.number)
			case day:
				s.builder.Time(c.column, c.day)
			case text:
				s.builder.Text(c.column, c.text)
			}
		}
	}
	s.hold(-s.held)
}

// start makes the table of the first row; true means that it has the names.
func (s *sheetReader) start() bool {
	names := s.builder.Options.Header == "yes"
	for _, c := range s.cells {
		names = names || s.builder.Options.Header == "" && c.kind != number
	}
	s.width = s.cells[len(s.cells)-1].column + 1
	line := s.row
	if !names {
		s.width, line = max(s.width, s.wide), 0
	}
	list := make([]string, s.width)
	for j := range list {
		if !names {
			list[j] = fmt.Sprintf("x%d", j+1)
		}
	}
	for _, c := range s.cells {
		if names {
			list[c.column] = c.name()
		}
	}
	s.builder.Begin(list, line, !names)
	s.begun = true
	return names
}

// name is that of a column.
func (c *cell) name() string {
	switch c.kind {
	case number:
		return strconv.FormatFloat(c.number, 'g', -1, 64)
	case day:
		return c.day.Format(time.DateOnly)
	case nothing:
		return ""
	}
	return strings.TrimSpace(c.text)
}

// end ends the table of a sheet.
func (s *sheetReader) end(sheet string) {
	b := s.builder
	if !s.begun {
		b.Fail(0, "the sheet %q is empty, expected a row of column names and rows of data", sheet)
	}
	if s.beyond > 0 {
		b.Fail(s.beyondRow, "has a cell in column %s, expected none after %s, the last one with a name in the first row of "+
			"the sheet %q (%d such rows)", s.beyondCell, nameOf(s.width-1), sheet, s.beyond)
	}
	if n := len(s.sheets); n > 1 && b.Options.Sheet == "" {
		b.Tell("dialect", "the workbook has %d sheets, of which the first, %q, is read (Options.Sheet names another)",
			n, sheet)
	}
	if s.failed > 0 {
		b.Tell("missing", "cells that hold an error such as #DIV/0!: %d; they count as missing", s.failed)
	}
	if s.notReady > 0 {
		b.Tell("missing", "cells with a formula whose value was not saved: %d; they count as missing", s.notReady)
	}
}
