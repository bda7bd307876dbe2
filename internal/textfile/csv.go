package textfile

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

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
	f.rest = TrimLeft(f.rest)
	if len(f.rest) > 0 && f.rest[0] == '"' {
		f.quoted(f.rest[1:])
		return true
	}
	if end := bytes.IndexByte(f.rest, ','); end >= 0 {
		f.text, f.rest = f.rest[:end], f.rest[end+1:]
	} else {
		f.text, f.rest, f.done = f.rest, nil, true
	}
	f.text = TrimRight(f.text)
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
		rest = TrimLeft(rest[end+1:])
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
	f.text = Trim(text)
}

// EncodeCSV writes a line of names, and n lines of numbers with 17 significant digits, so that reading gives back the same
// doubles. row is called once for each line, in their order, and may return the same slice each time.
func EncodeCSV(w io.Writer, names []string, n int, row func(i int) []float64) error {
	var line []byte
	for j, name := range names {
		if strings.ContainsAny(name, "\r\n\x00") || string(Trim([]byte(name))) != name {
			return fmt.Errorf("the name %q of column %d has a line end, or a blank at its start or end", name, j+1)
		}
		if j > 0 {
			line = append(line, ',')
		}
		if strings.ContainsAny(name, "\",") {
			name = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
		line = append(line, name...)
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return err
	}
	for i := range n {
		line = line[:0]
		for j, v := range row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("row %d holds %g, expected finite numbers", i, v)
			}
			if j > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendFloat(line, v, 'g', 17, 64)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}
