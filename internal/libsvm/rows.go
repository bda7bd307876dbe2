package libsvm

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/conetune/conetune/internal/textfile"
)

// form is that of lines.
const form = "expected lines of the form label index:value index:value ..."

// noQuery stands for a row without one.
const noQuery = -1

// Read reads the rows of a source that stands at its first line. The error is a *formats.Error.
func Read(s *textfile.Source) (*File, error) {
	f := &File{First: 1, source: s}
	parse := func(b *textfile.Block, part *rows) error { return part.read(s, b) }
	err := textfile.Blocks(s, parse, func(_ *textfile.Block, part *rows) error { f.append(part); return nil })
	switch {
	case err != nil:
		return nil, err
	case len(f.Labels) == 0:
		return nil, s.Errorf(0, "", "is empty, "+form)
	case f.Last == math.MaxInt32 && f.First == 0:
		return nil, s.Errorf(f.lastLine, "", "index %d is too large where indices count from 0", f.Last)
	}
	if !slices.ContainsFunc(f.Queries, func(q int) bool { return q != noQuery }) {
		f.Queries = nil
	} else if k := slices.Index(f.Queries, noQuery); k >= 0 {
		return nil, s.Errorf(0, fmt.Sprintf("row %d", k+1), "has no qid:, which other rows have")
	}
	return f, nil
}

// append keeps the rows of a block.
func (f *File) append(part *rows) {
	if part.last > f.Last {
		f.Last, f.lastLine = part.last, part.lastLine
	}
	if part.firstLine > 0 && f.First > 0 {
		f.First, f.firstLine = 0, part.firstLine
	}
	f.Queries = append(textfile.Grow(f.source, f.Queries, len(part.queries)), part.queries...)
	f.Labels = append(textfile.Grow(f.source, f.Labels, len(part.labels)), part.labels...)
	kept := rows{end: slices.Clone(part.end), index: slices.Clone(part.index), value: slices.Clone(part.value)}
	f.blocks = append(f.blocks, kept)
	f.source.Take(8*len(part.end) + 12*len(part.index))
}

// each calls g with the entries of each row, by rising indices up to Last.
func (f *File) each(g func(i int, index []int32, value []float64)) {
	i := 0
	for _, b := range f.blocks {
		start := 0
		for _, end := range b.end {
			n := end
			for n > start && int(b.index[n-1]) > f.Last {
				n--
			}
			g(i, b.index[start:n], b.value[start:n])
			start = end
			i++
		}
	}
}

// Cut leaves values out whose index is larger than one, and returns how many there were.
func (f *File) Cut(last int) (values int) {
	stored := func() (n int) {
		f.each(func(_ int, index []int32, _ []float64) { n += len(index) })
		return n
	}
	values = stored()
	f.Last = min(f.Last, last)
	return values - stored()
}

// rows are the rows of a block.
type rows struct {
	labels    []float64
	end       []int   // of each row in index and value
	index     []int32 // as in the file, rising within a row
	value     []float64
	queries   []int   // of the rows, or noQuery
	last      int     // the largest index, 0 for none
	lastLine  int     // the first line with it
	firstLine int     // the first line with the index 0, 0 for none
	row       []entry // of any line
}

// read replaces the rows by those of a block. Lines of the usual form are taken in one pass; whatever is unusual about
// a line, errors too, is left to line.
func (r *rows) read(s *textfile.Source, b *textfile.Block) error {
	*r = rows{labels: r.labels[:0], end: r.end[:0], index: r.index[:0], value: r.value[:0],
		queries: r.queries[:0], row: r.row}
	at, number := 0, b.Line
	for ; at < len(b.Text); number++ {
		before := len(r.index)
		next := r.usual(b.Text, at)
		if next == 0 {
			line, end, err := b.TextLine(at, number)
			if err != nil {
				return err
			}
			if err = r.line(s, line, number); err != nil {
				return err
			}
			next = end
		}
		at = next
		if len(r.queries) < len(r.labels) {
			r.queries = append(r.queries, noQuery)
		}
		if len(r.index) == before {
			continue
		}
		if r.index[before] == 0 && r.firstLine == 0 {
			r.firstLine = number
		}
		if last := int(r.index[len(r.index)-1]); last > r.last {
			r.last, r.lastLine = last, number
		}
	}
	return nil
}

// usual appends a line label index:value .. that starts at a position, without comment, with indices in order and with
// spaces, tabs and CR as blanks, and returns where the next line starts. For all other lines that is 0 and nothing is
// appended.
func (r *rows) usual(text []byte, at int) (next int) {
	label, n := textfile.Decimal(text[at:])
	if n == 0 || math.Abs(label) > textfile.LargestEntry {
		return 0
	}
	index, value := r.index, r.value
	last := -1
	for i := at + n; ; {
		blank := i
		for text[i] == ' ' || text[i] == '\t' || text[i] == '\r' {
			i++
		}
		if text[i] == '\n' { // which ends every block
			r.index, r.value = index, value
			r.labels, r.end = append(r.labels, label), append(r.end, len(index))
			return i + 1
		}
		if i == blank {
			return 0
		}
		start, j := i, 0
		for text[i]-'0' <= 9 {
			j = 10*j + int(text[i]-'0')
			i++
		}
		if text[i] != ':' || i == start || i-start > 9 || j <= last {
			return 0
		}
		v, n := textfile.Decimal(text[i+1:])
		if n == 0 || math.Abs(v) > textfile.LargestEntry {
			return 0
		}
		index, value = append(index, int32(j)), append(value, v)
		last = j
		i += 1 + n
	}
}

// line appends any line, if it has a row.
func (r *rows) line(s *textfile.Source, line []byte, number int) error {
	if start := bytes.IndexByte(line, '#'); start >= 0 {
		line = line[:start]
	}
	if line = textfile.Trim(line); len(line) == 0 {
		return nil
	}
	text, rest := textfile.Word(line)
	label, reason := textfile.NumberUpTo(text, textfile.LargestEntry)
	if reason != "" {
		if bytes.IndexByte(text, ':') >= 0 {
			reason = textfile.Quote(text) + " found, expected a number before the first index:value"
		}
		return s.Errorf(number, "label", "%s", reason)
	}
	if text, after := textfile.Word(rest); bytes.HasPrefix(text, queryMark) {
		query, err := strconv.Atoi(string(text[len(queryMark):]))
		if err != nil || query < 0 {
			return s.Errorf(number, "qid", "%s found, expected qid: and a whole number", textfile.Quote(text))
		}
		r.queries = append(r.queries, query)
		rest = after
	}
	r.row = r.row[:0]
	for position := 1; len(rest) > 0; position++ {
		text, rest = textfile.Word(rest)
		index, value, reason := pair(text)
		if reason != "" {
			return s.Errorf(number, fmt.Sprintf("pair %d", position), "%s", reason)
		}
		r.row = append(r.row, entry{int32(index), value})
	}
	slices.SortFunc(r.row, func(a, b entry) int { return cmp.Compare(a.index, b.index) })
	for k, e := range r.row {
		if k > 0 && e.index == r.row[k-1].index {
			return s.Errorf(number, fmt.Sprintf("index %d", e.index), "appears twice, expected each index once in a line")
		}
		r.index, r.value = append(r.index, e.index), append(r.value, e.value)
	}
	r.labels, r.end = append(r.labels, label), append(r.end, len(r.index))
	return nil
}

// entry is one of a row.
type entry struct {
	index int32
	value float64
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
