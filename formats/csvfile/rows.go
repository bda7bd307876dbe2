package csvfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/textfile"
)

// readRows reads the lines after the header.
func readRows(s *textfile.Source, p *plan, compact bool) (*table, error) {
	t := &table{source: s, width: len(p.features), compact: compact}
	parse := func(b *textfile.Block, part *rows) error { return part.read(s, b, p, compact) }
	err := textfile.Blocks(s, parse, func(_ *textfile.Block, part *rows) error { return t.append(part) })
	switch {
	case err != nil:
		return nil, err
	case t.n == 0:
		return nil, s.Errorf(0, "", "has column names and no rows, expected at least one row of numbers")
	case p.target == "":
		t.y = nil
	}
	return t, t.settle()
}

// rows are the rows of a block.
type rows struct {
	x, y     []float64 // the features row by row, and the targets or zeros
	gathered bool      // the nonzeros of x are in sparse
	nonzeros int       // where the table may be compact
	sparse   Rows
}

// read replaces the rows by those of a block. Lines of the usual form are taken in one pass; whatever is unusual about a line, errors too, is left
// to plan.row.
func (r *rows) read(s *textfile.Source, b *textfile.Block, p *plan, compact bool) error {
	r.x, r.y, r.gathered = r.x[:0], r.y[:0], false
	width := len(p.features)
	for at, number := 0, b.Line; at < len(b.Text); number++ {
		if len(r.x)+width > cap(r.x) {
			r.lengthen(b, at, width)
		}
		row := r.x[len(r.x) : len(r.x)+width]
		clear(row)
		target, next := p.usual(b.Text, at, row)
		if next == 0 {
			line, end, err := b.TextLine(at, number)
			if err != nil {
				return err
			}
			next = end
			if textfile.IsBlank(line) {
				at = next
				continue
			}
			clear(row)
			if err := p.row(s, line, number, row, &target); err != nil {
				return err
			}
		}
		r.x, r.y = r.x[:len(r.x)+width], append(r.y, target)
		at = next
	}
	if compact {
		r.nonzeros = countNonzeros(r.x)
		if worthwhile(len(r.y), width, r.nonzeros) {
			r.gather(width)
		}
	}
	return nil
}

// lengthen makes room for another row and for as many as the rest of the block will have, if its lines are as long as those up to
// the position.
func (r *rows) lengthen(b *textfile.Block, at, width int) {
	more := width
	if n := len(r.y); n > 0 {
		more += int(1.1 * float64(len(r.x)) * float64(len(b.Text)-at) / float64(at))
	}
	r.x = slices.Grow(r.x, more)
}

// fourZeros are the characters 0,0,0,0, of which the first one is in the lowest byte.
const fourZeros = ','<<56 | '0'<<48 | ','<<40 | '0'<<32 | ','<<24 | '0'<<16 | ','<<8 | '0'

// usual reads a line that starts at a position, with numbers that have no quotes and at most spaces, tabs and CR around them, into a row of
// zeros, and returns the target and where the next line starts. For all other lines the latter is 0, and the row may hold anything.
func (p *plan) usual(text []byte, at int, row []float64) (target float64, next int) {
	bound := p.largest
	if bound <= 0 {
		bound = math.MaxFloat64
	}
	i, last := at, len(p.to)-1
	for j := 0; j <= last; j++ {
		for j+4 <= last && i+8 <= len(text) && binary.LittleEndian.Uint64(text[i:]) == fourZeros {
			i, j = i+8, j+4
		}
		end := byte(',')
		if j == last {
			end = '\n' // which ends every block
		}
		to := p.to[j]
		if to == skip {
			for c := text[i]; c != ',' && c != '\n'; c = text[i] {
				if c == '"' || c == 0 {
					return 0, 0
				}
				i++
			}
		} else {
			var v float64
			if d := text[i] - '0'; d <= 9 && text[i+1] == end {
				v = float64(d)
				i++
			} else {
				i = passBlanks(text, i)
				var n int
				if v, n = textfile.Decimal(text[i:]); n == 0 {
					return 0, 0
				}
				i = passBlanks(text, i+n)
			}
			switch {
			case math.Abs(v) > bound:
				return 0, 0
			case to == toTarget:
				target = v
			default:
				row[to] = v
			}
		}
		if text[i] != end {
			return 0, 0
		}
		i++
	}
	return target, i
}

func passBlanks(text []byte, i int) int {
	for text[i] == ' ' || text[i] == '\t' || text[i] == '\r' {
		i++
	}
	return i
}

// row reads the numbers of any line into row and target.
func (p *plan) row(s *textfile.Source, line []byte, number int, row []float64, target *float64) error {
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
			return s.Errorf(number, p.column(j), "%s", reason)
		}
		j++
	}
	if j != len(p.to) {
		return s.Errorf(number, "", "has %d fields, expected %d, one for each column name", j, len(p.to))
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
