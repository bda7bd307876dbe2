// Package parquet reads Parquet files as tables, by [github.com/parquet-go/parquet-go].
//
// Numbers and decimals are numbers, texts and enumerations texts, truth values the texts True and False, as pandas writes them to CSV; dates and timestamps are dates, in UTC
// where the file says that they are moments; times of a day are seconds. Nulls and NaN are missing. Columns of lists, structures, maps and bytes are left out, and told.
// Lines in messages count rows from 1.
//
// Beside the table, a page of each column is in memory.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/table"
)

// Format is that of Parquet files, for [table.Options.Formats].
func Format() table.Format {
	return table.Format{
		Name: "a Parquet file", Is: func(r io.ReaderAt, _ int64) bool { return table.Begins(r, "PAR1") }, Read: read,
	}
}

// column is one that is read, with the values of its cells.
type column struct {
	index    int // among the leaves of the file
	optional bool
	text     bool
	width    int64 // the bytes of a value, of a text those of its length
	put      func(b *table.Builder, i, j int, v parquet.Value)
}

func read(file string, r io.ReaderAt, size int64, o table.Options) (*table.Table, error) {
	if err := checkFooter(r, size); err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.FileReadMode(parquet.ReadModeSync))
	if err != nil {
		return nil, err
	}
	var names, other []string
	var columns []column
	halves := halvesOf(f)
	for _, c := range f.Root().Columns() {
		put := putter(c, halves)
		if put == nil {
			other = append(other, c.Name())
			continue
		}
		names, columns = append(names, c.Name()), append(columns, column{int(c.Index()), c.Optional(), c.Type().Kind() == parquet.ByteArray, widthOf(c.Type()), put})
	}
	if len(names) == 0 && len(other) > 0 {
		return nil, &textfile.Error{File: file, Reason: "has no column of numbers, texts, truth values or dates"}
	}
	if f.NumRows() > math.MaxInt32 {
		return nil, &textfile.Error{File: file, Reason: fmt.Sprintf("has %d rows, expected at most %d", f.NumRows(), math.MaxInt32)}
	}
	held, err := check(r, size, f, columns)
	if err == errBudget {
		return nil, table.TooLarge(file, "a page of it")
	}
	if err != nil {
		return nil, err
	}
	b, err := table.NewBuilder(file, names, 0, false)
	if err != nil {
		return nil, err
	}
	b.Heed(o)
	if err := b.Take(held); err != nil {
		return nil, err
	}
	if len(other) > 0 {
		b.LeftOut(other)
	}
	rows := int64(0)
	for _, group := range f.RowGroups() {
		if rows += group.NumRows(); group.NumRows() < 0 || group.NumRows() > math.MaxInt32 {
			return nil, fmt.Errorf("a part of it has %d rows", group.NumRows())
		}
		if err := readGroup(b, group, columns); err != nil {
			return nil, err
		}
	}
	if rows != f.NumRows() {
		return nil, fmt.Errorf("its parts have %d rows, but the file %d", rows, f.NumRows())
	}
	return b.Table()
}

// itemSize is about what an element of a list of the description takes in memory.
const itemSize = 256

// checkFooter refuses a file whose end says that what describes it is longer than the file, and a description whose lists have more elements than it, or
// than fit into the budget: the library makes room for what they say.
func checkFooter(r io.ReaderAt, size int64) error {
	const ends = 8 // the length and PAR1
	var end [ends]byte
	if size < ends+4 {
		return io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(end[:], size-ends); err != nil && err != io.EOF {
		return err
	}
	if string(end[4:]) != "PAR1" {
		return errors.New("it does not end as such files do, is it complete?")
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if n > size-ends-4 {
		return fmt.Errorf("its description has %d bytes, the file %d", n, size)
	}
	if n > memory.Default()/4 {
		return fmt.Errorf("its description has %d bytes, which do not fit into the budget of memory", n)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, size-ends-n); err != nil && err != io.EOF {
		return err
	}
	c := compact{data: text}
	if err := c.structure(0); err != nil {
		return errCompact
	}
	if int64(c.items) > memory.Default()/itemSize {
		return fmt.Errorf("its description lists %d things, which do not fit into the budget of memory", c.items)
	}
	return checkDepth(text)
}

// checkDepth bounds columns within each other, whose names the library writes out for each.
func checkDepth(description []byte) error {
	var protocol thrift.CompactProtocol
	var file format.FileMetaData
	if err := thrift.NewDecoder(protocol.NewReaderFromBytes(description)).Decode(&file); err != nil {
		return err
	}
	const mostDepth = 128
	var open []int32 // children that are still to come, of each column that is not at its end
	for k := range file.Schema {
		if n := file.Schema[k].NumChildren; n.Valid && n.V > 0 {
			if open = append(open, n.V); len(open) > mostDepth {
				return errors.New("its columns stand in each other too often")
			}
			continue
		}
		for len(open) > 0 {
			if open[len(open)-1]--; open[len(open)-1] > 0 {
				break
			}
			open = open[:len(open)-1]
		}
	}
	return nil
}

// widthOf is the bytes of a value as the file has it, of a text those of its length; 1 for a truth value, which has less.
func widthOf(t parquet.Type) int64 {
	switch t.Kind() {
	case parquet.Boolean:
		return 1
	case parquet.Int64, parquet.Double:
		return 8
	case parquet.Int96:
		return 12
	case parquet.FixedLenByteArray:
		return max(1, int64(t.Length()))
	}
	return 4
}

// check refuses a file that says more than it has, and returns what the pages of its columns take in memory: those of one group of rows are open at the same time.
func check(r io.ReaderAt, size int64, f *parquet.File, columns []column) (held int64, err error) {
	budget := memory.Default()
	for g := range f.Metadata().RowGroups {
		group := &f.Metadata().RowGroups[g]
		open := int64(0)
		for k := range columns {
			c := &columns[k]
			if c.index < 0 || c.index >= len(group.Columns) {
				return 0, errors.New("a part of it lacks a column")
			}
			data := &group.Columns[c.index].MetaData
			if data.NumValues != group.NumRows {
				return 0, fmt.Errorf("a column has %d values in %d rows", data.NumValues, group.NumRows)
			}
			n, err := checkPages(r, size, data, c, budget)
			if err != nil {
				return 0, err
			}
			if open += n; open > budget {
				return 0, errBudget
			}
		}
		held = max(held, open)
	}
	return held, nil
}

// cursor reads the values of a column one after the other.
type cursor struct {
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
}

func (c *cursor) close() {
	c.release()
	if c.pages != nil {
		c.pages.Close()
	}
}

func (c *cursor) release() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page, c.values = nil, nil
	}
}

// read fills the values.
func (c *cursor) read(values []parquet.Value) error {
	for len(values) > 0 {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err == io.EOF {
				return errors.New("a column ends before its last row")
			}
			if err != nil {
				return err
			}
			c.page, c.values = page, page.Values()
		}
		n, err := c.values.ReadValues(values)
		values = values[n:]
		switch {
		case err == io.EOF || err == nil && n == 0:
			if len(values) == 0 {
				return nil // they are valid until the page is released
			}
			c.release()
		case err != nil:
			return err
		}
	}
	return nil
}

// readGroup reads a group of rows.
func readGroup(b *table.Builder, group parquet.RowGroup, columns []column) error {
	chunks := group.ColumnChunks()
	cursors := make([]cursor, len(columns))
	for j, c := range columns {
		cursors[j].pages = chunks[c.index].Pages()
		defer cursors[j].close()
	}
	values := make([]parquet.Value, 1)
	return b.More(int(group.NumRows()), func(_, rows int) error {
		for j := range columns {
			for i := range rows {
				if err := cursors[j].read(values); err != nil {
					return err
				}
				if v := values[0]; !v.IsNull() {
					columns[j].put(b, i, j, v)
				}
			}
		}
		return nil
	})
}
