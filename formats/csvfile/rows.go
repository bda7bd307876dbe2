package csvfile

import (
	"bytes"
	"fmt"
	"io"

	"github.com/conetune/conetune/formats/textfile"
)

// readRows reads the lines after the header. x holds the features row by row.
func readRows(s *textfile.Source, p *plan) (x, y []float64, err error) {
	width := len(p.features)
	for {
		line, err := s.Line()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if textfile.IsBlank(line) {
			continue
		}
		x = textfile.Grow(s, x, width)
		row := x[len(x) : len(x)+width]
		var target float64
		if err := p.row(s, line, row, &target); err != nil {
			return nil, nil, err
		}
		x = x[:len(x)+width]
		if p.target != "" {
			y = append(textfile.Grow(s, y, 1), target)
		}
	}
	if len(x) == 0 {
		return nil, nil, s.Errorf(0, "", "has column names and no rows, expected at least one row of numbers")
	}
	return x, y, nil
}

// row reads the numbers of one line into row and target.
func (p *plan) row(s *textfile.Source, line []byte, row []float64, target *float64) error {
	f := fields{rest: line}
	j := 0
	for f.next() {
		if j >= len(p.to) {
			j++ // only counted, for the message below
			continue
		}
		reason := f.reason
		if reason == "" && p.to[j] != skip {
			var v float64
			v, reason = textfile.NumberUpTo(f.text, p.largest)
			if p.to[j] == toTarget {
				*target = v
			} else {
				row[p.to[j]] = v
			}
		}
		if reason != "" {
			return s.Errorf(s.LineNumber(), p.column(j), "%s", reason)
		}
		j++
	}
	if j != len(p.to) {
		return s.Errorf(s.LineNumber(), "", "has %d fields, expected %d, one for each column name", j, len(p.to))
	}
	return nil
}

// column names column j, counted from 0, for a message.
func (p *plan) column(j int) string {
	return fmt.Sprintf("column %d (%s)", j+1, textfile.Quote([]byte(p.names[j])))
}

// Fields appends the fields of a line to into, without the blanks and quotes around them, for readers of other tables
// than those of numbers. Where the line is not CSV, reason says why. The fields are valid as long as the line is.
func Fields(into [][]byte, line []byte) (out [][]byte, reason string) {
	f := fields{rest: line}
	for f.next() {
		if f.reason != "" {
			return nil, f.reason
		}
		into = append(into, f.text)
	}
	return into, ""
}

// fields goes through the fields of a line.
type fields struct {
	rest   []byte
	done   bool
	text   []byte // the field without the blanks and quotes around it
	reason string // what is wrong with the field; then text is nil
}

// next moves to the next field; false means that there are no more.
func (f *fields) next() bool {
	if f.done {
		return false
	}
	f.text, f.reason = nil, ""
	f.rest = textfile.TrimLeft(f.rest)
	if len(f.rest) > 0 && f.rest[0] == '"' {
		f.quoted(f.rest[1:])
		return true
	}
	if end := bytes.IndexByte(f.rest, ','); end >= 0 {
		f.text, f.rest = f.rest[:end], f.rest[end+1:]
	} else {
		f.text, f.rest, f.done = f.rest, nil, true
	}
	f.text = textfile.TrimRight(f.text)
	return true
}

// quoted reads a field from after its opening quote; a quote inside is doubled.
func (f *fields) quoted(rest []byte) {
	var text []byte
	for {
		end := bytes.IndexByte(rest, '"')
		if end < 0 {
			f.reason, f.done = "the quote is not closed on its line", true
			return
		}
		if end+1 < len(rest) && rest[end+1] == '"' {
			text = append(text, rest[:end+1]...)
			rest = rest[end+2:]
			continue
		}
		if text == nil {
			text = rest[:end]
		} else {
			text = append(text, rest[:end]...)
		}
		rest = textfile.TrimLeft(rest[end+1:])
		break
	}
	switch {
	case len(rest) == 0:
		f.rest, f.done = nil, true
	case rest[0] == ',':
		f.rest = rest[1:]
	default:
		f.reason, f.done = "text follows the closing quote, expected a comma", true
		return
	}
	f.text = textfile.Trim(text)
}
