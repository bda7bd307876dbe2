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

	"github.com/parquet-go/parquet-go"

	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/table"
)

// Format is that of Parquet files, for [table.Options.Formats].
func Format() table.Format {
	return table.Format{Name: "a Parquet file", Is: is, Read: read}
}

func is(r io.ReaderAt, size int64) bool {
	var magic [4]byte
	_, err := r.ReadAt(magic[:], 0)
	return err == nil && string(magic[:]) == "PAR1"
}

// column is one that is read, with the values of its cells.
type column struct {
	index    int // among the leaves of the file
	optional bool
	put      func(b *table.Builder, i, j int, v parquet.Value)
}

// mostRows bounds the rows, whose numbers have 32 bits.
const mostRows = 1<<31 - 1

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
		names, columns = append(names, c.Name()), append(columns, column{int(c.Index()), c.Optional(), put})
	}
	if len(names) == 0 && len(other) > 0 {
		return nil, &textfile.Error{File: file, Reason: "has no column of numbers, texts, truth values or dates"}
	}
	if f.NumRows() > mostRows {
		return nil, &textfile.Error{File: file, Reason: fmt.Sprintf("has %d rows, expected at most %d", f.NumRows(), mostRows)}
	}
	if err := check(file, r, size, f, columns); err != nil {
		return nil, err
	}
	b, err := table.NewBuilder(file, names, 0, false)
	if err != nil {
		return nil, err
	}
	b.Heed(o)
	if len(other) > 0 {
		b.LeftOut(other)
	}
	line := int32(0)
	for _, group := range f.RowGroups() {
		if line, err = readGroup(b, group, columns, line); err != nil {
			return nil, err
		}
	}
	if int64(line) != f.NumRows() {
		return nil, fmt.Errorf("its parts have %d rows, but the file %d", line, f.NumRows())
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
	if n := int64(binary.LittleEndian.Uint32(end[:])); n > size-ends-4 {
		return fmt.Errorf("its description has %d bytes, the file %d", n, size)
	}
	text := make([]byte, binary.LittleEndian.Uint32(end[:]))
	if _, err := r.ReadAt(text, size-ends-int64(len(text))); err != nil && err != io.EOF {
		return err
	}
	c := compact{data: text}
	if err := c.structure(0); err != nil {
		return errCompact
	}
	if int64(c.items) > memory.Default()/itemSize {
		return fmt.Errorf("its description lists %d things, which do not fit into the budget of memory", c.items)
	}
	return nil
}

// check refuses a file that says more than it has, or whose largest part for a column is beyond the budget: a page of it may be as large.
func check(file string, r io.ReaderAt, size int64, f *parquet.File, columns []column) error {
	budget := memory.Default()
	for g := range f.Metadata().RowGroups {
		group := &f.Metadata().RowGroups[g]
		for _, c := range columns {
			if c.index < 0 || c.index >= len(group.Columns) {
				return errors.New("a part of it lacks a column")
			}
			data := &group.Columns[c.index].MetaData
			if data.TotalUncompressedSize > budget {
				return &textfile.Error{File: file, Reason: "a column of it does not fit into the budget of memory, " + memory.Format(budget) + " (--memory SIZE or GOMEMLIMIT gives more)"}
			}
			if data.NumValues != group.NumRows {
				return fmt.Errorf("a column has %d values in %d rows", data.NumValues, group.NumRows)
			}
			if err := checkPages(r, size, data, c.optional, budget); err != nil {
				return err
			}
		}
	}
	return nil
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

// readGroup reads a group of rows after those up to the line, and returns its last one.
func readGroup(b *table.Builder, group parquet.RowGroup, columns []column, line int32) (int32, error) {
	chunks := group.ColumnChunks()
	cursors := make([]cursor, len(columns))
	for j, c := range columns {
		cursors[j].pages = chunks[c.index].Pages()
		defer cursors[j].close()
	}
	left := group.NumRows()
	if left < 0 || left > mostRows-int64(line) {
		return line, fmt.Errorf("a part of it has %d rows", left)
	}
	values := make([]parquet.Value, 1)
	var lines []int32
	for left > 0 {
		lines = lines[:0]
		for range min(int64(b.Batch()), left) {
			line++
			lines = append(lines, line)
		}
		if err := b.Rows(lines); err != nil {
			return line, err
		}
		left -= int64(len(lines))
		for j := range columns {
			for i := range lines {
				if err := cursors[j].read(values); err != nil {
					return line, err
				}
				if v := values[0]; !v.IsNull() {
					columns[j].put(b, i, j, v)
				}
			}
		}
	}
	return line, nil
}
