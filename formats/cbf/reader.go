package cbf

import (
	"io"
	"math"

	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/textfile"
)

// read reads from a source that stands at its first line.
func read(s *textfile.Source) (*Model, error) {
	r := &reader{s: s, m: &Model{}, seen: map[string]bool{}}
	for {
		err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := r.keyword(); err != nil {
			return nil, err
		}
	}
	switch {
	case !r.seen["VER"]:
		return nil, s.Errorf(0, "", "is empty or not a CBF file, expected VER first")
	case !r.seen["OBJSENSE"]:
		return nil, s.Errorf(0, "", "has no OBJSENSE, expected MIN or MAX")
	}
	return r.m, nil
}

// reader is the state of reading.
type reader struct {
	s     *textfile.Source
	m     *Model
	words [][]byte // of the current line
	seen  map[string]bool

	section           string
	powers, dualPower [][]float64
}

func (r *reader) fail(format string, args ...any) error {
	return r.s.Errorf(r.s.LineNumber(), r.section, format, args...)
}

// next moves to the next line with words on it. At the end it returns io.EOF.
func (r *reader) next() error {
	for {
		line, err := r.s.Line()
		if err != nil {
			return err
		}
		if len(line) > 0 && line[0] == '#' {
			continue
		}
		if r.words = textfile.Words(r.words[:0], line); len(r.words) > 0 && r.words[0][0] != '#' {
			return nil
		}
	}
}

// line moves to the next line, which must have that many words.
func (r *reader) line(words int, what string) error {
	if err := r.next(); err == io.EOF {
		return r.fail("the file ends where %s is expected", what)
	} else if err != nil {
		return err
	}
	if len(r.words) != words {
		return r.fail("%d words found where %s is expected", len(r.words), what)
	}
	return nil
}

// index reads word k as a number from 0 to limit-1.
func (r *reader) index(k, limit int, what string) (int, error) {
	v, ok := program.Int(r.words[k])
	switch {
	case !ok || v < 0:
		return 0, r.fail("%s %s found, expected a whole number from 0", what, textfile.Quote(r.words[k]))
	case v >= limit:
		return 0, r.fail("%s %d found, but there are %d (they count from 0)", what, v, limit)
	}
	return v, nil
}

// count reads word k as a number that is not negative.
func (r *reader) count(k int, what string) (int, error) {
	v, ok := program.Int(r.words[k])
	if !ok || v < 0 {
		return 0, r.fail("%s found, expected %s, a whole number from 0 to %d", textfile.Quote(r.words[k]), what, math.MaxInt32)
	}
	return v, nil
}

func (r *reader) number(k int) (float64, error) {
	v, reason := program.Number(r.words[k])
	if reason != "" {
		return 0, r.fail("%s", reason)
	}
	return v, nil
}

// counted reads a line with a number of lines and then those.
func (r *reader) counted(what string, each func() error) error {
	if err := r.line(1, "the number of "+what); err != nil {
		return err
	}
	n, err := r.count(0, "the number of "+what)
	if err != nil {
		return err
	}
	for range n {
		if err := each(); err != nil {
			return err
		}
	}
	return nil
}

// keyword reads the section that the current line opens.
func (r *reader) keyword() error {
	name := string(r.words[0])
	r.section = ""
	if len(r.words) != 1 {
		return r.fail("%s found, expected a keyword such as VAR on a line of its own", textfile.Quote(r.words[0]))
	}
	read, ok := keywords[name]
	switch {
	case name == "CHANGE":
		return r.fail("CHANGE, which makes a sequence of programs, is not supported")
	case !ok:
		return r.fail("%s found, expected a keyword such as VAR, CON or ACOORD", textfile.Quote(r.words[0]))
	case name != "VER" && !r.seen["VER"]:
		return r.fail("%s comes before VER", name)
	case r.seen[name]:
		return r.fail("%s is there twice", name)
	}
	r.section, r.seen[name] = name, true
	return read(r)
}

var keywords = map[string]func(*reader) error{
	"VER": (*reader).version, "OBJSENSE": (*reader).sense,
	"POWCONES": (*reader).powerCones, "POW*CONES": (*reader).powerCones,
	"VAR": (*reader).scalarCones, "CON": (*reader).scalarCones,
	"PSDVAR": (*reader).psdOrders, "PSDCON": (*reader).psdOrders, "INT": (*reader).integers,
	"OBJBCOORD": (*reader).constant,
}

func init() {
	for k := range sections {
		keywords[sections[k].keyword] = func(r *reader) error { return r.entries(&sections[k]) }
	}
}

func (r *reader) version() error {
	if err := r.line(1, "the version"); err != nil {
		return err
	}
	v, ok := program.Int(r.words[0])
	if !ok || v < 1 || v > 4 {
		return r.fail("version %s found, expected 1 to 4", textfile.Quote(r.words[0]))
	}
	r.m.Version = v
	return nil
}

func (r *reader) sense() error {
	if err := r.line(1, "MIN or MAX"); err != nil {
		return err
	}
	switch string(r.words[0]) {
	case "MIN":
	case "MAX":
		r.m.Maximize = true
	default:
		return r.fail("%s found, expected MIN or MAX", textfile.Quote(r.words[0]))
	}
	return nil
}

func (r *reader) integers() error {
	return r.counted("integer variables", func() error {
		return r.fail("integer variables are not supported, expected a program with continuous ones")
	})
}
