package table

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/internal/words"
)

// Table is a table as it came: columns with names, and rows of cells.
type Table struct {
	name     string
	dialect  dialect
	header   int // the line of the names
	columns  []Column
	rows     int
	blocks   []block
	findings []Finding
	missing  []string // of [Options]
}

// Name is the name of the file.
func (t *Table) Name() string { return t.name }

// Rows is the number of rows.
func (t *Table) Rows() int { return t.rows }

// Columns are those of the file, in its order, which must not be changed.
func (t *Table) Columns() []Column { return t.columns }

// Findings are those about the file as a whole.
func (t *Table) Findings() []Finding { return t.findings }

// Names are those of the columns.
func (t *Table) Names() []string {
	names := make([]string, len(t.columns))
	for j := range names {
		names[j] = t.columns[j].Name
	}
	return names
}

// Index returns the number of the column of that name, -1 where there is none. In a file without names a number counts
// columns from 1.
func (t *Table) Index(name string) int {
	for j := range t.columns {
		if t.columns[j].Name == name {
			return j
		}
	}
	if !t.dialect.Header {
		var j int
		if _, err := fmt.Sscanf(name, "%d", &j); err == nil && fmt.Sprint(j) == name && j >= 1 && j <= len(t.columns) {
			return j - 1
		}
	}
	return -1
}

// Read reads a file. The error is a [*formats.Error], or wraps several.
//
// [*formats.Error]: https://pkg.go.dev/github.com/conetune/conetune/formats#Error
func Read(path string, o Options) (*Table, error) { return File{Name: path}.Read(o) }

// Read is [Read] for the file.
func (in File) Read(o Options) (*Table, error) {
	if t, err := in.readFormat(o); t != nil || err != nil {
		return t, err
	}
	return in.readWith(o, func() *parts { return nil })
}

// readWith reads a table, in the parts that begin returns for each reading of the input.
func (in File) readWith(o Options, begin func() *parts) (*Table, error) {
	t, err := in.readOnce(o, nil, begin())
	var open *quoteError
	if !errors.As(err, &open) {
		return t, err
	}
	joined, err := in.readOnce(o, &t.dialect, begin())
	if errors.As(err, &open) {
		const reason = "the quote is not closed before the end of the file"
		return nil, &textfile.Error{File: in.Name, Line: open.line, Reason: reason}
	}
	return joined, err
}

// readOnce reads a table. Where it ends with a [*quoteError], the table has its dialect, which is then given to read
// once more with the ends of lines in quotes taken away.
func (in File) readOnce(o Options, joined *dialect, parts *parts) (*Table, error) {
	separator := byte(0)
	if joined != nil {
		separator = joined.Separator
	}
	s, wide, err := in.open(o, joined != nil, separator)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	t := &Table{name: in.Name, missing: o.Missing}
	if t.dialect = sniff(s, o); joined != nil {
		t.dialect = *joined
	}
	r := &reader{source: s, latin: o.Encoding == Latin1, parts: parts,
		meanings: meanings{table: t, missing: newSpellings(o.Missing)}}
	if err := r.readNames(); err != nil {
		return t, err
	}
	r.width = len(t.columns)
	r.verbatim = t.verbatim(o)
	parse := func(b *textfile.Block, p *part) error { return p.read(r, b) }
	err = textfile.Blocks(s, parse, func(_ *textfile.Block, p *part) error { return r.merge(p) })
	if err != nil {
		return t, err
	}
	if err := r.check(o); err != nil {
		return nil, err
	}
	r.tell(wide, joined != nil)
	if parts != nil {
		return t, r.hand()
	}
	t.count()
	return t, nil
}

// verbatim are the columns whose texts stay as they are.
func (t *Table) verbatim(o Options) map[int]bool {
	columns := map[int]bool{}
	for _, name := range o.Verbatim {
		if j := t.Index(name); j >= 0 {
			columns[j] = true
		}
	}
	return columns
}

// columnBytes is what a column takes beside its cells, while the list of all grows.
const columnBytes = 1 << 10

// readNames reads the lines before the rows.
func (r *reader) readNames() error {
	t, s := r.table, r.source
	d := &t.dialect
	for range d.skip {
		if _, err := s.Line(); err != nil {
			return err
		}
	}
	if !d.Header {
		return r.countColumns()
	}
	var names []byte
	for {
		line, err := s.Line()
		if err == io.EOF {
			return s.Errorf(0, "", "is empty, expected a line of column names and lines of data")
		}
		if err != nil {
			return err
		}
		text := textfile.TrimLeft(line)
		switch {
		case len(text) == 0:
			continue
		case d.comments(text, string(d.Separator)):
			if d.hashed {
				names = append(names[:0], text[1:]...)
				t.header = s.LineNumber()
				if next := textfile.TrimLeft(s.Peek(headBytes)); len(next) > 0 && next[0] != d.Comment {
					return r.split(names)
				}
			}
			continue
		}
		t.header = s.LineNumber()
		return r.split(line)
	}
}

// countColumns names the columns of a file that does not.
func (r *reader) countColumns() error {
	d := &r.table.dialect
	if d.columns == 0 {
		return r.source.Errorf(0, "", "is empty, expected lines of data")
	}
	for j := range d.columns {
		r.table.columns = append(r.table.columns, Column{Name: fmt.Sprintf("x%d", j+1)})
		if r.source.Take(columnBytes); r.source.Over() != nil {
			return r.source.Over()
		}
	}
	return nil
}

// split takes the line of names apart.
func (r *reader) split(line []byte) error {
	t, d := r.table, &r.table.dialect
	if d.RowNames {
		t.columns = append(t.columns, Column{Unnamed: true})
	}
	f := textfile.Fields{Rest: line, Separator: d.Separator}
	for f.Next() {
		if f.Open {
			return &quoteError{t.header}
		}
		name := string(f.Text)
		if r.latin || !utf8.ValidString(name) {
			name = decodeLatin1(f.Text)
			r.latins++
		}
		t.columns = append(t.columns, Column{Name: name, Unnamed: name == ""})
		if r.source.Take(columnBytes + len(f.Text)); r.source.Over() != nil {
			return r.source.Over()
		}
	}
	if last := len(t.columns) - 1; last == d.columns && last > 0 && t.columns[last].Unnamed {
		t.columns = t.columns[:last] // a separator at the end of the names alone
	}
	if d.trailing {
		t.columns = append(t.columns, Column{Unnamed: true})
	}
	t.nameColumns()
	return nil
}

// nameColumns names columns without a name by where they stand. Of columns of the same name the first keeps it, and the
// others become NAME.1, NAME.2, .., as pandas has them; names that are in the file are passed over.
func (t *Table) nameColumns() {
	taken := map[string]bool{}
	for j := range t.columns {
		c := &t.columns[j]
		if c.Unnamed {
			c.Name = fmt.Sprintf("Unnamed: %d", j)
		}
		taken[c.Name] = true
	}
	var renamed []FoundColumn
	seen := map[string]int{}
	for j := range t.columns {
		c := &t.columns[j]
		name, times := c.Name, seen[c.Name]
		for taken[c.Name] && times > 0 {
			c.Name = fmt.Sprintf("%s.%d", name, times)
			times++
		}
		if seen[name] = max(1, times); c.Name != name {
			taken[c.Name] = true
			renamed = append(renamed, FoundColumn{Name: c.Name})
		}
	}
	t.findings = found(t.findings, "names", renamed,
		"%s: a column before has the name without the number, which was added")
}

// check says what is wrong with the lines.
func (r *reader) check(o Options) error {
	t := r.table
	if bad := r.ragged.Count; bad > 0 {
		wrong := &faults{File: t.name}
		text := fmt.Sprintf("has %s, expected %d, one for each column", words.Count(r.ragged.cells, "cell"), r.width)
		if t.dialect.Header {
			text += " name"
		}
		if bad > 1 {
			others := "1 other line differs"
			if bad > 2 {
				others = fmt.Sprintf("%d other lines differ", bad-1)
			}
			text += "; " + others + ": " + atLines(r.ragged.Lines[1:], bad-1)
		}
		wrong.add(r.ragged.Lines[0], "", "%s (Options.Separator names another separator)", text)
		return wrong
	}
	if t.rows == 0 && (r.parts == nil || r.parts.done == 0) {
		return r.source.Errorf(0, "", "has column names and no rows, expected at least one row of data")
	}
	if o.Encoding == UTF8 && r.latins > 0 {
		return r.source.Errorf(0, "", "has bytes that are not UTF-8 (Options.Encoding latin1 takes them as Latin-1)")
	}
	return nil
}

// tell notes what is unusual about the file.
func (r *reader) tell(wide, joined bool) {
	t := r.table
	encoding := ""
	if wide {
		encoding = "UTF-16"
	}
	if r.latins > 0 {
		encoding = "Latin-1 (Windows-1252) text"
	}
	t.findings = append(t.dialect.findings(r.source.Packed, encoding), t.findings...)
	if joined {
		t.findings = append(t.findings, Finding{Kind: "dialect",
			Text: "texts in quotes have line ends, which are read as blanks: lines in messages count without them"})
	}
	if r.comments > 0 {
		t.findings = append(t.findings,
			Finding{Kind: "dialect",
				Text: fmt.Sprintf("%s after the names begin with %c and are passed over (Options.Comment none takes them as rows)",
					words.Count(r.comments, "line"), t.dialect.Comment)})
	}
}

// Text is the cell of a row, counted from 0, in the column of an index, see [Table.Index]: a text as it is, a number in
// its shortest form (but as it is in a column of [Options].Verbatim), a missing value as the empty text. The error is
// that the column has more different texts than are kept.
func (t *Table) Text(row, column int) (string, error) {
	c := &t.columns[column]
	v := t.cell(row, column)
	if code, ok := textCode(v); ok && int(code) >= len(c.texts) {
		return "", oneError(t.name, fmt.Sprintf("column %q has more than %d different texts, which is more than are kept",
			c.Name, len(c.texts)))
	}
	text, _ := c.level(v)
	return text, nil
}
