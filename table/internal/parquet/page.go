package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"github.com/conetune/conetune/table"
)

// cursor reads the values of a column in a group of rows one after the other.
type cursor struct {
	builder *table.Builder
	column  *column
	codec   format.CompressionCodec
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
func (c *column) open(b *table.Builder, r io.ReaderAt, size, rows int64,
	chunks []format.ColumnChunk) *cursor {
	if c.index >= len(chunks) {
		panic(errors.New("a part of it lacks a column"))
	}
	part := &chunks[c.index].MetaData
	length, from := part.TotalCompressedSize, part.DataPageOffset
	if dictionary := part.DictionaryPageOffset; dictionary > 0 {
		from = min(from, dictionary)
	}
	switch {
	case part.NumValues != rows:
		panic(fmt.Errorf("a column has %d values in %d rows", part.NumValues, rows))
	case from < 0 || length < 0 || from > size-length:
		panic(errors.New("a column of it stands outside of the file"))
	}
	text := bufio.NewReader(io.NewSectionReader(r, from, length))
	return &cursor{builder: b, column: c, codec: part.Codec, text: text, size: length, left: rows}
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
	var head format.PageHeader
	decode(c.text, c.size, mostHead, &head)
	size, packed := int64(head.UncompressedPageSize), int64(head.CompressedPageSize)
	if packed < 0 || packed > c.size || size < 0 {
		panic(fmt.Errorf("a page says that it has %d bytes", packed))
	}
	c.hold(packed)
	c.hold(size) // whose sum may be no number
	data := make([]byte, packed)
	if _, err := io.ReadFull(c.text, data); err != nil {
		panic(io.ErrUnexpectedEOF)
	}
	if head.CRC != 0 && uint32(head.CRC) != crc32.ChecksumIEEE(data) {
		panic(errors.New("a page has another checksum than its header says"))
	}
	switch head.Type {
	case format.DataPage:
		of := &head.DataPageHeader.V
		data = unpacked(c.codec, data, size)
		levels := 0
		if c.column.optional {
			levels, data = int(binary.LittleEndian.Uint32(data)), data[4:]
		}
		c.begin(of.NumValues, data[:levels], data[levels:], of.Encoding)
	case format.DataPageV2: // levels are not compressed
		of := &head.DataPageHeaderV2.V
		levels := int64(of.DefinitionLevelsByteLength)
		lists := int64(of.RepetitionLevelsByteLength) // which say nothing here
		data, size = data[lists:], size-lists
		rest := data[levels:]
		if (of.IsCompressed.V || !of.IsCompressed.Valid) && len(rest) > 0 {
			rest = unpacked(c.codec, rest, size-levels)
		}
		c.begin(of.NumValues, data[:levels], rest, of.Encoding)
	case format.DictionaryPage:
		c.dictionary(unpacked(c.codec, data, size), int64(head.DictionaryPageHeader.V.NumValues))
	} // others are passed over
}

// mostHead bounds what the head of a page takes, which may have texts.
const mostHead = 16 << 20

// begin begins with so many values of a page, some of which levels say are missing.
func (c *cursor) begin(n int32, levels, data []byte, encoding format.Encoding) {
	values := int64(n)
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
	if c.column.kind == format.ByteArray {
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
