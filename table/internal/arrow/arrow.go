// Package arrow reads files of Apache Arrow's inter-process format, which Feather of version 2 is, too, as tables: the
// format of https://arrow.apache.org/docs/format/Columnar.html with a footer or as a stream, plain or compressed by LZ4
// or Zstandard. Files of Feather of version 1 are told how to be written anew.
//
// Numbers, decimals and durations are numbers, texts texts, whether or not by a dictionary, truth values the texts True
// and False, as pandas writes them to CSV; dates and timestamps are dates, in UTC where the file says that they are
// moments; times of a day and durations are seconds. Nulls and NaN are missing. Columns of lists, structures, maps,
// unions, intervals and bytes are left out, and told. Lines in messages count rows from 1.
//
// Beside the table, the columns of a part of its rows and all dictionaries are in memory. The reader of arrow-go makes
// room for fields and buffers as a file counts them, which ends the process where a count is damaged: it is not used.
package arrow

import (
	"errors"
	"io"

	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/internal/unpack"
)

// magic stands at both ends of a file, and first at those of one of Feather's first version.
const magic, first = "ARROW1", "FEA1"

// Format is that of Arrow files, for [table.Options.Formats].
func Format() table.Format {
	return table.Format{Name: "an Arrow file", Is: is, Read: read}
}

func is(r io.ReaderAt, _ int64) bool {
	return table.Begins(r, magic) || table.Begins(r, first) || table.Begins(r, "\xff\xff\xff\xff") // which no text does
}

// file is what the parts of a file need.
type file struct {
	builder      *table.Builder
	r            io.ReaderAt
	end          int64 // of the messages
	dictionaries map[int64][]*array
	sizes        map[int64]int64 // of dictionaries, in bytes
}

func read(b *table.Builder, r io.ReaderAt, size int64) {
	f := &file{builder: b, r: r, end: size, dictionaries: map[int64][]*array{}, sizes: map[int64]int64{}}
	from := int64(0)
	switch {
	case table.Begins(r, magic): // a stream, and a footer that says where its parts are
		f.end, _ = unpack.Footer(r, size, magic)
		from = 8
	case table.Begins(r, first):
		b.Fail(0, "is a Feather file of version 1, which is not read; write it as one of version 2: "+
			"pandas.read_feather(FILE).to_feather(NEW), or arrow::write_feather(arrow::read_feather(FILE), NEW) in R")
	}
	f.read(from)
}

// read reads the messages one after the other: the schema, and dictionaries and rows as they come.
func (f *file) read(at int64) {
	var columns []field
	for {
		m := f.next(at)
		switch {
		case m == nil && columns == nil:
			panic(io.ErrUnexpectedEOF)
		case m == nil:
			return
		case columns == nil && m.kind == schemaMessage:
			columns = schema(m.head, f.builder)
			f.begin(columns)
		case columns == nil || m.kind == schemaMessage:
			panic(errors.New("it does not have one description of its columns"))
		case m.kind == dictionaryMessage:
			f.readDictionary(m, columns)
		case m.kind == batchMessage:
			f.readBatch(m, columns)
		default:
			panic(errors.New("a part of it holds no rows"))
		}
		at = m.body + m.size // which is larger, and within the file
	}
}

// begin begins the table of columns.
func (f *file) begin(columns []field) {
	var names, other []string
	filled := false // a column has cells, so that rows are no more than the file has room for
	for k := range columns {
		c := &columns[k]
		if !c.readable() {
			other = append(other, c.name)
			continue
		}
		names = append(names, c.name)
		filled = filled || c.kind != kindNull
	}
	if !filled {
		f.builder.Fail(0, "has no column of numbers, texts, truth values or dates")
	}
	f.builder.Begin(names, 0, false)
	f.builder.LeftOut(other)
}

// owners are the columns that have dictionaries, by their ids, those of children among them.
func owners(columns []field, to map[int64]*field) {
	for k := range columns {
		if c := &columns[k]; c.index != nil {
			to[c.id] = c
		}
		owners(columns[k].children, to)
	}
}

// readDictionary reads that of a column of the table; one that has the id of one before takes its place, or is added to
// it.
func (f *file) readDictionary(m *message, columns []field) {
	of := map[int64]*field{}
	owners(columns, of)
	id := m.head.long(0)
	owner := of[id]
	if owner == nil || !owner.readable() {
		return
	}
	b := f.open(m, m.head.object(1))
	values := *owner
	values.index = nil
	a := b.array(&values)
	if m.head.byte(2, 0) == 0 {
		f.builder.Take(-f.sizes[id], "")
		f.dictionaries[id], f.sizes[id] = nil, 0
	}
	f.sizes[id] += b.held
	f.dictionaries[id] = append(f.dictionaries[id], a)
}

// readBatch reads rows.
func (f *file) readBatch(m *message, columns []field) {
	b := f.open(m, m.head)
	var arrays []*array
	for k := range columns {
		c := &columns[k]
		if !c.readable() {
			b.skip(c)
			continue
		}
		a := b.array(c)
		if a.n != b.rows {
			panic(errParts)
		}
		arrays = append(arrays, a)
	}
	for k := range b.rows {
		f.builder.Next()
		for j, a := range arrays {
			a.set(f.builder, j, k)
		}
	}
	b.hold(-b.held)
}
