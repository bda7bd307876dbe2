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
	return begins(r, magic) || begins(r, first) || isStream(r)
}

// begins says that a file begins so.
func begins(r io.ReaderAt, with string) bool {
	text := make([]byte, len(with))
	_, err := r.ReadAt(text, 0)
	return (err == nil || err == io.EOF) && string(text) == with
}

// mostRows bounds the rows, whose numbers have 32 bits.
const mostRows = 1<<31 - 1

// file is what the parts of a file need.
type file struct {
	name         string
	r            io.ReaderAt
	size         int64
	options      table.Options
	budget       int64
	dictionaries map[int64][]*array
	builder      *table.Builder
	sizes        map[int64]int64 // of dictionaries, in bytes
}

func (f *file) tooLarge() error {
	return &textfile.Error{File: f.name, Reason: "a column of it does not fit into the budget of memory, " + memory.Format(f.budget) + " (" + memory.More + ")"}
}

// footer is what the end of a file says of it.
func (f *file) footer() (object, error) {
	const ends = 4 + int64(len(magic))
	var end [ends]byte
	if f.size < 2*ends {
		return object{}, io.ErrUnexpectedEOF
	}
	if _, err := f.r.ReadAt(end[:], f.size-ends); err != nil && err != io.EOF {
		return object{}, err
	}
	if string(end[4:]) != magic {
		return object{}, errors.New("it does not end as such files do, is it complete?")
	}
	n := size(int64(binary.LittleEndian.Uint32(end[:])), f.size-ends-int64(len(magic)))
	if int64(n) > f.budget {
		return object{}, f.tooLarge()
	}
	data := make([]byte, n)
	if _, err := f.r.ReadAt(data, f.size-ends-int64(len(data))); err != nil && err != io.EOF {
		return object{}, err
	}
	return root(data), nil
}

func read(name string, r io.ReaderAt, size int64, o table.Options) (*table.Table, error) {
	f := &file{name: name, options: o, r: r, size: size, budget: memory.Default(), dictionaries: map[int64][]*array{}, sizes: map[int64]int64{}}
	readAll := f.readStream
	switch {
	case begins(r, magic):
		readAll = f.readFile
	case begins(r, first):
		return nil, &textfile.Error{File: name, Reason: "is a Feather file of version 1, which is not read; write it as one of version 2: pandas.read_feather(FILE).to_feather(NEW), or arrow::write_feather(arrow::read_feather(FILE), NEW) in R"}
	}
	if err := readAll(); err != nil {
		return nil, err
	}
	return f.builder.Table()
}

// readFile reads a file with a footer.
func (f *file) readFile() error {
	end, err := f.footer()
	if err != nil {
		return err
	}
	columns, err := schema(end.object(1), f.budget)
	if err != nil {
		return err
	}
	if err := f.begin(columns); err != nil {
		return err
	}
	if err := f.readDictionaries(blocks(end, 2), columns); err != nil {
		return err
	}
	line := int32(0)
	for _, b := range blocks(end, 3) {
		if line, err = f.readBatch(b, columns, line); err != nil {
			return err
		}
	}
	return nil
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

// readDictionaries reads those of columns of the table; one that has the id of one before takes its place, or is added to it.
func (f *file) readDictionaries(list []block, columns []field) error {
	of := map[int64]*field{}
	owners(columns, of)
	for _, at := range list {
		m, err := f.message(at)
		if err != nil {
			return err
		}
		id := m.head.long(0)
		owner := of[id]
		if m.kind != dictionaryMessage || owner == nil || !owner.readable() {
			continue
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
	}
	return nil
}

// readBatch reads rows after those up to the line, and returns its last one.
func (f *file) readBatch(at block, columns []field, line int32) (int32, error) {
	m, err := f.message(at)
	if err != nil {
		return line, err
	}
	if m.kind != batchMessage {
		return line, errors.New("a part of it holds no rows")
	}
	b, err := f.open(m, m.head)
	if err != nil {
		return line, err
	}
	var arrays []*array
	for k := range columns {
		c := &columns[k]
		if !c.readable() {
			if err := b.skip(c); err != nil {
				return line, err
			}
			continue
		}
		a, err := b.array(c)
		if err != nil {
			return line, err
		}
		if a.n != b.rows {
			return line, errParts
		}
		arrays = append(arrays, a)
	}
	if b.rows > mostRows-int(line) {
		return line, errSize
	}
	var lines []int32
	for from := 0; from < b.rows; from += len(lines) {
		lines = lines[:0]
		for range min(f.builder.Batch(), b.rows-from) {
			line++
			lines = append(lines, line)
		}
		if err := f.builder.Rows(lines); err != nil {
			return line, err
		}
		for j, a := range arrays {
			for i := range lines {
				a.set(f.builder, i, j, from+i)
			}
		}
	}
	return line, b.hold(-b.held)
}
