package xlsx

import (
	"bytes"
	"fmt"
	"io"
	"slices"
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

	row   int    // the number of the row, from 1
	added bool   // to the table
	next  int    // the column of a cell that does not say
	cells []cell // of the first row

	open  bool // a cell
	cell  content
	kind  string // as the sheet says
	style int

	failed     int    // cells that hold an error
	notReady   int    // formulas without a value
	beyond     []int  // rows with cells right of the names, one for each cell
	beyondCell string // the last one of the first of them
}

func (s *sheetReader) read(p *part) {
	for p.next() {
		switch string(p.name) {
		case "dimension":
			ref := p.attribute("ref") // such as A1:D9
			s.wide = min(columnOf(ref[bytes.IndexByte(ref, ':')+1:])+1, mostColumns)
		case "row":
			if p.starts {
				s.startRow(p.attribute("r"))
			}
			if p.ends && !s.begun && len(s.cells) > 0 {
				s.start()
			}
		case "c":
			if p.starts {
				s.startCell(p)
			}
			if p.ends && s.open {
				s.endCell()
			}
		case "sheetData":
			if p.ends {
				return
			}
		default:
			if s.open {
				s.cell.read(p)
			}
		}
	}
	panic(io.ErrUnexpectedEOF)
}

func (s *sheetReader) startRow(number []byte) {
	before := s.row
	s.row++
	if len(number) > 0 {
		n, err := strconv.Atoi(string(number))
		if err != nil {
			panic(fmt.Errorf("a row has the number %s", textfile.Quote(number)))
		}
		s.row = n
	}
	if s.row <= before || s.row > mostRows {
		panic(fmt.Errorf("row %d stands after row %d", s.row, before))
	}
	s.added, s.next, s.open, s.cells = false, 0, false, s.cells[:0]
}

func (s *sheetReader) startCell(p *part) {
	column := s.next
	reference := p.attribute("r")
	if len(reference) > 0 {
		column = columnOf(reference)
	}
	if column < s.next || column >= mostColumns {
		panic(fmt.Errorf("a cell of row %d stands at %s", s.row, textfile.Quote(reference)))
	}
	s.open, s.cell, s.next = true, content{text: s.cell.text[:0]}, column+1
	s.kind = string(p.attribute("t"))
	s.style, _ = strconv.Atoi("0" + string(p.attribute("s")))
}

// columnOf is the column of a reference such as AB12, from 0, or -1.
func columnOf(reference []byte) int {
	n := 0
	for _, c := range reference {
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

// endCell reads what the cell holds.
func (s *sheetReader) endCell() {
	s.open = false
	value, out := s.cell.text, cell{column: s.next - 1}
	if len(value) == 0 {
		if s.cell.formula {
			s.notReady++
			s.put(out)
		}
		return
	}
	switch out.kind = text; s.kind {
	case "s":
		k, err := strconv.Atoi(string(value))
		if err != nil || k < 0 || k >= len(s.texts) {
			panic(fmt.Errorf("a cell of row %d has text %s of %d", s.row, textfile.Quote(value), len(s.texts)))
		}
		out.text = s.texts[k]
	case "str", "inlineStr":
		out.text = string(value)
	case "b":
		out.text = strings.ToUpper(strconv.FormatBool(string(value) == "1" || string(value) == "true"))
	case "e":
		s.failed++
		out.kind = nothing
	case "d":
		out.text = string(value)
		for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", time.RFC3339, time.DateOnly} {
			if at, err := time.Parse(layout, out.text); err == nil {
				out.kind, out.day = day, at
				break
			}
		}
	default:
		v, err := strconv.ParseFloat(string(bytes.TrimSpace(value)), 64)
		if err != nil {
			panic(fmt.Errorf("a cell of row %d has the number %s", s.row, textfile.Quote(value)))
		}
		out.kind, out.number = number, v
		if s.style < len(s.styles) && s.styles[s.style] {
			if at, ok := date(v, s.from); ok {
				out.kind, out.day = day, at
			}
		}
	}
	if out.kind == text && strings.TrimSpace(out.text) == "" {
		return
	}
	s.put(out)
}

// put keeps a cell: one of the first row until the row ends.
func (s *sheetReader) put(c cell) {
	if !s.begun {
		s.take(160 + len(c.text))
		s.cells = append(s.cells, c)
		return
	}
	if !s.added {
		s.builder.Row(s.row)
		s.added = true
	}
	switch {
	case c.column >= s.width:
		if s.beyond == nil || s.beyond[0] == s.row {
			s.beyondCell = nameOf(c.column)
		}
		s.take(16)
		s.beyond = append(s.beyond, s.row)
	case c.kind == number:
		s.builder.Number(c.column, c.number)
	case c.kind == day:
		s.builder.Time(c.column, c.day)
	case c.kind == text:
		s.builder.Text(c.column, c.text)
	}
}

// start makes the table of the first row that has cells: they are the names or the first ones.
func (s *sheetReader) start() {
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
	for _, c := range s.cells {
		list[c.column] = c.name()
	}
	s.builder.Begin(list, line, !names)
	s.begun = true
	for _, c := range s.cells {
		if !names {
			s.put(c)
		}
	}
}

// name is that of a column.
func (c *cell) name() string {
	switch c.kind {
	case number:
		return strconv.FormatFloat(c.number, 'g', -1, 64)
	case day:
		return c.day.Format(time.DateOnly)
	}
	return strings.TrimSpace(c.text)
}

// end ends the table of a sheet.
func (s *sheetReader) end(sheet string) {
	b := s.builder
	if !s.begun {
		b.Fail(0, "the sheet %q is empty, expected a row of column names and rows of data", sheet)
	}
	if n := len(slices.Compact(s.beyond)); n > 0 {
		b.Fail(s.beyond[0], "has a cell in column %s, expected none after %s, the last one with a name in the first row of "+
			"the sheet %q (%d such rows)", s.beyondCell, nameOf(s.width-1), sheet, n)
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
