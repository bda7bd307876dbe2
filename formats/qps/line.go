package qps

import (
	"math"

	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/textfile"
)

// fieldLine is a data line taken apart, by words or by columns.
type fieldLine struct {
	fixed bool
	since int      // the line from which on columns count
	field [][]byte // the words
	card  [6][]byte
	pair  []namedNumber
}

// namedNumber is a name and the text of its number.
type namedNumber struct{ name, number []byte }

// cardColumns are the places of the six fields of the fixed format, counted from 0.
var cardColumns = [6][2]int{{1, 3}, {4, 12}, {14, 22}, {24, 36}, {39, 47}, {49, 61}}

// splitFixed takes a line apart by columns. It returns false when the line has
// something between the fields, so that it cannot be in the fixed format.
func (l *fieldLine) splitFixed(line []byte) bool {
	line = textfile.TrimRight(line)
	for rest := line; len(rest) > 0; rest = rest[1:] {
		if rest[0] != ' ' && textfile.LeadingBlank(rest) > 0 {
			return false // a tab, say, which has no certain width
		}
	}
	end := 0
	for k, at := range cardColumns {
		if !textfile.IsBlank(part(line, end, at[0])) {
			return false
		}
		l.card[k] = textfile.Trim(part(line, at[0], at[1]))
		end = at[1]
	}
	// What stands further to the right is a comment, unless it goes on from the last field.
	return textfile.IsBlank(part(line, end, end+1))
}

func part(line []byte, from, to int) []byte {
	return line[min(from, len(line)):min(to, len(line))]
}

// pairs reads a line of the form [head] name number [name number ..] into l.pair.
func (l *fieldLine) pairs() (head []byte) {
	l.pair = l.pair[:0]
	if l.fixed {
		for _, k := range [2]int{2, 4} {
			if name, number := l.card[k], l.card[k+1]; len(name) > 0 || len(number) > 0 {
				l.pair = append(l.pair, namedNumber{name, number})
			}
		}
		return l.card[1]
	}
	f := l.field
	if len(f)%2 == 1 {
		head, f = f[0], f[1:]
	}
	for ; len(f) > 0; f = f[2:] {
		l.pair = append(l.pair, namedNumber{f[0], f[1]})
	}
	return head
}

// side reads the number of a side or bound, which may be infinite.
func side(text []byte) (float64, string) {
	if sign, ok := program.IsInfinity(text); ok {
		return math.Inf(int(sign)), ""
	}
	v, reason := program.Number(text)
	if math.Abs(v) >= Infinite {
		v = math.Inf(int(math.Copysign(1, v)))
	}
	return v, reason
}

// quoted names a row, a column or a section in a message.
func quoted(what string, name []byte) string {
	if name == nil {
		return what
	}
	return what + " " + textfile.Quote(name)
}
