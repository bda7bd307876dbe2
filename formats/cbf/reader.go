package cbf

import (
	"math"

	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/textfile"
)

// read reads from a source that stands at its first line.
func read(s *textfile.Source) (m *Model, err error) {
	defer program.Catch(&err)
	r := &reader{Lines: program.Lines{Source: s}, m: &Model{}, seen: map[string]bool{}}
	for r.next() {
		r.keyword()
	}
	switch {
	case !r.seen["VER"]:
		return nil, s.Errorf(0, "", "is empty or not a CBF file, expected VER first")
	case !r.seen["OBJSENSE"]:
		return nil, s.Errorf(0, "", "has no OBJSENSE, expected MIN or MAX")
	}
	return r.m, nil
}

// reader is the state of reading. Field is the keyword of the section.
type reader struct {
	program.Lines
	m    *Model
	seen map[string]bool

	powers, dualPower [][]float64
}

// next moves to the next line with words on it, false at the end.
func (r *reader) next() bool {
	for r.Next(nil) {
		if r.Words[0][0] != '#' {
			return true
		}
	}
	return false
}

// line moves to the next line, which must have that many words.
func (r *reader) line(words int, what string) {
	if !r.next() {
		r.Fail("the file ends where %s is expected", what)
	}
	if len(r.Words) != words {
		r.Fail("%d words found where %s is expected", len(r.Words), what)
	}
}

// index reads word k as a number from 0 to limit-1.
func (r *reader) index(k, limit int, what string) int {
	v, ok := program.Int(r.Words[k])
	switch {
	case !ok || v < 0:
		r.Fail("%s %s found, expected a whole number from 0", what, textfile.Quote(r.Words[k]))
	case v >= limit:
		r.Fail("%s %d found, but there are %d (they count from 0)", what, v, limit)
	}
	return v
}

// count reads word k as a number that is not negative.
func (r *reader) count(k int, what string) int {
	v, ok := program.Int(r.Words[k])
	if !ok || v < 0 {
		r.Fail("%s found, expected %s, a whole number from 0 to %d", textfile.Quote(r.Words[k]), what, math.MaxInt32)
	}
	return v
}

// counted reads a line with a number of lines and then those.
func (r *reader) counted(what string, each func()) {
	r.line(1, "the number of "+what)
	for range r.count(0, "the number of "+what) {
		each()
	}
}

// keyword reads the section that the current line opens.
func (r *reader) keyword() {
	name := string(r.Words[0])
	r.Field = ""
	if len(r.Words) != 1 {
		r.Fail("%s found, expected a keyword such as VAR on a line of its own", textfile.Quote(r.Words[0]))
	}
	read, ok := keywords[name]
	switch {
	case name == "CHANGE":
		r.Fail("CHANGE, which makes a sequence of programs, is not supported")
	case !ok:
		r.Fail("%s found, expected a keyword such as VAR, CON or ACOORD", textfile.Quote(r.Words[0]))
	case name != "VER" && !r.seen["VER"]:
		r.Fail("%s comes before VER", name)
	case r.seen[name]:
		r.Fail("%s is there twice", name)
	}
	r.Field, r.seen[name] = name, true
	read(r)
}

var keywords = map[string]func(*reader){
	"VER": (*reader).version, "OBJSENSE": (*reader).sense,
	"POWCONES": (*reader).powerCones, "POW*CONES": (*reader).powerCones,
	"VAR": (*reader).scalarCones, "CON": (*reader).scalarCones,
	"PSDVAR": (*reader).psdOrders, "PSDCON": (*reader).psdOrders, "INT": (*reader).integers,
	"OBJBCOORD": (*reader).constant,
}

func init() {
	for k := range sections {
		keywords[sections[k].keyword] = func(r *reader) { r.entries(&sections[k]) }
	}
}

func (r *reader) version() {
	r.line(1, "the version")
	v, ok := program.Int(r.Words[0])
	if !ok || v < 1 || v > 4 {
		r.Fail("version %s found, expected 1 to 4", textfile.Quote(r.Words[0]))
	}
	r.m.Version = v
}

func (r *reader) sense() {
	r.line(1, "MIN or MAX")
	switch string(r.Words[0]) {
	case "MIN":
	case "MAX":
		r.m.Maximize = true
	default:
		r.Fail("%s found, expected MIN or MAX", textfile.Quote(r.Words[0]))
	}
}

func (r *reader) integers() {
	r.counted("integer variables", func() {
		r.Fail("integer variables are not supported, expected a program with continuous ones")
	})
}

// constant reads OBJBCOORD.
func (r *reader) constant() {
	r.line(1, "a number")
	r.m.Constant = r.Number(r.Words[0])
}
