package qps

import (
	"fmt"
	"io"
	"strings"

	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/textfile"
)

// read reads from a source that stands at its first line.
func read(s *textfile.Source) (m *Model, err error) {
	defer program.Catch(&err)
	r := &reader{
		Lines: program.Lines{Source: s}, m: &Model{}, seen: map[string]bool{},
		rows: map[string]int32{}, columns: map[string]int32{},
		last: -1,
	}
	for {
		line, err := s.Line()
		if err == io.EOF {
			r.unfinished()
		}
		r.Lines.Check(err)
		switch {
		case len(line) == 0 || line[0] == '*' || textfile.IsBlank(line):
		case textfile.LeadingBlank(line) > 0:
			r.data(line)
		case r.header(line):
			return r.finish(), nil
		}
	}
}

// Row indices that are not rows.
const (
	objectiveRow = -1
	droppedRow   = -2
)

// reader is the state of reading.
type reader struct {
	program.Lines
	m *Model

	parse func(*reader)   // reads the data lines of the section; nil before the first one
	name  string          // of the section
	seen  map[string]bool // the sections so far

	words   fieldLine
	entries []rowEntry // of the line, kept for its memory

	rows, columns map[string]int32 // the index of a name
	kinds         []byte           // of the rows: L, G or E
	wanted        string           // the objective that OBJNAME asks for
	last          int              // the column of the last line of COLUMNS
	a             program.Entries

	rhs, ranges sides
	bounds      string // the set of bounds that counts, if there is one
	lowerSet    []bool // whether a bound has set the lower one, by column

	quadratic     program.Entries
	quadraticName string // the section that it comes from
	quadraticLine int
}

// fail ends the reading with what is wrong with a part of the current line.
func (r *reader) fail(field, format string, args ...any) {
	r.FailAt(r.LineNumber(), field, format, args...)
}

// sections have the functions that read their data lines, and the section that comes before them.
var sections = map[string]struct {
	parse func(*reader)
	after string
}{
	"ROWS": {(*reader).rowLine, ""}, "COLUMNS": {(*reader).columnLine, "ROWS"},
	"RHS": {(*reader).rhsLine, "COLUMNS"}, "RANGES": {(*reader).rangeLine, "COLUMNS"},
	"BOUNDS": {(*reader).boundLine, "COLUMNS"}, "QUADOBJ": {(*reader).quadraticEntries, "COLUMNS"},
	"QMATRIX": {(*reader).quadraticEntries, "COLUMNS"}, "QSECTION": {(*reader).quadraticEntries, "COLUMNS"},
	"OBJSENSE": {(*reader).senseLine, ""}, "OBJNAME": {(*reader).objectiveLine, ""}, "ENDATA": {nil, "COLUMNS"},
}

// unsupported are sections of programs that this package does not hold.
var unsupported = map[string]string{
	"QCMATRIX": "quadratic constraints", "CSECTION": "cones (a CBF file can hold them)", "SOS": "special ordered sets",
	"SOS1": "special ordered sets",
	"SOS2": "special ordered sets", "INDICATORS": "indicator constraints", "GENCONS": "general constraints",
	"PWLOBJ": "piecewise linear objectives", "LAZYCONS": "lazy constraints", "USERCUTS": "user cuts",
}

// header reads a line that opens a section; end says that it was the last one.
func (r *reader) header(line []byte) (end bool) {
	var words []string
	for _, word := range textfile.Words(nil, line) {
		words = append(words, string(word))
	}
	name, rest := strings.ToUpper(words[0]), words[1:]
	if name == "NAME" {
		r.parse = nil
		if len(rest) > 0 {
			r.m.Name = rest[0]
		}
		return false
	}
	if what, ok := unsupported[name]; ok {
		r.fail("section "+name, "%s are not supported, expected a linear or convex quadratic program with linear constraints",
			what)
	}
	if maximize, ok := senses[name]; ok && len(rest) == 0 {
		r.parse, r.m.Maximize = nil, maximize
		return false
	}
	section, ok := sections[name]
	if !ok {
		r.fail("", "%s found, expected a section such as ROWS, or data, which start with a blank",
			textfile.Quote([]byte(words[0])))
	}
	switch {
	case r.seen[name]:
		r.fail("section "+name, "is there twice")
	case section.after != "" && !r.seen[section.after]:
		r.fail("section "+name, "comes before %s", section.after)
	case name == "OBJNAME" && r.seen["ROWS"]:
		r.fail("section "+name, "comes after ROWS, expected before")
	case name == "ENDATA":
		return true
	}
	r.seen[name], r.parse, r.name = true, section.parse, name
	switch {
	case name == "OBJSENSE" && len(rest) > 0:
		r.sense(rest[0])
	case name == "OBJNAME" && len(rest) > 0:
		r.wanted = rest[0]
	case name == "QUADOBJ" || name == "QMATRIX" || name == "QSECTION":
		r.openQuadratic(rest)
	case len(rest) > 0:
		r.fail("section "+name, "has %s on its line, expected the data on lines of their own that start with a blank",
			textfile.Quote([]byte(rest[0])))
	}
	return false
}

// data reads a data line.
func (r *reader) data(line []byte) {
	if r.parse == nil {
		r.fail("", "data found before a section, expected NAME, ROWS or another section from the first column on")
	}
	r.words.field = textfile.Words(r.words.field[:0], line)
	if !r.words.fixed {
		err := r.try()
		if err == nil {
			return
		}
		if r.words.splitFixed(line) { // a name with a blank, perhaps: what makes sense by columns is meant so
			r.words.fixed, r.words.since = true, r.LineNumber()
			if r.try() == nil {
				return
			}
			r.words.fixed = false
		}
		panic(err)
	}
	if !r.words.splitFixed(line) {
		r.fail("", "does not keep to the columns 2-3, 5-12, 15-22, 25-36, 40-47 and 50-61, as line %d does, where a name "+
			"has a blank", r.words.since)
	}
	if err := r.try(); err != nil {
		e := err.(*textfile.Error)
		e.Reason += fmt.Sprintf(" (by columns 5-12, 15-22, .., since line %d has a name with a blank)", r.words.since)
		panic(e)
	}
}

// try reads the fields of a line; the error is a [*textfile.Error].
func (r *reader) try() (err error) {
	defer program.Catch(&err)
	r.parse(r)
	return nil
}

func (r *reader) unfinished() {
	if len(r.seen) == 0 && r.m.Name == "" {
		r.FailAt(0, "", "is empty or not an MPS file, expected NAME, ROWS, COLUMNS, .., ENDATA")
	}
	r.fail("", "ENDATA is missing, is the file complete?")
}

var senses = map[string]bool{"MAX": true, "MAXIMIZE": true, "MAXIMISE": true, "MIN": false, "MINIMIZE": false,
	"MINIMISE": false}

func (r *reader) sense(word string) {
	maximize, ok := senses[strings.ToUpper(word)]
	if !ok {
		r.fail("OBJSENSE", "%s found, expected MAX or MIN", textfile.Quote([]byte(word)))
	}
	r.m.Maximize = maximize
}

func (r *reader) senseLine() {
	if len(r.words.field) != 1 {
		r.fail("OBJSENSE", "%d words found, expected MAX or MIN", len(r.words.field))
	}
	r.sense(string(r.words.field[0]))
}

func (r *reader) objectiveLine() {
	if len(r.words.field) != 1 {
		r.fail("OBJNAME", "%d words found, expected the name of a row", len(r.words.field))
	}
	r.wanted = string(r.words.field[0])
}
