package libsvm

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/conetune/conetune/internal/textfile"
)

// ReadSource reads from a source that stands at its first line. The error is a
// *formats.Error.
func ReadSource(s *textfile.Source, o Options) (*Matrix, error) {
	if o.Features < 0 || o.Features > math.MaxInt32 {
		return nil, s.Errorf(0, "", "cannot be read with %d features", o.Features)
	}
	m := &Matrix{RowStart: []int{0}, ZeroBased: o.ZeroBased}
	largest := 0
	parse := func(b *textfile.Block, part *rows) error { return part.read(s, b, &o) }
	err := textfile.Blocks(s, parse, func(b *textfile.Block, part *rows) error {
		if part.largest > largest {
			largest, m.widest = part.largest, part.widest
		}
		m.ZeroBased = m.ZeroBased || part.zero
		m.append(s, part)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(m.Labels) == 0 {
		return nil, s.Errorf(0, "", "is empty, expected lines of the form label index:value index:value ...")
	}
	if m.Queries != nil {
		m.Queries = padded(s, m.Queries, len(m.Labels))
		if k := slices.Index(m.Queries, noQuery); k >= 0 {
			return nil, s.Errorf(0, fmt.Sprintf("row %d", k+1), "has no qid:, which other rows have")
		}
	}
	if largest == math.MaxInt32 && m.ZeroBased {
		return nil, s.Errorf(m.widest, "", "index %d is too large where indices count from 0", largest)
	}
	m.Features = largest
	if m.ZeroBased && len(m.Index) > 0 {
		m.Features++
		for k := range m.Index {
			m.Index[k]++
		}
	}
	if o.Features > 0 {
		m.Features = o.Features
	}
	if m.Features == 0 {
		return nil, s.Errorf(0, "", "has labels and no features, expected lines of the form label index:value index:value ...")
	}
	return m, nil
}

// noQuery stands for a row without one.
const noQuery = -1

// padded are queries with none for further rows.
func padded(s *textfile.Source, queries []int64, rows int) []int64 {
	queries = textfile.Grow(s, queries, rows-len(queries))
	for len(queries) < rows {
		queries = append(queries, noQuery)
	}
	return queries
}

// append appends the rows of a block.
func (m *Matrix) append(s *textfile.Source, part *rows) {
	before := len(m.Index)
	if part.queries != nil || m.Queries != nil {
		m.Queries = padded(s, m.Queries, len(m.Labels))
		m.Queries = append(textfile.Grow(s, m.Queries, len(part.queries)), part.queries...)
	}
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
	end     []int   // of each row in index and value
	index   []int32 // from 0 where those of the file count from 1
	value   []float64
	queries []int64 // of the rows up to the last one that has one; nil for none
	largest int     // the largest index as in the file, 0 for none
	widest  int     // the first line with it
	zero    bool    // the index 0 occurs
}

// read replaces the rows by those of a block. Lines of the usual form are taken in one pass; whatever is unusual about a line, errors too,
// is left to row.
func (r *rows) read(s *textfile.Source, b *textfile.Block, o *Options) error {
	r.labels, r.end, r.index, r.value = r.labels[:0], r.end[:0], r.index[:0], r.value[:0]
	r.largest, r.widest, r.zero, r.queries = 0, 0, false, nil
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
// CR as blanks, and returns its largest index and where the next line starts. For all other lines the
// latter is 0 and nothing is appended.
func (r *rows) usual(text []byte, at int, o *Options) (last, next int) {
	bound := o.Largest
	if bound <= 0 {
		bound = math.MaxFloat64
	}
	least, most := o.indices()
	label, n := textfile.Decimal(text[at:])
	if n == 0 || math.Abs(label) > bound {
		return 0, 0
	}
	index, value := r.index, r.value
	last = -1
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
		if text[i] != ':' || i == start || i-start > 9 || j <= last || j < least || j > most {
			return 0, 0
		}
		v, n := textfile.Decimal(text[i+1:])
		if n == 0 || math.Abs(v) > bound {
			return 0, 0
		}
		index, value = append(index, int32(j-1)), append(value, v)
		r.zero = r.zero || j == 0
		last = j
		i += 1 + n
	}
}

// indices are the bounds of those of a file.
func (o *Options) indices() (least, most int) {
	switch {
	case o.Features == 0:
		return 0, math.MaxInt32
	case o.ZeroBased:
		return 0, o.Features - 1
	}
	return 1, o.Features
}

// line appends any line, if it has a row, and returns its largest index.
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
	if text, after := textfile.Word(rest); bytes.HasPrefix(text, queryMark) {
		query, err := strconv.ParseInt(string(text[len(queryMark):]), 10, 64)
		if err != nil || query < 0 {
			return 0, s.Errorf(number, "qid", "%s found, expected qid: and a whole number", textfile.Quote(text))
		}
		r.queries = append(padded(s, r.queries, len(r.labels)), query)
		rest = after
	}
	start := len(r.index)
	least, most := o.indices()
	last, sorted := -1, true
	for position := 1; len(rest) > 0; position++ {
		text, rest = textfile.Word(rest)
		index, value, err := pair(text, o.Largest)
		switch {
		case err != "":
		case index < least:
			err = "index 0 found, expected indices from 1 as in the training data"
		case index > most && o.ZeroBased:
			err = fmt.Sprintf("index %d is larger than %d, the last one of the %d features of the training data, which count from 0", index, most, o.Features)
		case index > most:
			err = fmt.Sprintf("index %d is larger than %d, the number of features (that of the training data)", index, o.Features)
		}
		if err != "" {
			return 0, s.Errorf(number, fmt.Sprintf("pair %d", position), "%s", err)
		}
		sorted = sorted && index > last
		r.zero = r.zero || index == 0
		last = max(last, index)
		r.index, r.value = append(r.index, int32(index-1)), append(r.value, value)
	}
	if !sorted {
		if twice := sortPairs(r.index[start:], r.value[start:]); twice >= 0 {
			return 0, s.Errorf(number, fmt.Sprintf("index %d", twice), "appears twice, expected each index once in a line")
		}
	}
	r.labels, r.end = append(r.labels, label), append(r.end, len(r.index))
	return last, nil
}

// queryMark stands before the number of a query.
var queryMark = []byte("qid:")

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
			return 0, 0, "index " + textfile.Quote(digits) + " found, expected a whole number"
		}
		digit := int(c - '0')
		if index > math.MaxInt32/10 || 10*index > math.MaxInt32-digit { // an int may have 32 bits
			return 0, 0, fmt.Sprintf("index %s is larger than %d", textfile.Quote(digits), math.MaxInt32)
		}
		index = 10*index + digit
	}
	value, reason = textfile.NumberUpTo(text[colon+1:], largest)
	if reason != "" {
		reason = fmt.Sprintf("value of index %d: %s", index, reason)
	}
	return index, value, reason
}

// sortPairs sorts by index and returns an index of the file that is there twice, or -1.
func sortPairs(index []int32, value []float64) (twice int) {
	sort.Sort(&pairs{index, value})
	for k := 1; k < len(index); k++ {
		if index[k] == index[k-1] {
			return int(index[k]) + 1
		}
	}
	return -1
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
