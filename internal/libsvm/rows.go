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

// matrix are the entries of a file row by row: those of row i are at start[i] to start[i+1] of index, which rises within a
// row, and value.
type matrix struct {
	Table
	start   []int
	index   []int32 // from 0
	value   []float64
	largest int // the largest index as in the file, 0 for none
	widest  int // the first line with it
}

// collect reads the entries of a source that stands at its first line.
func collect(s *textfile.Source, o Options) (*matrix, error) {
	const form = "expected lines of the form label index:value index:value ..."
	if o.Features < 0 || o.Features > math.MaxInt32 {
		return nil, s.Errorf(0, "", "cannot be read with %d features", o.Features)
	}
	m := &matrix{start: []int{0}, Table: Table{ZeroBased: o.ZeroBased}}
	parse := func(b *textfile.Block, part *rows) error { return part.read(s, b, &o) }
	err := textfile.Blocks(s, parse, func(_ *textfile.Block, part *rows) error { m.append(s, part); return nil })
	switch {
	case err != nil:
		return nil, err
	case len(m.Labels) == 0:
		return nil, s.Errorf(0, "", "is empty, "+form)
	case m.largest == math.MaxInt32 && m.ZeroBased:
		return nil, s.Errorf(m.widest, "", "index %d is too large where indices count from 0", m.largest)
	}
	if !slices.ContainsFunc(m.Queries, func(q int64) bool { return q != noQuery }) {
		m.Queries = nil
	} else if k := slices.Index(m.Queries, noQuery); k >= 0 {
		return nil, s.Errorf(0, fmt.Sprintf("row %d", k+1), "has no qid:, which other rows have")
	}
	m.Features = m.largest
	if m.ZeroBased && len(m.index) > 0 {
		m.Features++
		for k := range m.index {
			m.index[k]++
		}
	}
	if o.Features > 0 {
		m.Features = o.Features
	}
	if m.Features == 0 {
		return nil, s.Errorf(0, "", "has labels and no features, "+form)
	}
	return m, nil
}

// noQuery stands for a row without one.
const noQuery = -1

// append appends the rows of a block.
func (m *matrix) append(s *textfile.Source, part *rows) {
	if part.largest > m.largest {
		m.largest, m.widest = part.largest, part.widest
	}
	m.ZeroBased = m.ZeroBased || part.zero
	before := len(m.index)
	m.Queries = append(textfile.Grow(s, m.Queries, len(part.queries)), part.queries...)
	m.index = append(textfile.Grow(s, m.index, len(part.index)), part.index...)
	m.value = append(textfile.Grow(s, m.value, len(part.value)), part.value...)
	m.Labels = append(textfile.Grow(s, m.Labels, len(part.labels)), part.labels...)
	m.start = textfile.Grow(s, m.start, len(part.end))
	for _, end := range part.end {
		m.start = append(m.start, before+end)
	}
}

// rows are the rows of a block.
type rows struct {
	labels  []float64
	end     []int   // of each row in index and value
	index   []int32 // from 0 where those of the file count from 1
	value   []float64
	queries []int64 // of the rows, or noQuery
	largest int     // the largest index as in the file, 0 for none
	widest  int     // the first line with it
	zero    bool    // the index 0 occurs
}

// read replaces the rows by those of a block. Lines of the usual form are taken in one pass; whatever is unusual about a line, errors too,
// is left to row.
func (r *rows) read(s *textfile.Source, b *textfile.Block, o *Options) error {
	r.labels, r.end, r.index, r.value, r.queries = r.labels[:0], r.end[:0], r.index[:0], r.value[:0], r.queries[:0]
	r.largest, r.widest, r.zero = 0, 0, false
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
		if len(r.queries) < len(r.labels) {
			r.queries = append(r.queries, noQuery)
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
	least, most := o.indices()
	label, n := textfile.Decimal(text[at:])
	if n == 0 || math.Abs(label) > textfile.LargestEntry {
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
		if n == 0 || math.Abs(v) > textfile.LargestEntry {
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
	label, reason := textfile.NumberUpTo(text, textfile.LargestEntry)
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
		r.queries = append(r.queries, query)
		rest = after
	}
	start := len(r.index)
	least, most := o.indices()
	last, sorted := -1, true
	for position := 1; len(rest) > 0; position++ {
		text, rest = textfile.Word(rest)
		index, value, err := pair(text)
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
func pair(text []byte) (index int, value float64, reason string) {
	colon := bytes.IndexByte(text, ':')
	if colon < 0 {
		return 0, 0, textfile.Quote(text) + " found, expected index:value"
	}
	digits := text[:colon]
	if len(digits) == 0 {
		return 0, 0, textfile.Quote(text) + " found, expected an index before the colon"
	}
	if bytes.ContainsFunc(digits, func(c rune) bool { return c < '0' || c > '9' }) {
		return 0, 0, "index " + textfile.Quote(digits) + " found, expected a whole number"
	}
	j, err := strconv.ParseInt(string(digits), 10, 32)
	if err != nil {
		return 0, 0, fmt.Sprintf("index %s is larger than %d", textfile.Quote(digits), math.MaxInt32)
	}
	index = int(j)
	value, reason = textfile.NumberUpTo(text[colon+1:], textfile.LargestEntry)
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
