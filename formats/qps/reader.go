package qps

import (
	"fmt"
	"io"
	"strings"

	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/textfile"
)

// read reads from a source that stands at its first line.
func read(s *textfile.Source) (*Model, error) {
	r := &reader{
		s: s, m: &Model{}, seen: map[string]bool{},
		rows: map[string]int32{}, columns: map[string]int32{},
		last: -1,
	}
	for {
		line, err := s.Line()
		if err == io.EOF {
			return nil, r.unfinished()
		}
		if err != nil {
			return nil, err
		}
		if len(line) == 0 || line[0] == '*' || textfile.IsBlank(line) {
			continue
		}
		if textfile.LeadingBlank(line) == 0 {
			end, err := r.header(line)
			if err != nil {
				return nil, err
			}
			if end {
				return r.finish()
			}
			continue
		}
		if err := r.data(line); err != nil {
			return nil, err
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
	s *textfile.Source
	m *Model

	parse func(*reader) error // reads the data lines of the section; nil before the first one
	name  string              // of the section
	seen  map[string]bool     // the sections so far

	words   fieldLine
	entries []rowEntry // of the line, kept for its memory

	rows, columns map[string]int32 // the index of a name
	kinds         []byte           // of the rows: L, G or E
	wanted        string           // the objective that OBJNAME asks for
	last          int              // the column of the last line of COLUMNS
	a             program.Entries

	rhs, ranges sides
	bounds      string // the set of bounds that counts
	hasBounds   bool
	lowerSet    []bool // whether a bound has set the lower one, by column

	quadratic     program.Entries
	quadraticName string // the section that it comes from
	quadraticLine int
}

// fail makes an error about the current line.
func (r *reader) fail(field, format string, args ...any) error {
	return r.s.Errorf(r.s.LineNumber(), field, format, args...)
}

// sections are those with data lines.
var sections = map[string]func(*reader) error{
	"ROWS": (*reader).rowLine, "COLUMNS": (*reader).columnLine,
	"RHS": (*reader).rhsLine, "RANGES": (*reader).rangeLine, "BOUNDS": (*reader).boundLine,
	"QUADOBJ": (*reader).quadraticEntries, "QMATRIX": (*reader).quadraticEntries, "QSECTION": (*reader).quadraticEntries,
	"OBJSENSE": (*reader).senseLine, "OBJNAME": (*reader).objectiveLine,
}

// unsupported are sections of programs that this package does not hold.
var unsupported = map[string]string{
	"QCMATRIX": "quadratic constraints", "CSECTION": "cones (a CBF file can hold them)", "SOS": "special ordered sets", "SOS1": "special ordered sets",
	"SOS2": "special ordered sets", "INDICATORS": "indicator constraints", "GENCONS": "general constraints",
	"PWLOBJ": "piecewise linear objectives", "LAZYCONS": "lazy constraints", "USERCUTS": "user cuts",
}

// header reads a line that opens a section; end says that it was the last one.
func (r *reader) header(line []byte) (end bool, err error) {
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
		return false, nil
	}
	if what, ok := unsupported[name]; ok {
		return false, r.fail("section "+name, "%s are not supported, expected a linear or convex quadratic program with linear constraints", what)
	}
	if maximize, ok := senses[name]; ok && len(rest) == 0 {
		r.parse, r.m.Maximize = nil, maximize
		return false, nil
	}
	parse, ok := sections[name]
	if !ok && name != "ENDATA" {
		return false, r.fail("", "%s found, expected a section such as ROWS, or data, which start with a blank", textfile.Quote([]byte(words[0])))
	}
	if r.seen[name] {
		return false, r.fail("section "+name, "is there twice")
	}
	switch name {
	case "COLUMNS":
		if !r.seen["ROWS"] {
			return false, r.fail("section "+name, "comes before ROWS")
		}
	case "RHS", "RANGES", "BOUNDS", "QUADOBJ", "QMATRIX", "QSECTION", "ENDATA":
		if !r.seen["COLUMNS"] {
			return false, r.fail("section "+name, "comes before COLUMNS")
		}
	case "OBJNAME":
		if r.seen["ROWS"] {
			return false, r.fail("section "+name, "comes after ROWS, expected before")
		}
	}
	if name == "ENDATA" {
		return true, nil
	}
	r.seen[name], r.parse, r.name = true, parse, name
	switch {
	case name == "OBJSENSE" && len(rest) > 0:
		err = r.sense(rest[0])
	case name == "OBJNAME" && len(rest) > 0:
		r.wanted = rest[0]
	case name == "QUADOBJ" || name == "QMATRIX" || name == "QSECTION":
		err = r.openQuadratic(rest)
	case len(rest) > 0:
		err = r.fail("section "+name, "has %s on its line, expected the data on lines of their own that start with a blank", textfile.Quote([]byte(rest[0])))
	}
	return false, err
}

// data reads a data line.
func (r *reader) data(line []byte) error {
	if r.parse == nil {
		return r.fail("", "data found before a section, expected NAME, ROWS or another section from the first column on")
	}
	r.words.split(line)
	if !r.words.fixed {
		err := r.parse(r)
		if err == nil || !r.words.splitFixed(line) {
			return err
		}
		// A name with a blank, perhaps: what makes sense by columns is meant so.
		r.words.fixed = true
		if r.parse(r) == nil {
			r.words.since = r.s.LineNumber()
			return nil
		}
		r.words.fixed = false
		return err
	}
	if !r.words.splitFixed(line) {
		return r.fail("", "does not keep to the columns 2-3, 5-12, 15-22, 25-36, 40-47 and 50-61, as line %d does, where a name has a blank", r.words.since)
	}
	err := r.parse(r)
	if e, ok := err.(*textfile.Error); ok {
		e.Reason += fmt.Sprintf(" (by columns 5-12, 15-22, .., since line %d has a name with a blank)", r.words.since)
	}
	return err
}

func (r *reader) unfinished() error {
	if len(r.seen) == 0 && r.m.Name == "" {
		return r.s.Errorf(0, "", "is empty or not an MPS file, expected NAME, ROWS, COLUMNS, .., ENDATA")
	}
	return r.s.Errorf(r.s.LineNumber(), "", "ENDATA is missing, is the file complete?")
}

var senses = map[string]bool{"MAX": true, "MAXIMIZE": true, "MAXIMISE": true, "MIN": false, "MINIMIZE": false, "MINIMISE": false}

func (r *reader) sense(word string) error {
	maximize, ok := senses[strings.ToUpper(word)]
	if !ok {
		return r.fail("OBJSENSE", "%s found, expected MAX or MIN", textfile.Quote([]byte(word)))
	}
	r.m.Maximize = maximize
	return nil
}

func (r *reader) senseLine() error {
	if len(r.words.field) != 1 {
		return r.fail("OBJSENSE", "%d words found, expected MAX or MIN", len(r.words.field))
	}
	return r.sense(string(r.words.field[0]))
}

func (r *reader) objectiveLine() error {
	if len(r.words.field) != 1 {
		return r.fail("OBJNAME", "%d words found, expected the name of a row", len(r.words.field))
	}
	r.wanted = string(r.words.field[0])
	return nil
}
