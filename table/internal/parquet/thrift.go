package parquet

import (
	"bufio"
	"errors"
	"io"
	"unsafe"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// compact is embedded by this name, as it has a method Reader.
type compact = thrift.Reader

// bounded is the compact protocol of Thrift for a decoder that makes room for what the text says that it has: here that
// is no more than the text can have, nor than there is room for. What is damaged panics, which package table takes for
// damage.
type bounded struct {
	compact
	size int64   // of the text
	room int64   // bytes that may still be taken
	open []int32 // for structures within each other, how many of them are to end
}

// elementBytes is what an element of the largest kind takes in a list, deepest bounds structures within each other:
// those of Parquet files are half a dozen deep.
const elementBytes, deepest = int64(unsafe.Sizeof(format.ColumnChunk{})), 32

var (
	errDescription = errors.New("its description is damaged")
	errRoom        = errors.New("its description does not fit into the budget of memory")
)

// decode reads a structure from a text of that size, which may take so much room.
func decode(r *bufio.Reader, size, room int64, into any) {
	b := &bounded{new(thrift.CompactProtocol).NewReader(r), size, room, []int32{1}}
	if thrift.NewDecoder(b).Decode(into) != nil {
		panic(errDescription)
	}
}

// take counts so many things that are bytes each, and a byte or more in the text.
func (b *bounded) take(n, each int64) {
	switch {
	case n > b.size-int64(b.BytesRead()):
		panic(errDescription)
	case n*each > b.room:
		panic(errRoom)
	}
	b.room -= n * each
}

func (b *bounded) ReadBytes() ([]byte, error) {
	n, err := b.ReadLength()
	if err != nil {
		return nil, err
	}
	b.take(int64(n), 1)
	text := make([]byte, n)
	_, err = io.ReadFull(b.Reader(), text)
	return text, err
}

func (b *bounded) ReadString() (string, error) {
	text, err := b.ReadBytes()
	return string(text), err
}

func (b *bounded) ReadField() (thrift.Field, error) {
	f, err := b.compact.ReadField()
	switch last := len(b.open) - 1; {
	case err != nil:
	case f.Type == thrift.STRUCT:
		b.begin(1)
	case f.Type == thrift.STOP && last >= 0:
		if b.open[last]--; b.open[last] == 0 {
			b.open = b.open[:last]
		}
	}
	return f, err
}

// begin begins so many structures, one after the other.
func (b *bounded) begin(n int32) {
	if b.open = append(b.open, n); len(b.open) > deepest {
		panic(errDescription)
	}
}

func (b *bounded) ReadList() (thrift.List, error) {
	list, err := b.compact.ReadList()
	if err != nil || list.Size == 0 {
		return list, err
	}
	switch b.take(int64(list.Size), elementBytes); list.Type {
	case thrift.STRUCT:
		b.begin(list.Size)
	case thrift.LIST, thrift.SET, thrift.MAP:
		panic(errDescription) // which no file has
	}
	return list, nil
}

// ReadSet and ReadMap are of what no file has.
func (b *bounded) ReadSet() (thrift.Set, error) { panic(errDescription) }
func (b *bounded) ReadMap() (thrift.Map, error) { panic(errDescription) }
