// Package arrow reads files of Apache Arrow's inter-process format, which Feather of version 2 is, too, as tables: the format of https://arrow.apache.org/docs/format/Columnar.html with
// a footer or as a stream, plain or compressed by LZ4 or Zstandard. Files of Feather of version 1 are told how to be written anew.
//
// Numbers, decimals and durations are numbers, texts texts, whether or not by a dictionary, truth values the texts True and False, as pandas writes them to CSV; dates and timestamps are dates, in
// UTC where the file says that they are moments; times of a day and durations are seconds. Nulls and NaN are missing. Columns of lists, structures, maps, unions, intervals and bytes are left
// out, and told. Lines in messages count rows from 1.
//
// Beside the table, the columns of a part of its rows and all dictionaries are in memory.
package arrow

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/table"
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
	name         string
	r            io.ReaderAt
	end          int64 // of the messages
	options      table.Options
	budget       int64
	dictionaries map[int64][]*array
	builder      *table.Builder
	sizes        map[int64]int64 // of dictionaries, in bytes
}

func (f *file) tooLarge() error { return table.TooLarge(f.name, "a column of it") }

func read(name string, r io.ReaderAt, size int64, o table.Options) (*table.Table, error) {
	f := &file{name: name, options: o, r: r, end: size, budget: memory.Default(), dictionaries: map[int64][]*array{}, sizes: map[int64]int64{}}
	from := int64(0)
	switch {
	case table.Begins(r, magic): // a stream, and a footer that says where its parts are
		var err error
		if f.end, err = footer(r, size); err != nil {
			return nil, err
		}
		from = 8
	case table.Begins(r, first):
		return nil, &textfile.Error{File: name, Reason: "is a Feather file of version 1, which is not read; write it as one of version 2: pandas.read_feather(FILE).to_feather(NEW), or arrow::write_feather(arrow::read_feather(FILE), NEW) in R"}
	}
	if err := f.read(from); err != nil {
		return nil, err
	}
	return f.builder.Table()
}

// footer is where that of a file begins.
func footer(r io.ReaderAt, size int64) (int64, error) {
	const ends = 4 + int64(len(magic)) // its length and the mark
	var end [ends]byte
	if size < 2*ends {
		return 0, io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(end[:], size-ends); err != nil && err != io.EOF {
		return 0, err
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != magic || n > size-2*ends {
		return 0, errors.New("it does not end as such files do, is it complete?")
	}
	return size - ends - n, nil
}

// read reads the messages one after the other: the schema, and dictionaries and rows as they come.
func (f *file) read(at int64) error {
	var columns []field
	for {
		m, err := f.next(at)
		switch {
		case err != nil:
			return err
		case m == nil && columns == nil:
			return io.ErrUnexpectedEOF
		case m == nil:
			return nil
		case columns == nil && m.kind == schemaMessage:
			if columns, err = schema(m.head, f.budget); err == nil {
				err = f.begin(columns)
			}
		case columns == nil || m.kind == schemaMessage:
			err = errors.New("it does not have one description of its columns")
		case m.kind == dictionaryMessage:
			err = f.readDictionary(m, columns)
		case m.kind == batchMessage:
			err = f.readBatch(m, columns)
		default:
			err = errors.New("a part of it holds no rows")
		}
		if err != nil {
			return err
		}
		at = m.body + m.size // which is larger, and within the file
	}
}

// begin begins the table of columns.
func (f *file) begin(columns []field) (err error) {
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
		return &textfile.Error{File: f.name, Reason: "has no column of numbers, texts, truth values or dates"}
	}
	if f.builder, err = table.NewBuilder(f.name, names, 0, false); err != nil {
		return err
	}
	f.builder.Heed(f.options)
	if len(other) > 0 {
		f.builder.LeftOut(other)
	}
	return nil
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

// readDictionary reads that of a column of the table; one that has the id of one before takes its place, or is added to it.
func (f *file) readDictionary(m *message, columns []field) error {
	of := map[int64]*field{}
	owners(columns, of)
	id := m.head.long(0)
	owner := of[id]
	if owner == nil || !owner.readable() {
		return nil
	}
	b, err := f.open(m, m.head.object(1))
	if err != nil {
		return err
	}
	values := *owner
	values.index = nil
	a, err := b.array(&values)
	if err != nil {
		return err
	}
	if m.head.byte(2, 0) == 0 {
		if err := f.builder.Take(-f.sizes[id]); err != nil {
			return err
		}
		f.dictionaries[id], f.sizes[id] = nil, 0
	}
	f.sizes[id] += b.held
	f.dictionaries[id] = append(f.dictionaries[id], a)
	return nil
}

// readBatch reads rows.
func (f *file) readBatch(m *message, columns []field) error {
	b, err := f.open(m, m.head)
	if err != nil {
		return err
	}
	var arrays []*array
	for k := range columns {
		c := &columns[k]
		if !c.readable() {
			if err := b.skip(c); err != nil {
				return err
			}
			continue
		}
		a, err := b.array(c)
		if err != nil {
			return err
		}
		if a.n != b.rows {
			return errParts
		}
		arrays = append(arrays, a)
	}
	err = f.builder.More(b.rows, func(from, rows int) error {
		for j, a := range arrays {
			for i := range rows {
				a.set(f.builder, i, j, from+i)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.hold(-b.held)
}
