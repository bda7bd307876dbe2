package table

import (
	"errors"
)

// The bounds of a part of a table: it ends with the block of text in which it reaches one of them. Rows are fewer than
// the texts that are kept of a column.
const (
	partRows  = 1 << 18
	partCells = 1 << 22
)

// parts is a table that is handed on in parts.
type parts struct {
	rows, cells int // bounds
	hand        func(*Table) error
	number      int // of the part that is read, from 0
	done        int // rows of those before
	taken       int // bytes that the part has taken from the budget
}

// full says whether a part is to be handed on; never without parts.
func (p *parts) full(t *Table) bool {
	return p != nil && (t.rows >= p.rows || t.rows*len(t.columns) >= p.cells)
}

// take takes bytes from the budget.
func (r *reader) take(bytes int) {
	r.source.Take(bytes)
	if r.parts != nil {
		r.parts.taken += bytes
	}
}

// hand hands the rows that were read on, and forgets them.
func (r *reader) hand() error {
	t, p := r.table, r.parts
	if t.rows == 0 {
		return nil
	}
	t.count()
	if err := p.hand(t); err != nil {
		return err
	}
	p.done += t.rows
	p.number++
	r.source.Take(-p.taken)
	p.taken = 0
	for j := range t.columns {
		t.columns[j] = Column{Name: t.columns[j].Name, Unnamed: t.columns[j].Unnamed}
	}
	t.blocks, t.rows = nil, 0
	return nil
}

// ReadParts reads the file as [Read] does, a part of its rows after another, so that memory does not grow with their
// number. It calls begin and then, for each part, hand with a table that has these rows, and is not to be kept; the
// kinds of its columns, and what is counted of them, are those of the part. Where line ends in quotes are found on the
// way, that begins anew. A file that is not text is one part. The findings are those of [Table.Findings].
func (in File) ReadParts(o Options, begin func(), hand func(*Table) error) ([]Finding, error) {
	return in.readParts(o, &parts{rows: partRows, cells: partCells, hand: hand}, begin)
}

func (in File) readParts(o Options, p *parts, begin func()) ([]Finding, error) {
	if p.hand == nil || begin == nil {
		return nil, errors.New("table: parts need functions that take them")
	}
	t, err := in.readFormat(o)
	if err != nil {
		return nil, err
	}
	if t != nil {
		begin()
		return t.findings, p.hand(t)
	}
	t, err = in.readWith(o, func() *parts {
		begin()
		fresh := *p
		return &fresh
	})
	if err != nil {
		return nil, err
	}
	return t.findings, nil
}
