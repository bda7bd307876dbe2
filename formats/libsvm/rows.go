package libsvm

import (
	"bytes"
	"fmt"
	"math"
	"sort"

	"github.com/conetune/conetune/internal/textfile"
)

// ReadSource reads from a source that stands at its first line. The error is a
// *formats.Error.
func ReadSource(s *textfile.Source, o Options) (*Matrix, error) {
	if o.Features < 0 || o.Features > math.MaxInt32 {
		return nil, s.Errorf(0, "", "cannot be read with %d features", o.Features)
	}
	m := &Matrix{RowStart: []int{0}}
	largest := 0
	parse := func(b *textfile.Block, part *rows) error { return part.read(s, b, &o) }
	err := textfile.Blocks(s, parse, func(b *textfile.Block, part *rows) error {
		if part.largest > largest {
			largest, m.widest = part.largest, part.widest
		}
		m.append(s, part)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(m.Labels) == 0 {
		return nil, s.Errorf(0, "", "is empty, expected lines of the form label index:value index:value ...")
	}
	m.Features = largest
	if o.Features > 0 {
		m.Features = o.Features
	}
	if m.Features == 0 {
		return nil, s.Errorf(0, "", "has labels and no features, expected lines of the form label index:value index:value ...")
	}
	return m, nil
}

// append appends the rows of a block.
func (m *Matrix) append(s *textfile.Source, part *rows) {
	before := len(m.Index)
	m.Index = append(textfile.Grow(s, m.Index, len(part.index)), part.index...)
	m.Value = append(textfile.Grow(s, m.Value, len(part.value)), part.value...)
	m.Labels = append(textfile.Grow(s, m.Labels, len(part.labels)), part.labels...)
	m.RowStart = textfile.Grow(s, m.RowStart, len(part.end))
	for _, end := range part.end {
		m.RowStart = append(m.RowStart, before+end)
	}
}

// rows are the rows of a block.
type rows struct {
	labels  []float64
	end     []int // of each row in index and value
	index   []int32
	value   []float64
	largest int // the largest index, from 1
	widest  int // the first line with it
}

// read replaces the rows by those of a block. Lines of the usual form are taken in one pass; whatever is unusual about a line, errors too,
// is left to row.
func (r *rows) read(s *textfile.Source, b *textfile.Block, o *Options) error {
	r.labels, r.end, r.index, r.value = r.labels[:0], r.end[:0], r.index[:0], r.value[:0]
	r.largest, r.widest = 0, 0
	at, number := 0, b.Line
	for ; at < len(b.Text); number++ {
		last, next := r.usual(b.Text, at, o)
		if next == 0 {
			line, end, err := b.TextLine(at, number)
			if err != nil {
				return err
			}
			if last, err = r.line(s, line, number, o); err != nil {
				return err
			}
			next = end
		}
		if at = next; last > r.largest {
			r.largest, r.widest = last, number
		}
	}
	return nil
}

// usual appends a line label index:value .. that starts at a position, without comment, with indices in order and with spaces, tabs and
// CR as blanks, and returns its largest index, from 1, and where the next line starts. For all other lines the
// latter is 0 and nothing is appended.
func (r *rows) usual(text []byte, at int, o *Options) (last, next int) {
	bound, features := o.Largest, o.Features
	if bound <= 0 {
		bound = math.MaxFloat64
	}
	if features == 0 {
		features = math.MaxInt32
	}
	label, n := textfile.Decimal(text[at:])
	if n == 0 || math.Abs(label) > bound {
		return 0, 0
	}
	index, value := r.index, r.value
	for i := at + n; ; {
		blank := i
		for text[i] == ' ' || text[i] == '\t' || text[i] == '\r' {
			i++
		}
		if text[i] == '\n' { // which ends every block
			r.index, r.value = index, value
			r.labels, r.end = append(r.labels, label), append(r.end, len(index))
			return last, i + 1
		}
		if i == blank {
			return 0, 0
		}
		start, j := i, 0
		for text[i]-'0' <= 9 {
			j = 10*j + int(text[i]-'0')
			i++
		}
		if text[i] != ':' || i-start > 9 || j <= last || j > features {
			return 0, 0
		}
		v, n := textfile.Decimal(text[i+1:])
		if n == 0 || math.Abs(v) > bound {
			return 0, 0
		}
		index, value = append(index, int32(j-1)), append(value, v)
		last = j
		i += 1 + n
	}
}

// line appends any line, if it has a row, and returns its largest index, from 1.
func (r *rows) line(s *textfile.Source, line []byte, number int, o *Options) (int, error) {
	if start := bytes.IndexByte(line, '#'); start >= 0 {
		line = line[:start]
	}
	if line = textfile.Trim(line); len(line) == 0 {
		return 0, nil
	}
	text, rest := textfile.Word(line)
	label, reason := textfile.NumberUpTo(text, o.Largest)
	if reason != "" {
		if bytes.IndexByte(text, ':') >= 0 {
			reason = textfile.Quote(text) + " found, expected a number before the first index:value"
		}
		return 0, s.Errorf(number, "label", "%s", reason)
	}
	start := len(r.index)
	last, sorted := 0, true
	for position := 1; len(rest) > 0; position++ {
		text, rest = textfile.Word(rest)
		index, value, err := pair(text, o.Largest)
		if err == "" && index > o.Features && o.Features > 0 {
			err = fmt.Sprintf("index %d is larger than %d, the number of features (that of the training data)", index, o.Features)
		}
		if err != "" {
			return 0, s.Errorf(number, fmt.Sprintf("pair %d", position), "%s", err)
		}
		sorted = sorted && index > last
		last = max(last, index)
		r.index, r.value = append(r.index, int32(index-1)), append(r.value, value)
	}
	if !sorted {
		if twice := sortPairs(r.index[start:], r.value[start:]); twice > 0 {
			return 0, s.Errorf(number, fmt.Sprintf("index %d", twice), "appears twice, expected each index once in a line")
		}
	}
	r.labels, r.end = append(r.labels, label), append(r.end, len(r.index))
	return last, nil
}

// pair reads index:value. Where it cannot, reason says why.
func pair(text []byte, largest float64) (index int, value float64, reason string) {
	colon := bytes.IndexByte(text, ':')
	if colon < 0 {
		return 0, 0, textfile.Quote(text) + " found, expected index:value"
	}
	digits := text[:colon]
	if len(digits) == 0 {
		return 0, 0, textfile.Quote(text) + " found, expected an index before the colon"
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, 0, "index " + textfile.Quote(digits) + " found, expected a whole number from 1"
		}
		digit := int(c - '0')
		if index > math.MaxInt32/10 || 10*index > math.MaxInt32-digit { // an int may have 32 bits
			return 0, 0, fmt.Sprintf("index %s is larger than %d", textfile.Quote(digits), math.MaxInt32)
		}
		index = 10*index + digit
	}
	if index == 0 {
		return 0, 0, "index 0 found, expected indices from 1"
	}
	value, reason = textfile.NumberUpTo(text[colon+1:], largest)
	if reason != "" {
		reason = fmt.Sprintf("value of index %d: %s", index, reason)
	}
	return index, value, reason
}

// sortPairs sorts by index and returns an index, from 1, that is there twice, or 0.
func sortPairs(index []int32, value []float64) (twice int) {
	sort.Sort(&pairs{index, value})
	for k := 1; k < len(index); k++ {
		if index[k] == index[k-1] {
			return int(index[k]) + 1
		}
	}
	return 0
}

type pairs struct {
	index []int32
	value []float64
}

func (p *pairs) Len() int           { return len(p.index) }
func (p *pairs) Less(i, j int) bool { return p.index[i] < p.index[j] }
func (p *pairs) Swap(i, j int) {
	p.index[i], p.index[j] = p.index[j], p.index[i]
	p.value[i], p.value[j] = p.value[j], p.value[i]
}
