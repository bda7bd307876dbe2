package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/conetune/conetune/table"
)

// cursor reads the values of a column in a group of rows one after the other.
type cursor struct {
	builder *table.Builder
	column  *column
	codec   int64
	text    *bufio.Reader // the pages
	size    int64         // of all of them
	left    int64         // values of the pages to come

	values int64         // of the page, to come
	levels *runs         // of the page: 0 for a value that is missing; nil where none is
	next   func() []byte // the next value as it is written one after the other
	words  func(k int) []byte
	held   int64 // bytes of the page
	kept   int64 // bytes of the dictionary
}

// close gives back what was counted.
func (c *cursor) close() { c.builder.Take(-c.held-c.kept, "") }

// open begins with the first page of a column in a group of so many rows, whose chunks of columns are these.
func (c *column) open(b *table.Builder, r io.ReaderAt, size, rows int64, chunks []node) *cursor {
	if c.index >= len(chunks) {
		panic(errors.New("a part of it lacks a column"))
	}
	part := chunks[c.index].at(3)
	values, length, from := part.at(5).number, part.at(7).number, part.at(9).number
	if dictionary := part.at(11).number; dictionary > 0 {
		from = min(from, dictionary)
	}
	switch {
	case values != rows:
		panic(fmt.Errorf("a column has %d values in %d rows", values, rows))
	case from < 0 || length < 0 || from > size-length:
		panic(errors.New("a column of it stands outside of the file"))
	}
	text := bufio.NewReader(io.NewSectionReader(r, from, length))
	return &cursor{builder: b, column: c, codec: part.at(4).number, text: text, size: length, left: values}
}

// value is the next one; false where it is missing. It is valid until the next call.
func (c *cursor) value() (v []byte, there bool) {
	for c.values == 0 {
		if c.left == 0 {
			panic(errors.New("a column ends before its last row"))
		}
		c.page()
	}
	c.values--
	if c.levels != nil && c.levels.next() == 0 {
		return nil, false
	}
	return c.next(), true
}

// hold counts bytes that are about to be taken.
func (c *cursor) hold(n int64) {
	c.builder.Take(n, "a page of it")
	c.held += n
}

// page reads the next page.
func (c *cursor) page() {
	c.builder.Take(-c.held, "")
	c.held, c.levels, c.next = 0, nil, nil
	head := node{parts: (&thrift{r: c.text, room: mostHead}).structure()}
	size, packed := head.at(2).number, head.at(3).number
	if packed < 0 || packed > c.size || size < 0 {
		panic(fmt.Errorf("a page says that it has %d bytes", packed))
	}
	c.hold(packed)
	c.hold(size) // whose sum may be no number
	data := make([]byte, packed)
	if _, err := io.ReadFull(c.text, data); err != nil {
		panic(io.ErrUnexpectedEOF)
	}
	if sum := head.at(4); sum.id > 0 && uint32(sum.number) != crc32.ChecksumIEEE(data) {
		panic(errors.New("a page has another checksum than its header says"))
	}
	const dataPage, dictionaryPage, secondPage = 0, 2, 3
	switch head.at(1).number {
	case dataPage:
		data = unpacked(c.codec, data, size)
		levels := 0
		if c.column.optional {
			levels, data = int(binary.LittleEndian.Uint32(data)), data[4:]
		}
		c.begin(head.at(5, 1).number, data[:levels], data[levels:], head.at(5, 2).number)
	case secondPage: // in the second version of the format: levels are not compressed
		of := head.at(8)
		levels := of.at(5).number
		lists := of.at(6).number // bytes of levels of lists, which say nothing here
		data, size = data[lists:], size-lists
		rest := data[levels:]
		if of.at(7).number != no && len(rest) > 0 {
			rest = unpacked(c.codec, rest, size-levels)
		}
		c.begin(of.at(1).number, data[:levels], rest, of.at(4).number)
	case dictionaryPage:
		c.dictionary(unpacked(c.codec, data, size), head.at(7, 1).number)
	} // others are passed over
}

// mostHead bounds what the head of a page takes, which may have texts.
const mostHead = 16 << 20

// begin begins with so many values of a page, some of which levels say are missing.
func (c *cursor) begin(values int64, levels, data []byte, encoding int64) {
	if values < 0 || values > c.left {
		panic(fmt.Errorf("a page says that it has %d values", values))
	}
	if c.column.optional {
		c.levels = &runs{data: levels, width: 1}
	}
	c.left -= values
	c.values = values
	c.decode(data, encoding)
}

var errPage = errors.New("the values of a page are not as it says")

// dictionary keeps the words of a page.
func (c *cursor) dictionary(data []byte, n int64) {
	if n < 0 || n > int64(len(data))/int64(c.column.width) {
		panic(fmt.Errorf("a dictionary of %d bytes says that it has %d values", len(data), n))
	}
	width := c.column.width
	c.words = func(k int) []byte { return data[k*width : (k+1)*width] }
	if c.column.kind == byteArray {
		const each = 24
		c.hold(each * n)
		words, next := make([][]byte, n), plain(data, c.column)
		for k := range words {
			words[k] = next()
		}
		c.words = func(k int) []byte { return words[k] }
	}
	c.held, c.kept = 0, c.kept+c.held
}
