package table

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/internal/textfile"
)

// Builder makes a table of cells whose types are known, as files have them that are not text: [Format].Read gets one,
// begins it with the names of the columns, and adds rows, [Builder.Row] or [Builder.Next], and then their cells, which
// are missing where none is set. What is wrong panics, where the budget of memory is used up,
// for example.
type Builder struct {
	// Options say what is not to be found out from the file.
	Options Options

	meanings
	batch   []float64 // the cells of the batch, row by row
	lines   []int32
	columns []buildColumn
	budget  int64
	used    int64

	line int // of the row that [Builder.Next] added last
}

// buildColumn is what a column needs while it grows.
type buildColumn struct {
	cells map[string]float64 // of texts
	times map[time.Time]float64
	clock bool // some time is not midnight
}

const (
	// batchRows and batchCells bound what is kept before it is settled.
	batchRows, batchCells = 4096, 1 << 20
	// codeBytes is what a text takes in the dictionary while the table is read.
	codeBytes = 2 * textBytes
	// mostBuilt bounds the columns.
	mostBuilt = 1 << 20
)

// newBuilder is for the table of a file of that name.
func newBuilder(file string, o Options) *Builder {
	t := &Table{name: file, missing: o.Missing}
	return &Builder{Options: o, meanings: meanings{table: t, missing: newSpellings(o.Missing)}, budget: memory.Default()}
}

// Begin begins with the names of the columns; with numbered, the file has none: they are x1, x2, .., and
// Wanted.Targets 3 counts columns.
// Line is where the names stand, 0 for nowhere.
func (b *Builder) Begin(names []string, line int, numbered bool) {
	if len(names) == 0 {
		b.Fail(0, "has no columns")
	}
	if len(names) > mostBuilt {
		b.Fail(0, "has %d columns, expected at most %d", len(names), mostBuilt)
	}
	b.table.header, b.table.dialect = line, dialect{Decimal: '.', Header: !numbered}
	b.columns = make([]buildColumn, len(names))
	for j, name := range names {
		if numbered {
			name = fmt.Sprintf("x%d", j+1)
		}
		b.table.columns = append(b.table.columns, Column{Name: lineEnds.Replace(name), Unnamed: name == "" || numbered})
		b.take(columnBytes + len(name))
	}
	if !numbered {
		b.table.nameColumns()
	}
	b.verbatim = b.table.verbatim(b.Options)
}

// Fail ends the reading of the file with what is wrong on a line of it, 0 for the whole.
func (b *Builder) Fail(line int, format string, args ...any) {
	panic(&textfile.Error{File: b.table.name, Line: line, Reason: fmt.Sprintf(format, args...)})
}

// mostRows bounds the rows, whose numbers have 32 bits.
const mostRows = 1<<31 - 1

// Row adds a row that stands on a line of the file.
func (b *Builder) Row(line int) {
	width := len(b.columns)
	if len(b.lines) >= max(1, min(batchRows, batchCells/width)) {
		b.settle()
	}
	b.lines = append(b.lines, int32(line))
	for range width {
		b.batch = append(b.batch, missingCell)
	}
}

// Next adds a row on the line after that of the last one, from 1.
func (b *Builder) Next() {
	if b.line++; b.line > mostRows {
		b.Fail(0, "has more than %d rows", mostRows)
	}
	b.Row(b.line)
}

func (b *Builder) set(j int, cell float64) { b.batch[len(b.batch)-len(b.columns)+j] = cell }

// Number sets the cell of the last row in column j; NaN is missing.
func (b *Builder) Number(j int, v float64) {
	switch {
	case math.IsNaN(v):
	case math.Abs(v) > textfile.LargestEntry:
		b.Text(j, strings.TrimPrefix(fmt.Sprint(v), "+"))
	default:
		b.set(j, v)
	}
}

// Text sets a cell. A text that stands for a missing value is one; a number in its shortest form is that number, and
// others stay as they are, for the whole column to decide: 007 is a number among numbers, and a level in a category.
func (b *Builder) Text(j int, text string) {
	c := &b.columns[j]
	cell, known := c.cells[text]
	if !known {
		cell = b.newText(j, text)
	}
	b.set(j, cell)
}

// LeftOut tells of columns of kinds that no table has.
func (b *Builder) LeftOut(names []string) {
	var columns []FoundColumn
	for _, name := range names {
		columns = append(columns, FoundColumn{Name: name})
	}
	b.table.findings = found(b.table.findings, "columns", columns, "%s: lists, structures or bytes, left out")
}

// lineEnds are blanks in texts.
var lineEnds = strings.NewReplacer("\n", " ", "\r", " ")

// newText is the cell of a text that was not seen before.
func (b *Builder) newText(j int, text string) float64 {
	short := strings.TrimSpace(lineEnds.Replace(strings.ToValidUTF8(text, "\uFFFD")))
	cell := missingCell
	if v, n := textfile.Decimal([]byte(short)); n > 0 && n == len(short) && formatNumber(v) == short &&
		math.Abs(v) <= textfile.LargestEntry {
		cell = v
	} else if short != "" && (!missingTexts[short] || b.verbatim[j]) {
		cell = b.text(j, strings.Clone(short), b.take)
	}
	c := &b.columns[j]
	if c.cells == nil {
		c.cells = map[string]float64{}
	}
	if code, isText := textCode(cell); !isText || code != overflowCode {
		b.take(codeBytes + len(text))
		c.cells[strings.Clone(text)] = cell
	}
	return cell
}

// Time sets a cell to a date, or to a time of a day, as it stands in the clock of its zone.
func (b *Builder) Time(j int, at time.Time) {
	at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
	c := &b.columns[j]
	cell, known := c.times[at]
	if !known {
		code := b.table.columns[j].addText(at.Format(time.DateTime+".999999999"), b.take)
		cell = textCell(code)
		if code != overflowCode {
			if c.times == nil {
				c.times = map[time.Time]float64{}
			}
			c.times[at] = cell
			b.take(codeBytes)
		}
		c.clock = c.clock || at.Hour()+at.Minute()+at.Second()+at.Nanosecond() > 0
	}
	b.set(j, cell)
}

// Tell adds to what the user should know of the file.
func (b *Builder) Tell(kind, format string, args ...any) {
	b.table.findings = append(b.table.findings, Finding{Kind: kind, Text: fmt.Sprintf(format, args...)})
}

// Take counts bytes that the reader of the file keeps beside those of the table, or gives back where they are negative.
// What they are for is told where they are more than the budget of memory alone.
func (b *Builder) Take(n int64, what string) {
	if n > b.budget-b.used {
		if n <= b.budget {
			what = ""
		}
		budget := memory.Format(b.budget) + " (" + memory.More + ")"
		b.Fail(0, "%s", strings.TrimPrefix(what+" does not fit into the budget of memory, ", " ")+budget)
	}
	b.used += n
}

func (b *Builder) take(n int) { b.Take(int64(n), "") }

// settle keeps the rows of the batch.
func (b *Builder) settle() {
	if len(b.lines) == 0 {
		return
	}
	b.take(b.addRows(b.batch, b.lines))
	b.lines, b.batch = b.lines[:0], b.batch[:0]
}

// end ends the table.
func (b *Builder) end() *Table {
	b.settle()
	t := b.table
	if t.rows == 0 {
		b.Fail(0, "has column names and no rows, expected at least one row of data")
	}
	for j := range b.columns {
		if c := &b.columns[j]; !c.clock {
			for at, cell := range c.times {
				code, _ := textCode(cell)
				t.columns[j].texts[code] = at.Format(time.DateOnly)
			}
		}
	}
	t.count()
	return t
}
