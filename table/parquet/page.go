package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/table"
)

// cursor reads the values of a column in a group of rows one after the other.
type cursor struct {
	file    string
	builder *table.Builder
	column  *column
	codec   int64
	text    *thrift // the pages
	size    int64   // of all of them
	left    int64   // values of the pages to come

	values int64         // of the page, to come
	levels *runs         // of the page: 0 for a value that is missing; nil where none is
	next   func() []byte // the next value as it is written one after the other
	words  func(k int) []byte
	held   int64 // bytes of the page
	kept   int64 // bytes of the dictionary
}

// close gives back what was counted.
func (c *cursor) close() error { return c.builder.Take(-c.held - c.kept) }

// open begins with the first page.
func (c *column) open(file string, r io.ReaderAt, size int64, b *table.Builder, g *group) (*cursor, error) {
	if c.index >= len(g.chunks) {
		return nil, errors.New("a part of it lacks a column")
	}
	part := &g.chunks[c.index]
	from := part.data
	if part.dictionary > 0 && part.dictionary < from {
		from = part.dictionary
	}
	switch {
	case part.values != g.rows:
		return nil, fmt.Errorf("a column has %d values in %d rows", part.values, g.rows)
	case from < 0 || part.size < 0 || from > size-part.size:
		return nil, errors.New("a column of it stands outside of the file")
	}
	text := &thrift{r: bufio.NewReader(io.NewSectionReader(r, from, part.size)), items: mostText}
	return &cursor{file: file, builder: b, column: c, codec: part.codec, text: text, size: part.size, left: part.values}, nil
}

// value is the next one; false where it is missing. It is valid until the next call.
func (c *cursor) value() (v []byte, there bool, err error) {
	for c.values == 0 {
		if c.left == 0 {
			return nil, false, errors.New("a column ends before its last row")
		}
		if err := c.page(); err != nil {
			return nil, false, err
		}
	}
	c.values--
	if c.levels != nil && c.levels.next() == 0 {
		return nil, false, nil
	}
	return c.next(), true, nil
}

// hold counts bytes that are about to be taken.
func (c *cursor) hold(n int64) error {
	if n > memory.Default() {
		return table.TooLarge(c.file, "a page of it")
	}
	c.held += n
	return c.builder.Take(n)
}

// page reads the next page.
func (c *cursor) page() error {
	if err := c.builder.Take(-c.held); err != nil {
		return err
	}
	c.held, c.levels, c.next = 0, nil, nil
	h := c.text.pageHead()
	if h.packed < 0 || h.packed > c.size || h.size < 0 {
		return fmt.Errorf("a page says that it has %d bytes", h.packed)
	}
	if h.values < 0 || h.kind != dictionaryPage && h.values > c.left {
		return fmt.Errorf("a page says that it has %d values", h.values)
	}
	if err := c.hold(h.packed + h.size); err != nil {
		return err
	}
	data := make([]byte, h.packed)
	if _, err := io.ReadFull(c.text.r, data); err != nil {
		return io.ErrUnexpectedEOF
	}
	var err error
	var levels []byte
	switch h.kind {
	case dataPage:
		if data, err = unpacked(c.codec, data, h.size); err != nil {
			return err
		}
		if c.column.optional {
			n := binary.LittleEndian.Uint32(data)
			levels, data = data[4:4+n], data[4+n:]
		}
	case secondPage:
		if h.nested != 0 {
			return errPage
		}
		levels, data = data[:h.levels], data[h.levels:]
		if !h.plain && len(data) > 0 {
			if data, err = unpacked(c.codec, data, h.size-h.levels); err != nil {
				return err
			}
		}
	case dictionaryPage:
		if data, err = unpacked(c.codec, data, h.size); err != nil {
			return err
		}
		return c.dictionary(data, h.values)
	default: // which others pass over, too
		return nil
	}
	if c.column.optional {
		c.levels = &runs{data: levels, width: 1}
	}
	c.left -= h.values
	c.values = h.values
	return c.decode(data, h.encoding)
}

var errPage = errors.New("the values of a page are not as it says")

// dictionary keeps the words of a page.
func (c *cursor) dictionary(data []byte, n int64) error {
	if n > int64(len(data))/int64(c.column.width) {
		return fmt.Errorf("a dictionary of %d bytes says that it has %d values", len(data), n)
	}
	width := c.column.width
	c.words = func(k int) []byte { return data[k*width : (k+1)*width] }
	if c.column.kind == byteArray {
		const each = 24
		if err := c.hold(each * n); err != nil {
			return err
		}
		words, next := make([][]byte, n), plain(data, c.column)
		for k := range words {
			words[k] = next()
		}
		c.words = func(k int) []byte { return words[k] }
	}
	c.held, c.kept = 0, c.kept+c.held
	return nil
}
